"""The typed side of the provider in a program: what it registers, and that it says nothing the schema does not know."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from components.provider_sdk import (
    FixedField,
    LantauProvider,
    ManagedSecret,
    NodeTaint,
    RandomField,
    RequiredKind,
    preflight,
)

SCHEMA = json.loads((Path(__file__).parents[3] / "provider/schema.json").read_text())


class Recorder(mocks.Mocks):
    def __init__(self) -> None:
        self.inputs: dict[str, dict[str, Any]] = {}
        self.args: dict[str, Any] = {}
        self.answer: dict[str, Any] = {"ok": True, "problems": []}

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        self.inputs[args.typ] = dict(args.inputs)
        return f"{args.name}-id", {**args.inputs, "versionId": "v2", "previousVersionId": "v1", "clusterUid": "uid"}

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        self.args = dict(args.args)
        return self.answer, []


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    made = Recorder()
    mocks.set_mocks(made, project="lantau", stack="dev")
    yield made
    pulumi.runtime.settings.reset_options()


def test_every_input_and_output_is_one_of_the_schema(recorder: Recorder) -> None:
    seen: list[Any] = []

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def program() -> Any:
        provider = LantauProvider("lantau", context="c", region="ap-east-1", stack="dev")
        opts = pulumi.ResourceOptions(provider=provider)
        secret = ManagedSecret(
            "secret",
            name="lantau/dev/x/key",
            description="x",
            fields={"kms_key_id": RandomField(), "user": FixedField("app")},
            tags={"version_id": "kept as it is"},
            kms_key_id="alias/x",
            opts=opts,
        )
        taint = NodeTaint("taint", node="n", key="k", opts=opts)
        outputs = pulumi.Output.all(secret.version_id, secret.previous_version_id, taint.cluster_uid)
        return outputs.apply(seen.append)

    program()

    assert seen == [["v2", "v1", "uid"]]
    secret, taint = (recorder.inputs[f"lantau:index:{kind}"] for kind in ("ManagedSecret", "NodeTaint"))
    assert set(secret) == set(SCHEMA["resources"]["lantau:index:ManagedSecret"]["inputProperties"])
    assert set(taint) == set(SCHEMA["resources"]["lantau:index:NodeTaint"]["inputProperties"])
    assert set(recorder.inputs["pulumi:providers:lantau"]) == set(SCHEMA["provider"]["inputProperties"])
    known = set(SCHEMA["types"]["lantau:index:SecretField"]["properties"])
    assert all(set(field) <= known for field in secret["fields"].values())
    assert set(secret["fields"]) == {"kms_key_id", "user"}, "names of fields must not be translated"
    assert secret["tags"] == {"version_id": "kept as it is"}


def test_the_preflight_gives_typed_answers(recorder: Recorder) -> None:
    taint = {"key": "k", "value": "", "effect": "NoSchedule"}
    node = {"name": "n", "ready": True, "unschedulable": False, "gpus": 8, "labels": {"a": "b"}, "taints": [taint]}
    recorder.answer = {
        "ok": False,
        "problems": [
            {"code": "api-missing", "subject": "Gateway API", "message": "no HTTPRoute", "remedy": "install it"}
        ],
        "server": {"version": "v1.36.3", "uid": "u", "nodes": [node]},
    }
    found: list[Any] = []

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def program() -> None:
        provider = LantauProvider("lantau", context="c")
        kind = RequiredKind("gateway.networking.k8s.io", "HTTPRoute", "v1", "Gateway API", "install it")
        found.append(
            preflight(
                provider,
                required_kinds=[kind],
                required_nodes=("n",),
                required_secrets=iter(["third/openai"]),
                min_server_version="1.33",
                cluster_uid="u",
                check_store=True,
            )
        )

    program()

    result = found[0]
    assert not result.ok
    assert result.text() == "- no HTTPRoute. install it"
    assert result.server.nodes[0].gpus == 8
    assert result.server.nodes[0].taints[0].effect == "NoSchedule"
    known = SCHEMA["functions"]["lantau:index:preflight"]["inputs"]["properties"]
    assert set(recorder.args) == set(known) - {"context"}
    assert set(recorder.args["requiredKinds"][0]) == set(SCHEMA["types"]["lantau:index:RequiredKind"]["properties"])


def test_a_cluster_that_cannot_be_asked_has_no_server(recorder: Recorder) -> None:
    found: list[Any] = []

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def program() -> None:
        found.append(preflight(LantauProvider("lantau", context="c")))

    program()

    assert found[0].ok
    assert found[0].server is None
