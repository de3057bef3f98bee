"""Command lines, nodes, stages, definitions, the stand-in for AWS and the command line, without a cluster."""

import os
import re
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from sandbox.cli import app
from sandbox.cluster import A100, DEFAULT_NODES, NodeSpec, Sandbox, crds
from sandbox.cluster.aws import changes
from sandbox.cluster.health import answers
from sandbox.cluster.layout import Layout
from sandbox.cluster.process import ProcessTable, Spec
from sandbox.cluster.seed import seed_file
from sandbox.cluster.services import Services
from sandbox.errors import SandboxError

STAGES = Path(__file__).parents[3] / "sandbox" / "cluster" / "stages"


@pytest.fixture
def services(tmp_path: Path) -> Services:
    layout = Layout(tmp_path, "one")
    layout.prepare()
    return Services(layout, layout.ports(), Path("/tools"))


@pytest.fixture
def specs(services: Services, tmp_path: Path) -> list[Spec]:
    policy = tmp_path / "policy"
    policy.write_text("")
    return [
        services.etcd(),
        services.api_server(policy),
        services.controller_manager(),
        services.scheduler(),
        services.kwok(),
        services.external_secrets(),
    ]


def test_every_server_listens_on_loopback_only_and_on_ports_of_its_own(specs: list[Spec]) -> None:
    for spec in specs:
        listening = [part for part in spec.command if re.match(r"--(bind|server|metrics|listen)[a-z-]*=", part)]
        assert listening
        assert all("127.0.0.1" in part for part in listening)
    ports = [port for spec in specs for port in spec.ports]
    assert len(ports) == len(set(ports))


def test_the_audit_log_is_kept_as_long_as_the_benchmark_asks(specs: list[Spec]) -> None:
    flags = dict(part[2:].split("=", 1) for part in specs[1].command[1:])
    assert int(flags["audit-log-maxage"]) >= 90
    assert int(flags["audit-log-maxbackup"]) >= 10
    assert int(flags["audit-log-maxsize"]) >= 100
    assert (flags["anonymous-auth"], flags["authorization-mode"]) == ("false", "Node,RBAC")
    assert "NodeRestriction" in flags["enable-admission-plugins"]
    assert flags["service-account-issuer"].startswith("https://")


def test_no_key_is_on_a_command_line_or_in_an_environment(specs: list[Spec], tmp_path: Path) -> None:
    keys = [path.read_text().splitlines()[1] for path in tmp_path.rglob("*.key")]
    assert keys
    for spec in specs:
        text = " ".join([*spec.command, *spec.environment.values()])
        assert not [key for key in keys if key in text]


def test_the_same_inputs_give_the_same_fingerprint_in_the_next_command(services: Services, tmp_path: Path) -> None:
    layout = Layout(tmp_path, "one")
    again = Services(layout, layout.ports(), Path("/tools"))
    for first, second in (
        (services.etcd(), again.etcd()),
        (services.kwok(), again.kwok()),
        (services.external_secrets(), again.external_secrets()),
    ):
        assert first.fingerprint() == second.fingerprint()


def test_the_default_nodes_are_those_of_a_small_hong_kong() -> None:
    gpus = {node.name: (node.gpus, node.card.product if node.card else "") for node in DEFAULT_NODES}
    assert gpus == {
        "biz-1": (0, ""),
        "biz-2": (0, ""),
        "data-1": (0, ""),
        "data-2": (0, ""),
        "gpu-a100-1": (8, "NVIDIA-A100-SXM4-80GB"),
        "gpu-a100-2": (8, "NVIDIA-A100-SXM4-80GB"),
        "gpu-4090-1": (8, "NVIDIA-GeForce-RTX-4090"),
    }


def test_labels_of_a_node_are_legal_and_hold_nothing_of_lantau() -> None:
    for node in DEFAULT_NODES:
        for key, value in node.labels().items():
            assert re.fullmatch(r"([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", key), key
            assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", value), key
            assert not key.startswith("lantau.internal/")


def test_gpus_without_a_card_and_a_card_without_gpus_are_refused() -> None:
    with pytest.raises(SandboxError, match="node x: gpus is 8 and card is None"):
        NodeSpec("x", gpus=8)
    with pytest.raises(SandboxError, match="node x: gpus is 0"):
        NodeSpec("x", card=A100)


def test_nodes_are_remembered_as_they_were() -> None:
    assert [NodeSpec.from_json(node.to_json()) for node in DEFAULT_NODES] == list(DEFAULT_NODES)


def test_stages_are_told_apart_by_name_and_keep_finalizers() -> None:
    stages = [stage for path in sorted(STAGES.glob("*.yaml")) for stage in YAML(typ="safe").load_all(path)]
    names = [stage["metadata"]["name"] for stage in stages]
    assert names
    assert len(names) == len(set(names))
    assert not [stage for stage in stages if "finalizers" in stage["spec"]["next"]]


DEFINITION = """---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    note: "x"
  name: {name}
spec:
  group: example.com
  names:
    enum: [=, "!="]
"""


def test_definitions_are_read_by_name_whatever_yaml_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        DEFINITION.format(name="as.example.com") + DEFINITION.format(name="bs.example.com")
    )
    (tmp_path / "patch.yaml").write_text(
        "kind: CustomResourceDefinition\nmetadata:\n  name: cs.example.com\nspec: {}\n"
    )
    (tmp_path / "kustomization.yaml").write_text("resources:\n- a.yaml\n")
    assert [definition.name for definition in crds.read(tmp_path)] == ["as.example.com", "bs.example.com"]


def test_a_folder_without_definitions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="holds no custom resource definitions"):
        crds.read(tmp_path)


def test_the_digest_of_a_family_follows_its_content(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(DEFINITION.format(name="as.example.com"))
    before = crds.digest(crds.read(tmp_path))
    assert crds.digest(crds.read(tmp_path)) == before
    (tmp_path / "a.yaml").write_text(DEFINITION.format(name="as.example.com") + "    more: true\n")
    assert crds.digest(crds.read(tmp_path)) != before


def test_a_seed_serves_only_the_same_families_and_the_same_api_server(tmp_path: Path) -> None:
    program = tmp_path / "kube-apiserver"
    program.write_text("one")
    first = seed_file(tmp_path, {"a": "1", "b": "2"}, program)
    assert seed_file(tmp_path, {"b": "2", "a": "1"}, program) == first
    assert seed_file(tmp_path, {"a": "1"}, program) != first
    assert seed_file(tmp_path, {"a": "1", "b": "3"}, program) != first
    program.write_text("another")
    assert seed_file(tmp_path, {"a": "1", "b": "2"}, program) != first


@pytest.mark.parametrize(
    ("method", "target", "expected"),
    [
        ("POST", "secretsmanager.CreateSecret", True),
        ("POST", "secretsmanager.PutSecretValue", True),
        ("POST", "secretsmanager.GetSecretValue", False),
        ("POST", "secretsmanager.DescribeSecret", False),
        ("POST", "", True),
        ("GET", "", False),
        ("PUT", "", True),
    ],
)
def test_only_requests_that_may_change_something_are_written_down(method: str, target: str, expected: bool) -> None:
    assert changes({"REQUEST_METHOD": method, "HTTP_X_AMZ_TARGET": target}) is expected


def test_what_the_stand_in_for_aws_holds_outlives_its_sudden_death(services: Services, tmp_path: Path) -> None:
    table, spec = ProcessTable(tmp_path / "one"), services.aws()

    session = boto3.Session("x", "y", region_name="ap-east-1")
    where = services.aws_endpoint
    secrets, buckets, roles = (
        session.client("secretsmanager", endpoint_url=where),
        session.client("s3", endpoint_url=where),
        session.client("iam", endpoint_url=where),
    )

    def start() -> None:
        with (tmp_path / "lock").open("w") as lock:
            table.start(spec, lock.fileno())
        table.wait("aws", answers(services.ports.aws, "/moto-api/"), 60)

    try:
        start()
        created = secrets.create_secret(Name="key", SecretString="value")
        buckets.create_bucket(
            Bucket="trail",
            CreateBucketConfiguration={"LocationConstraint": "ap-east-1"},
            ObjectLockEnabledForBucket=True,
        )
        buckets.put_object(Bucket="trail", Key="record", Body=b"who did what")
        roles.create_role(RoleName="delivery", AssumeRolePolicyDocument="{}")
        table.stop(["aws"], grace=0)
        assert (tmp_path / "one" / "aws" / "state").stat().st_mode & 0o777 == 0o600
        start()
        assert secrets.get_secret_value(SecretId=created["ARN"])["SecretString"] == "value"
        assert buckets.get_object(Bucket="trail", Key="record")["Body"].read() == b"who did what"
        assert roles.get_role(RoleName="delivery")["Role"]["RoleName"] == "delivery"
    finally:
        table.stop(["aws"], grace=0)


def test_tools_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "etcd").touch(mode=0o755)
    sandbox = Sandbox("one", home=tmp_path / "state", tools=tmp_path)
    with pytest.raises(SandboxError, match=r"lacks kube-apiserver, kube-controller-manager, .*python -m sandbox build"):
        sandbox.up(families=())


def test_down_and_delete_of_a_sandbox_that_never_was_do_nothing(tmp_path: Path) -> None:
    sandbox = Sandbox("one", home=tmp_path)
    assert sandbox.down() == []
    sandbox.delete()
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_tells_errors_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for command in (["env"], ["kubeconfig", "--name", "x"], ["kubeconfig", "--context", "hk-prod"]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 1
        assert done.stdout == ""
        assert "there is no sandbox" in done.stderr
    done = CliRunner().invoke(app, ["up", "--name", "Bad Name"])
    assert (done.exit_code, "is no name for a sandbox" in done.stderr) == (1, True)
    assert CliRunner().invoke(app, ["status"]).exit_code == 3


def test_the_environment_is_printed_as_a_shell_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "with space"))
    layout = Layout(tmp_path / "with space" / "lantau", "one")
    layout.prepare()
    layout.ports()
    printed = CliRunner().invoke(app, ["env", "--name", "one"]).stdout
    script = f'{printed}\necho "$KUBECONFIG|$AWS_REGION|${{AWS_PROFILE-unset}}"; command -v kubectl; printf %s "$PATH"'
    environment = {"PATH": os.environ["PATH"], "AWS_PROFILE": "of-the-user"}
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True, env=environment)
    values, kubectl, path = done.stdout.split("\n")
    assert values == f"{layout.kubeconfig}|ap-east-1|unset"
    assert Path(kubectl).parent == Path(sys.executable).parent
    assert path.endswith(f":{os.environ['PATH']}")


def test_the_module_runs_without_the_project_on_the_path(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sandbox", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=STAGES.parents[2])
    assert {"up", "down", "status", "build", "kubeconfig", "env"} <= set(done.stdout.split())
