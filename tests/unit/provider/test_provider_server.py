"""The plugin over its own wire: what the engine is told, and that no error carries a traceback or a value."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import grpc.aio  # type: ignore[import-untyped]
import pytest
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from provider.plugin import LantauProvider
from provider.resource import ResourceKind
from provider.server import Servicer, describe_fault
from provider.store.resource import ManagedSecret
from tests.unit.provider.fake_cluster import CONTEXT, FakeCluster

ROOT = Path(__file__).parents[3]
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SECRET_URN = "urn:pulumi:dev::lantau::lantau:index:ManagedSecret::key"
TAINT_URN = "urn:pulumi:dev::lantau::lantau:index:NodeTaint::gpu-1"
SECRET = {"name": "lantau/dev/x/key", "description": "x", "fields": {"password": {"kind": "random"}}}

Stub = Any


def struct(values: dict[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(values, struct_pb2.Struct())


def plain(values: struct_pb2.Struct) -> dict[str, Any]:
    return dict(json_format.MessageToDict(values))


@asynccontextmanager
async def served(**config: str) -> AsyncIterator[Stub]:
    server = grpc.aio.server()
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(
        Servicer([], "0.0.0", LantauProvider(), engine_address=""), server
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        await stub.Configure(provider_pb2.ConfigureRequest(args=struct(dict(config))))
        yield stub
    await server.stop(grace=None)


def talk(conversation: Callable[[Stub], Awaitable[Any]], **config: str) -> Any:
    async def run() -> Any:
        async with served(**{"region": "ap-east-1", "context": CONTEXT, "stack": "dev", **config}) as stub:
            return await conversation(stub)

    return asyncio.run(run())


def refusal(conversation: Callable[[Stub], Awaitable[Any]]) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        talk(conversation)
    return str(refused.value.details())


def test_a_secret_lives_its_life_over_the_wire(aws: None) -> None:
    async def life(stub: Stub) -> dict[str, Any]:
        checked = await stub.Check(provider_pb2.CheckRequest(urn=SECRET_URN, news=struct(SECRET)))
        assert not checked.failures
        made = await stub.Create(provider_pb2.CreateRequest(urn=SECRET_URN, properties=checked.inputs))
        same = await stub.Diff(
            provider_pb2.DiffRequest(urn=SECRET_URN, id=made.id, olds=made.properties, news=checked.inputs)
        )
        assert same.changes == provider_pb2.DiffResponse.DIFF_NONE
        read = await stub.Read(
            provider_pb2.ReadRequest(urn=SECRET_URN, id=made.id, properties=made.properties, inputs=checked.inputs)
        )
        assert (read.id, read.properties, read.inputs) == (made.id, made.properties, checked.inputs)
        news = struct({**plain(checked.inputs), "epoch": 2})
        diff = await stub.Diff(provider_pb2.DiffRequest(urn=SECRET_URN, id=made.id, olds=made.properties, news=news))
        assert (list(diff.diffs), list(diff.replaces)) == (["epoch"], [])
        assert diff.detailedDiff["epoch"].kind == provider_pb2.PropertyDiff.UPDATE
        changed = await stub.Update(
            provider_pb2.UpdateRequest(urn=SECRET_URN, id=made.id, olds=made.properties, news=news)
        )
        await stub.Delete(provider_pb2.DeleteRequest(urn=SECRET_URN, id=made.id, properties=changed.properties))
        gone = await stub.Read(
            provider_pb2.ReadRequest(urn=SECRET_URN, id=made.id, properties=made.properties, inputs=checked.inputs)
        )
        assert gone.id == ""
        return plain(changed.properties)

    outputs = talk(life)

    assert outputs["epoch"] == 2
    assert outputs["previousVersionId"]


def test_another_name_is_a_replacement() -> None:
    async def ask(stub: Stub) -> Any:
        checked = await stub.Check(provider_pb2.CheckRequest(urn=SECRET_URN, news=struct(SECRET)))
        news = struct({**plain(checked.inputs), "name": "lantau/dev/x/other"})
        return await stub.Diff(provider_pb2.DiffRequest(urn=SECRET_URN, olds=checked.inputs, news=news))

    diff = talk(ask)

    assert list(diff.replaces) == ["name"]
    assert not diff.deleteBeforeReplace


def test_a_preview_gives_unknown_outputs_and_takes_unknown_inputs() -> None:
    async def ask(stub: Stub) -> Any:
        news = struct({**SECRET, "description": UNKNOWN})
        checked = await stub.Check(provider_pb2.CheckRequest(urn=SECRET_URN, news=news))
        assert not checked.failures
        return await stub.Create(provider_pb2.CreateRequest(urn=SECRET_URN, properties=checked.inputs, preview=True))

    planned = plain(talk(ask).properties)

    assert planned["arn"] == planned["versionId"] == planned["description"] == UNKNOWN
    assert planned["name"] == SECRET["name"]


def test_an_update_never_acts_on_unknown_inputs(aws: None) -> None:
    async def ask(stub: Stub) -> Any:
        properties = struct({**SECRET, "description": UNKNOWN})
        return await stub.Create(provider_pb2.CreateRequest(urn=SECRET_URN, properties=properties))

    assert refusal(ask) == "key has inputs whose values are not known; give them plain values"


def test_what_the_user_can_mend_is_one_sentence(cluster: FakeCluster) -> None:
    async def ask(stub: Stub) -> Any:
        properties = struct({"node": "gpu-9", "key": "a", "value": "", "effect": "NoSchedule"})
        return await stub.Create(provider_pb2.CreateRequest(urn=TAINT_URN, properties=properties))

    message = refusal(ask)

    assert message.startswith("there is no node gpu-9 in context hk-test")
    assert "Traceback" not in message
    assert ".py" not in message


def test_a_fault_of_ours_tells_its_place_and_not_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("hunter2hunter2")

    monkeypatch.setattr(ManagedSecret, "create", broken)

    async def ask(stub: Stub) -> Any:
        return await stub.Create(provider_pb2.CreateRequest(urn=SECRET_URN, properties=struct(SECRET)))

    message = refusal(ask)

    assert message.startswith("fault in the lantau provider: ValueError at ")
    assert "hunter2" not in message
    assert "\n" not in message


def test_a_fault_without_a_place_is_still_told() -> None:
    assert describe_fault(KeyError("hunter2")) == (
        "fault in the lantau provider: KeyError at an unknown place; please report it"
    )


def test_an_unknown_resource_or_function_is_told_with_the_nearest() -> None:
    async def check(stub: Stub) -> Any:
        urn = SECRET_URN.replace("ManagedSecret", "ManagedSecrets")
        return await stub.Check(provider_pb2.CheckRequest(urn=urn, news=struct({})))

    async def invoke(stub: Stub) -> Any:
        return await stub.Invoke(provider_pb2.InvokeRequest(tok="lantau:index:preflght"))

    assert "did you mean lantau:index:ManagedSecret?" in refusal(check)
    assert "did you mean lantau:index:preflight?" in refusal(invoke)


def test_the_preflight_answers_over_the_wire(cluster: FakeCluster) -> None:
    async def ask(stub: Stub) -> Any:
        args = struct({"requiredNodes": ["gpu-1", "gpu-9"]})
        return await stub.Invoke(provider_pb2.InvokeRequest(tok="lantau:index:preflight", args=args))

    answer = plain(getattr(talk(ask), "return"))

    assert answer["ok"] is False
    assert [problem["code"] for problem in answer["problems"]] == ["node-missing"]
    assert [node["gpus"] for node in answer["server"]["nodes"]] == [8, 0]


@pytest.mark.parametrize(
    ("config", "path", "words"),
    [
        ({"regoin": "ap-east-1"}, "regoin", "did you mean region?"),
        ({"region": "hongkong"}, "region", "an AWS region such as ap-east-1"),
        ({"context": " "}, "context", "the name of a context"),
        ({"stack": "a/b"}, "stack", "letters, digits, dots"),
    ],
)
def test_a_wrong_configuration_is_named(config: dict[str, str], path: str, words: str) -> None:
    async def ask(stub: Stub) -> Any:
        return await stub.CheckConfig(provider_pb2.CheckRequest(urn="urn:x", news=struct(config)))

    failures = talk(ask).failures

    assert [failure.property for failure in failures] == [path]
    assert words in failures[0].reason


def test_a_changed_configuration_replaces_nothing() -> None:
    """Replacing the provider would replace every secret and taint of it."""

    async def ask(stub: Stub) -> Any:
        olds, news = struct({"region": "ap-east-1"}), struct({"region": "ap-southeast-1"})
        return await stub.DiffConfig(provider_pb2.DiffRequest(urn="urn:x", olds=olds, news=news))

    diff = talk(ask)

    assert not diff.replaces
    assert diff.changes == provider_pb2.DiffResponse.DIFF_UNKNOWN, "the engine must compare by itself"


def test_the_schema_knows_every_resource_and_function() -> None:
    async def ask(stub: Stub) -> Any:
        return await stub.GetSchema(provider_pb2.GetSchemaRequest(version=0))

    schema = json.loads(talk(ask).schema)

    assert set(schema["resources"]) == {"lantau:index:ManagedSecret", "lantau:index:NodeTaint"}
    assert set(schema["functions"]) == {"lantau:index:preflight"}


@pytest.mark.parametrize("urn", [SECRET_URN, TAINT_URN])
def test_the_schema_names_exactly_the_properties_that_there_are(urn: str, cluster: FakeCluster, aws: None) -> None:
    given = SECRET if urn == SECRET_URN else {"node": "gpu-1", "key": "a", "effect": "NoSchedule"}
    schema = json.loads((ROOT / "provider/schema.json").read_text())["resources"][urn.split("::")[-2]]

    async def ask(stub: Stub) -> Any:
        checked = await stub.Check(provider_pb2.CheckRequest(urn=urn, news=struct(given)))
        made = await stub.Create(provider_pb2.CreateRequest(urn=urn, properties=checked.inputs))
        return plain(checked.inputs), plain(made.properties)

    inputs, outputs = talk(ask)

    optional = {"kmsKeyId"}
    assert set(inputs) | optional >= set(schema["inputProperties"]) >= set(inputs)
    assert set(outputs) | optional >= set(schema["properties"]) >= set(outputs)
    assert set(schema["required"]) <= set(outputs)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The plugin as the language host starts it: by its folder, from anywhere."""
    command = [sys.executable, "-u", str(ROOT / "provider"), "127.0.0.1:1"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        yield started
        started.kill()


def test_the_plugin_tells_its_port_and_ends_when_told(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert int(process.stdout.readline()) > 0

    process.terminate()

    assert process.wait(timeout=10) != 0
    assert process.stderr is not None
    assert process.stderr.read() == ""


def test_a_ctrl_c_leaves_what_is_under_way_to_the_engine(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    port = int(process.stdout.readline())

    process.send_signal(signal.SIGINT)

    async def ask() -> str:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            return str((await stub.GetPluginInfo(empty_pb2.Empty())).version)

    assert asyncio.run(ask())


def test_the_plugin_ends_by_itself_when_its_engine_is_killed(tmp_path: Path) -> None:
    parent = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-u', {str(ROOT / 'provider')!r}, '127.0.0.1:1'],"
        " stdout=subprocess.PIPE, text=True)\n"
        "child.stdout.readline()\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        pid = int(engine.stdout.readline())
        descriptor = os.pidfd_open(pid)
        engine.kill()
    try:
        assert select.select([descriptor], [], [], 15)[0], "the plugin outlived its engine by 15 s"
    finally:
        os.close(descriptor)


def test_loading_the_plugin_loads_neither_client_library() -> None:
    """Each would cost every preview a third to half a second."""
    code = "import sys, provider.server; print({'boto3', 'kubernetes', 'tenacity'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


def test_every_kind_answers_for_its_token() -> None:
    kinds: list[type[ResourceKind]] = ResourceKind.__subclasses__()

    assert sorted(kind.token for kind in kinds) == ["lantau:index:ManagedSecret", "lantau:index:NodeTaint"]
