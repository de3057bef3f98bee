"""A small Pulumi project that declares secrets and taints as a test wants them, run by the real engine."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import urllib3

from sandbox.cluster import Sandbox
from sandbox.engine import build_engine

ROOT = Path(__file__).parents[2]
STACK = "dev"

PROGRAM = f"""
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, {str(ROOT)!r})
import pulumi

from components.provider_sdk import (
    FixedField, LantauProvider, ManagedSecret, NodeTaint, RandomField, RequiredKind, preflight
)

declared = json.loads(Path("declared.json").read_text())
provider = LantauProvider("lantau", context=declared["context"], region="ap-east-1", stack="{STACK}")
if "preflight" in declared:
    asked = dict(declared["preflight"])
    asked["required_kinds"] = [RequiredKind(**kind) for kind in asked.get("required_kinds", [])]
    found = preflight(provider, **asked)
    problems = [asdict(problem) for problem in found.problems]
    server = found.server and asdict(found.server)
    Path("preflight.json").write_text(json.dumps({{"problems": problems, "server": server}}))
for name, secret in declared["secrets"].items():
    values = dict(secret)
    opts = pulumi.ResourceOptions(provider=provider, import_=values.pop("import", None))
    fields = {{
        key: FixedField(**field) if "value" in field else RandomField(**field)
        for key, field in values.pop("fields").items()
    }}
    ManagedSecret(name, description="made by a test", fields=fields, opts=opts, **values)
for name, taint in declared["taints"].items():
    NodeTaint(name, opts=pulumi.ResourceOptions(provider=provider), **taint)
"""

PROJECT = f"""
name: lantau
runtime:
  name: python
  options:
    virtualenv: {ROOT / ".venv"}
plugins:
  providers:
    - name: lantau
      path: {ROOT / "provider"}
"""


class Project:
    """One project, one stack, a backend of its own. What any run printed is kept for the search for leaks."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        engine = build_engine()
        self.folder = folder
        self.sandbox = sandbox
        self.pulumi = engine.pulumi
        self.backend = folder / "backend"
        self.logs = folder / "logs"
        self.project = folder / "project"
        for made in (self.backend, self.logs, self.project):
            made.mkdir(parents=True)
        self.environment = engine.environment(
            {
                **os.environ,
                **sandbox.env(),
                "PULUMI_BACKEND_URL": f"file://{self.backend}",
                "PULUMI_CONFIG_PASSPHRASE": "a test's own",
                "PULUMI_HOME": str(folder / "home"),
                "PULUMI_SKIP_UPDATE_CHECK": "true",
                "PULUMI_DEBUG_COMMANDS": "true",
            }
        )
        del self.environment["PULUMI_CONFIG_PASSPHRASE_FILE"]
        (self.project / "Pulumi.yaml").write_text(PROJECT)
        (self.project / "__main__.py").write_text(PROGRAM)
        self.begin()
        self.run("stack", "init", STACK)

    def begin(self) -> None:
        """Declare nothing yet; the next `up` removes what was declared before."""
        self.context = self.sandbox.context
        self.environment["KUBECONFIG"] = str(self.sandbox.kubeconfig())
        self.secrets: dict[str, dict[str, Any]] = {}
        self.taints: dict[str, dict[str, Any]] = {}
        self.preflight: dict[str, Any] | None = None

    def declare(self) -> None:
        declared: dict[str, Any] = {"context": self.context, "secrets": self.secrets, "taints": self.taints}
        if self.preflight is not None:
            declared["preflight"] = self.preflight
        (self.project / "declared.json").write_text(json.dumps(declared))

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        self.declare()
        return subprocess.Popen(
            [str(self.pulumi), *arguments, "--non-interactive"],
            cwd=self.project,
            env={**self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, fails: bool = False, environment: Mapping[str, str] | None = None) -> str:
        """What pulumi printed. Fails the test when it ends otherwise than `fails` says."""
        with self.start(*arguments, environment=environment) as process:
            printed = process.communicate(timeout=180)[0]
        (self.logs / f"{len(list(self.logs.iterdir())):03}-{arguments[0]}.txt").write_text(printed)
        assert bool(process.returncode) == fails, printed
        return printed

    def up(self, *arguments: str, fails: bool = False) -> str:
        log = self.logs / f"events-{len(list(self.logs.iterdir())):03}.json"
        return self.run("up", "--yes", "--skip-preview", "--event-log", str(log), *arguments, fails=fails)

    def preview(self, *arguments: str, fails: bool = False) -> str:
        return self.run("preview", "--diff", *arguments, fails=fails)

    def refresh(self, *arguments: str) -> str:
        return self.run("refresh", "--yes", "--skip-preview", *arguments)

    def destroy(self) -> str:
        return self.run("destroy", "--yes", "--skip-preview")

    def answers(self) -> dict[str, Any]:
        """What the preflight told the program last."""
        told: dict[str, Any] = json.loads((self.project / "preflight.json").read_text())
        return told

    def state(self) -> dict[str, dict[str, Any]]:
        """Resources of the state by their logical name."""
        exported = json.loads(self.run("stack", "export"))
        return {item["urn"].rsplit("::", 1)[-1]: item for item in exported["deployment"].get("resources") or []}

    def store(self) -> Any:
        """A client of the managed store."""
        return boto3.client(
            "secretsmanager",
            region_name="ap-east-1",
            endpoint_url=self.environment["AWS_ENDPOINT_URL"],
            aws_access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
        )

    def value(self, name: str, stage: str = "AWSCURRENT") -> dict[str, str]:
        text = self.store().get_secret_value(SecretId=name, VersionStage=stage)["SecretString"]
        found: dict[str, str] = json.loads(text)
        return found

    def generated_values(self) -> set[str]:
        """Every generated value of every version that the store holds, of all secrets that are not to be deleted."""
        store = self.store()
        found: set[str] = set()
        for entry in store.list_secrets()["SecretList"]:
            for version in store.list_secret_version_ids(SecretId=entry["ARN"], IncludeDeprecated=True)["Versions"]:
                text = store.get_secret_value(SecretId=entry["ARN"], VersionId=version["VersionId"])["SecretString"]
                found.update(value for value in json.loads(text).values() if len(value) > 20)
        return found

    def up_killed_at(self, operation: str) -> None:
        """Run `up` and kill the engine after the store has done an operation and before anybody was told."""
        with Gate(self.environment["AWS_ENDPOINT_URL"], operation).open() as gate:
            arguments = ("up", "--yes", "--skip-preview")
            with self.start(*arguments, environment={"AWS_ENDPOINT_URL": gate.endpoint}) as process:
                reader = threading.Thread(target=process.communicate)
                reader.start()
                try:
                    assert gate.stored.wait(60), f"the store was never asked for {operation}"
                finally:
                    os.killpg(process.pid, signal.SIGKILL)
                    gate.released.set()
                    reader.join(60)
        self.run("cancel", "--yes", STACK)

    def everything_written(self) -> dict[Path, bytes]:
        """State with its history and backups, event logs, printed text, the project's own folder."""
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}


class Gate:
    """Stands before the managed store; once `hold` is set, a call of that operation is passed on and never answered."""

    def __init__(self, endpoint: str, hold: str) -> None:
        self.stored = threading.Event()
        self.released = threading.Event()
        gate, pool = self, urllib3.PoolManager(retries=False)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = pool.request("POST", endpoint, headers=dict(self.headers), body=body)
                if self.headers["X-Amz-Target"].endswith(f".{hold}"):
                    gate.stored.set()
                    gate.released.wait(60)
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(len(answer.data)))
                self.end_headers()
                self.wfile.write(answer.data)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.05))
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def open(self) -> Iterator["Gate"]:
        self._thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
