"""`lantau policy-check`: findings, exit codes, and what is judged together."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from policies.check import judge
from policies.check.run import FIELDS
from tests.policy.checking import BAD, CLEAN, check, check_text, text, write
from tests.policy.manifests import cron_job, deployment, grant, listed, pod, pod_spec, ray_cluster, role, typed_list
from tests.policy.networks import namespace, net_policy
from tests.policy.samples import WORD, some

ROOT = Path(__file__).resolve().parents[2]


def test_a_finding_is_one_line_with_its_place(tmp_path: Path) -> None:
    file = write(tmp_path / "a.yaml", CLEAN, BAD)
    found = check(file)
    assert found.code == 1
    (line,) = found.lines
    assert list(line) == [
        "file",
        "document",
        "kind",
        "name",
        "policy",
        "control",
        "level",
        "severity",
        "message",
        "path",
    ]
    assert list(line) == list(FIELDS)
    assert line["file"] == str(file)
    assert line["document"] == 2
    assert (line["kind"], line["name"], line["control"]) == ("Role", "reader", "RBAC-05")
    assert (line["level"], line["severity"], line["path"]) == ("mandatory", "critical", "rules[1]")


def test_a_clean_file_has_no_line(tmp_path: Path) -> None:
    found = check(write(tmp_path / "a.yaml", CLEAN))
    assert (found.code, found.out, found.err) == (0, "", "")


def test_an_advisory_finding_alone_does_not_fail(tmp_path: Path) -> None:
    config = text(tmp_path / "config.yaml", "rbac-no-secret-read: advisory\n")
    found = check(write(tmp_path / "a.yaml", BAD), "--config", config)
    assert (found.code, [line["level"] for line in found.lines]) == (0, ["advisory"])


LITERAL = pod_spec()
LITERAL["containers"] = [
    {**LITERAL["containers"][0], "env": [{"name": "A", "value": "b"}, {"name": "DB_PASSWORD", "value": WORD}]}
]
ENV = "containers[0].env[1].value"


@pytest.mark.parametrize(
    ("manifest", "kind", "name", "path"),
    [
        (pod(LITERAL), "Pod", "app", f"spec.{ENV}"),
        (deployment(LITERAL), "Deployment", "app", f"spec.template.spec.{ENV}"),
        (cron_job(LITERAL), "CronJob", "app", f"spec.jobTemplate.spec.template.spec.{ENV}"),
        (ray_cluster(LITERAL), "RayCluster", "ray", f"spec.workerGroupSpecs[0].template.spec.{ENV}"),
        (listed(CLEAN, deployment(LITERAL)), "Deployment", "app", f"items[1].spec.template.spec.{ENV}"),
        (typed_list(deployment(LITERAL)), "Deployment", "app", f"items[0].spec.template.spec.{ENV}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_kind_name_and_path_lead_to_the_field(
    tmp_path: Path, manifest: object, kind: str, name: str, path: str
) -> None:
    lines = [line for line in check(write(tmp_path / "a.yaml", manifest)).lines if line["control"] == "KEY-01"]
    assert [(line["kind"], line["name"], line["path"], line["document"]) for line in lines] == [(kind, name, path, 1)]


def test_a_generated_name_is_told_by_its_beginning(tmp_path: Path) -> None:
    manifest = {**BAD, "metadata": {"generateName": "reader-"}}
    assert [line["name"] for line in check(write(tmp_path / "a.yaml", manifest)).lines] == ["reader-"]


def test_documents_of_one_file_are_judged_together(tmp_path: Path) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    assert check(write(tmp_path / "a.yaml", namespace(**labels), net_policy(), pod())).code == 0
    write(tmp_path / "b/1.yaml", namespace(**labels), pod())
    write(tmp_path / "b/2.yaml", net_policy())
    found = check(tmp_path / "b")
    assert found.code == 1
    assert set(found.controls) == {"NET-01", "NET-07"}


def test_a_file_with_a_broken_document_is_not_judged_as_a_whole(tmp_path: Path) -> None:
    # The broken document may be the very NetworkPolicy that the pod would miss.
    whole = yaml.safe_dump_all([pod(), BAD])
    assert set(check(text(tmp_path / "a.yaml", whole)).controls) == {"NET-07", "RBAC-05"}
    found = check(text(tmp_path / "b.yaml", f"{whole}---\na: [\n"))
    assert (found.code, found.controls) == (2, ["RBAC-05"])


def test_findings_come_in_the_order_of_files_and_documents(tmp_path: Path) -> None:
    for name in ("c", "a", "b"):
        write(tmp_path / f"{name}.yaml", CLEAN, BAD, BAD)
    found = check(tmp_path)
    places = [(Path(line["file"]).name, line["document"]) for line in found.lines]
    assert places == [(f"{name}.yaml", number) for name in "abc" for number in (2, 3)]
    named = check(tmp_path / "c.yaml", tmp_path / "a.yaml")
    assert [Path(line["file"]).name for line in named.lines] == ["c.yaml"] * 2 + ["a.yaml"] * 2


def test_many_files_are_judged_by_several_processes_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        write(tmp_path / f"{number:02}.yaml", BAD if number % 3 else CLEAN)
    text(tmp_path / "25.yaml", "a: [\n")
    alone = check(tmp_path)
    monkeypatch.setattr(judge, "MANY", 10)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert check(tmp_path) == alone
    assert alone.code == 2
    assert len(alone.lines) == 32


def test_a_file_named_twice_is_judged_once(tmp_path: Path) -> None:
    file = write(tmp_path / "a.yaml", BAD)
    assert len(check(file, tmp_path, file).lines) == 1


def test_a_key_in_a_name_path_or_kind_is_not_repeated(tmp_path: Path) -> None:
    token = "gh" + "p_" + some(36)
    data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {token: f"password={WORD}"}}
    odd = {"apiVersion": "v1", "kind": token, "metadata": {"name": token}, "spec": {"password": WORD}}
    file = write(tmp_path / "a.yaml", data, odd)
    for found in (check(file), check_text(file)):
        assert found.code == 1
        assert token not in found.out + found.err
        assert WORD not in found.out + found.err
        assert "[key]" in found.out


def run_installed(*command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "start", [["-m", "lantau"], [str(Path(sys.executable).with_name("lantau"))]], ids=["module", "script"]
)
def test_both_ways_to_start_the_command_line_judge(start: list[str]) -> None:
    done = run_installed(*start, "policy-check", "--json", "-", stdin=yaml.safe_dump(BAD))
    assert done.returncode == 1, done.stderr
    assert [json.loads(line)["control"] for line in done.stdout.splitlines()] == ["RBAC-05"]
    assert done.stderr == ""


def test_the_other_commands_do_not_load_the_pack() -> None:
    program = "import sys, lantau.cli; sys.exit(any(name.startswith(('policies', 'pulumi')) for name in sys.modules))"
    assert run_installed("-c", program).returncode == 0


def test_a_reader_that_leaves_early_sees_no_traceback(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", *[role(grant("", "secrets", "list"), name=f"role-{n}") for n in range(2000)])
    command = f"{sys.executable} -m lantau policy-check --json {tmp_path} | head -n 1"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_the_help_says_what_the_fields_and_exit_codes_mean() -> None:
    told = " ".join(check_text("--help").out.split())
    for word in (*FIELDS, "Exit", "stdin"):
        assert word in told
