"""Up, down and everything that can go wrong between: a sandbox of its own, without add-ons, so that it starts fast."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest

from sandbox.cluster import NodeSpec, Sandbox
from sandbox.errors import SandboxError

NODES = [NodeSpec("one", volumes=1)]
UP = """
import sys
from pathlib import Path
from sandbox.cluster import NodeSpec, Sandbox
Sandbox(sys.argv[1], home=Path(sys.argv[2])).up([NodeSpec("one", volumes=1)], families=())
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Sandbox]:
    """A sandbox that the test may break; not up yet."""
    made = Sandbox("own", home=tmp_path / "state")
    yield made
    made.delete()


def start(sandbox: Sandbox, **arguments: str) -> None:
    sandbox.up(NODES, families=(), **arguments)  # type: ignore[arg-type]


def pids(sandbox: Sandbox) -> dict[str, int]:
    return {process.name: process.pid for process in sandbox.status().processes if process.pid is not None}


def processes_on(folder: Path) -> list[str]:
    """The command lines of all processes of this machine that name the folder, whatever any pid file says."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environment = (process / "environ").read_bytes() if process.name.isdigit() else b""
        except OSError:
            continue
        if str(folder) in command or f"HOME={folder}".encode() in environment:
            found.append(command)
    return found


def namespaces(sandbox: Sandbox) -> set[str]:
    api = sandbox.api()
    try:
        return {str(item["metadata"]["name"]) for item in api.items("/api/v1/namespaces")}
    finally:
        api.close()


def make_namespace(sandbox: Sandbox, name: str) -> None:
    api = sandbox.api()
    try:
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    finally:
        api.close()


def managed_store(sandbox: Sandbox):  # type: ignore[no-untyped-def]
    env = sandbox.env()
    return boto3.client(
        "secretsmanager",
        endpoint_url=env["AWS_ENDPOINT_URL"],
        region_name=env["AWS_REGION"],
        aws_access_key_id=env["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=env["AWS_SECRET_ACCESS_KEY"],
    )


def test_down_leaves_nothing_running_and_the_next_up_finds_everything_again(own: Sandbox) -> None:
    start(own)
    make_namespace(own, "kept")
    created = managed_store(own).create_secret(Name="lantau/own/key", SecretString="kept too")
    state, before = own.folder / "pulumi" / "stack.json", own.env()
    state.write_text("{}")
    own.down()
    assert pids(own) == {}
    assert processes_on(own.folder) == []
    start(own)
    assert "kept" in namespaces(own)
    found = managed_store(own).get_secret_value(SecretId=created["ARN"])
    assert (found["VersionId"], found["SecretString"]) == (created["VersionId"], "kept too")
    assert state.read_text() == "{}"
    assert own.env() == before


def test_a_second_up_leaves_every_process_as_it_is(own: Sandbox) -> None:
    start(own)
    before = pids(own)
    start(own)
    assert pids(own) == before


def test_what_died_is_started_again_with_its_data_and_nothing_else_is_touched(
    own: Sandbox, eventually: Callable[..., None]
) -> None:
    start(own)
    managed_store(own).create_secret(Name="lantau/own/key", SecretString="held")
    make_namespace(own, "held")
    before = pids(own)
    killed = {"aws", "etcd", "kube-apiserver"}
    for name in killed:
        os.kill(before[name], signal.SIGKILL)
    eventually("the killed are gone", lambda: not killed & pids(own).keys())
    start(own)
    after = pids(own)
    assert {name for name in before if before[name] != after[name]} == killed
    assert managed_store(own).get_secret_value(SecretId="lantau/own/key")["SecretString"] == "held"
    assert "held" in namespaces(own)


def test_another_audit_policy_restarts_the_api_server_alone(own: Sandbox) -> None:
    start(own)
    before = pids(own)
    policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "RequestResponse"}]}
    start(own, audit_policy=json.dumps(policy))
    after = pids(own)
    assert {name for name in before if before[name] != after[name]} == {"kube-apiserver"}
    make_namespace(own, "seen")
    events = map(json.loads, own.audit_log.read_text().splitlines())
    assert any(
        event["level"] == "RequestResponse" and event.get("objectRef", {}).get("name") == "seen" for event in events
    )


def test_an_audit_policy_that_the_api_server_refuses_is_reported_in_its_own_words(own: Sandbox) -> None:
    with pytest.raises(SandboxError, match=r"kube-apiserver has ended by itself(.|\n)*no-such-level"):
        start(
            own,
            audit_policy='{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "no-such-level"}]}',
        )
    start(own)
    assert own.status().nodes[0].ready


def test_up_works_again_after_it_was_killed_at_any_moment(own: Sandbox) -> None:
    delays = (0.2, 0.35, 0.5, 0.8, 1.5, 2.5)
    for delay in delays:
        command = [sys.executable, "-c", UP, own.name, str(own.folder.parent)]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL) as up:
            time.sleep(delay)  # the moment is the subject of the test
            up.kill()
    start(own)
    running = pids(own)
    assert own.status().nodes[0].ready
    assert len(processes_on(own.folder)) == len(running)
    own.down()
    assert processes_on(own.folder) == []


def test_a_delete_that_was_killed_leaves_nothing_half_for_the_next_up(own: Sandbox) -> None:
    code = UP.rpartition("Sandbox(")[0] + "Sandbox(sys.argv[1], home=Path(sys.argv[2])).delete()"
    for delay in (0.3, 0.5, 0.7, 1.0):
        start(own)
        with subprocess.Popen([sys.executable, "-c", code, own.name, str(own.folder.parent)]) as delete:
            time.sleep(delay)  # the moment is the subject of the test
            delete.kill()
    start(own)
    assert own.status().nodes[0].ready
    own.delete()
    assert processes_on(own.folder) == []
    assert list(own.folder.parent.iterdir()) == []


def test_ctrl_c_in_the_terminal_does_not_reach_the_cluster(own: Sandbox) -> None:
    command = [sys.executable, "-c", UP, own.name, str(own.folder.parent)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, process_group=0) as up:
        deadline = time.monotonic() + 60
        while "kube-apiserver" not in pids(own) and time.monotonic() < deadline:
            time.sleep(0.05)
        before = pids(own)
        os.killpg(up.pid, signal.SIGINT)
        up.wait(60)
    assert before.keys() >= {"etcd", "aws", "kube-apiserver"}
    start(own)
    assert {name: pid for name, pid in pids(own).items() if name in before} == before


def test_two_ups_at_once_make_one_cluster(own: Sandbox) -> None:
    command = [sys.executable, "-c", UP, own.name, str(own.folder.parent)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    complaints = [up.communicate(timeout=120)[1] for up in both]
    assert [up.returncode for up in both] == [0, 0], complaints
    assert len(processes_on(own.folder)) == len(pids(own))


def test_a_taken_port_is_named_with_its_holder_and_another_block_can_be_chosen(own: Sandbox) -> None:
    start(own)
    etcd = next(process.port for process in own.status().processes if process.name == "etcd")
    assert etcd is not None
    own.down()
    with socket.create_server(("127.0.0.1", etcd)):
        with pytest.raises(SandboxError) as taken:
            start(own)
        message = str(taken.value)
        assert f"port {etcd} (wanted for etcd) is taken by" in message
        assert f"process {os.getpid()}" in message
        base = int(message.rpartition("--base-port ")[2])
        own.up(NODES, families=(), base_port=base)
    assert {process.port for process in own.status().processes if process.name == "etcd"} == {base}


def test_a_stale_pid_file_that_names_a_stranger_does_it_no_harm(own: Sandbox) -> None:
    start(own)
    own.down()
    with subprocess.Popen(["sleep", "60"]) as stranger:
        record = {"pid": stranger.pid, "start": 1, "boot": "", "command": [], "fingerprint": ""}
        (own.folder / "run" / "etcd.json").write_text(json.dumps(record))
        own.down()
        start(own)
        assert stranger.poll() is None
        stranger.kill()


def test_damaged_data_of_etcd_is_reported_with_the_way_out(own: Sandbox) -> None:
    start(own)
    own.down()
    (own.folder / "etcd" / "member" / "snap" / "db").write_bytes(b"not a database" * 1000)
    with pytest.raises(
        SandboxError, match=r"etcd has ended by itself(.|\n)*python -m sandbox down --delete --name own"
    ):
        start(own)
    own.delete()
    start(own)
    assert own.status().nodes[0].ready


def test_delete_leaves_no_process_and_no_file(own: Sandbox) -> None:
    start(own)
    own.delete()
    assert processes_on(own.folder) == []
    assert list(own.folder.parent.iterdir()) == []
    with pytest.raises(SandboxError, match="there is no sandbox 'own'"):
        own.env()


def test_other_nodes_take_the_place_of_the_former_ones(own: Sandbox) -> None:
    start(own)
    own.up([NodeSpec("two", volumes=2)], families=())
    assert [node.name for node in own.status().nodes] == ["two"]
    own.up(families=())
    assert [node.name for node in own.status().nodes] == ["two"]


def test_a_kubeconfig_under_the_context_of_another_cluster_reaches_the_sandbox(own: Sandbox) -> None:
    start(own)
    path = own.kubeconfig("hk-prod")
    assert path.stat().st_mode & 0o077 == 0
    kubectl = Path(sys.executable).with_name("kubectl")
    command = [str(kubectl), "--kubeconfig", str(path), "--context", "hk-prod", "get", "nodes", "-o", "name"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "node/one"


def test_without_definitions_of_external_secrets_its_controller_is_not_missed(own: Sandbox) -> None:
    start(own)
    status = own.status()
    assert status.running
    assert "external-secrets" not in {process.name for process in status.processes}
    own.down()
    assert not own.status().running


def test_what_one_sandbox_installed_is_in_the_store_of_the_next_from_the_start(own: Sandbox, tmp_path: Path) -> None:
    def identity(sandbox: Sandbox) -> str:
        api = sandbox.api()
        try:
            assert api.get("/apis/gateway.networking.k8s.io/v1/httproutes") is not None
            kind = api.get(
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/httproutes.gateway.networking.k8s.io"
            )
        finally:
            api.close()
        assert kind is not None
        return str(kind["metadata"]["uid"])

    own.up(NODES, families=("gateway-api",))
    other = Sandbox("other", home=tmp_path / "state")
    try:
        other.up(NODES, families=("gateway-api",))
        assert other.status().families == ("gateway-api",)
        assert identity(other) == identity(own)
    finally:
        other.delete()
