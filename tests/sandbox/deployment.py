"""The platform deployed into the session's sandbox, step by step, with everything it printed and stored at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
from ruamel.yaml import YAML

from sandbox.cluster import Sandbox
from workflow.errors import WorkflowError
from workflow.events import Outcome
from workflow.pulumi import StackCommand
from workflow.target import engine

PROJECT = Path(__file__).parents[2]
STACK = "sandbox"
Change = Callable[[dict[str, Any]], object]


class Deployment:
    """The sandbox stack of this project, in a sandbox of the tests."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        found = engine()
        context = self.read_stack()["cluster"]["context"]
        self.sandbox = sandbox
        self.env = sandbox.env() | {"KUBECONFIG": str(sandbox.kubeconfig(context))}
        self.stack_file = folder / "stack.yaml"
        self.transcript = folder / "transcript.txt"
        self.command = StackCommand(
            PROJECT,
            STACK,
            found,
            self.env,
            state_dir=sandbox.folder / "stack",
            stack_file=self.stack_file,
            transcript=self.transcript,
        )
        self.configure(dict.copy)
        self.command.prepare()

    @staticmethod
    def read_stack() -> dict[str, Any]:
        """The value of lantau:stack in the project's sandbox stack."""
        tree = YAML(typ="safe").load((PROJECT / f"Pulumi.{STACK}.yaml").read_text())
        return dict(tree["config"]["lantau:stack"])

    def configure(self, change: Change) -> None:
        """Take the project's sandbox stack with this change for what follows."""
        stack = self.read_stack()
        change(stack)
        with self.stack_file.open("w") as file:
            YAML(typ="safe").dump({"config": {"lantau:stack": stack}}, file)

    def up(self, change: Change) -> Outcome:
        """Configure and deploy."""
        self.configure(change)
        return self._told(lambda: self.command.up())

    def refused(self, change: Change) -> tuple[WorkflowError, str]:
        """Configure and deploy what must be refused: the refusal, and what Pulumi printed."""
        self.configure(change)
        before = self.printed()
        try:
            self.command.up()
        except WorkflowError as error:
            return error, self.printed()[len(before) :]
        raise AssertionError("the stack was deployed, and should have been refused")

    def refresh(self) -> Outcome:
        """Compare the state with the cluster."""
        return self._told(self.command.refresh)

    def destroy(self) -> Outcome:
        """Remove everything."""
        return self._told(self.command.destroy)

    def _told(self, run: Callable[[], Outcome]) -> Outcome:
        before = len(self.printed())
        try:
            return run()
        except WorkflowError as error:
            raise AssertionError(f"{error}\n{self.printed()[before:][-6000:]}") from None

    def printed(self) -> str:
        """All that Pulumi printed so far."""
        return self.transcript.read_text(errors="replace") if self.transcript.exists() else ""

    def secrets_manager(self) -> Any:
        """A client of the sandbox's managed store."""
        return boto3.client(
            "secretsmanager",
            endpoint_url=self.env["AWS_ENDPOINT_URL"],
            region_name=self.env["AWS_REGION"],
            aws_access_key_id=self.env["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.env["AWS_SECRET_ACCESS_KEY"],
        )

    def secrets(self, *, planned_for_deletion: bool = False) -> list[dict[str, Any]]:
        """The platform's secrets in the managed store, which other tests of the session use as well."""
        listed = self.secrets_manager().list_secrets(IncludePlannedDeletion=planned_for_deletion, MaxResults=100)
        return [secret for secret in listed["SecretList"] if secret["Name"].startswith(f"lantau/{STACK}/")]

    def secret_values(self) -> set[str]:
        """Every value of the platform that the managed store holds, of all versions."""
        client = self.secrets_manager()
        values: set[str] = set()
        for secret in self.secrets():
            for version in client.list_secret_version_ids(SecretId=secret["ARN"])["Versions"]:
                text = client.get_secret_value(SecretId=secret["ARN"], VersionId=version["VersionId"])["SecretString"]
                values.update(json.loads(text).values())
        return values
