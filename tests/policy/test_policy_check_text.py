"""What people read: findings by file and object with their remedy, a closing count, colours on terminals only."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from policies.least_privilege.rbac.no_secret_read import RULE
from tests.policy.checking import BAD, CLEAN, check_text, text, write
from tests.policy.manifests import deployment, grant, pod_spec, role
from tests.policy.networks import net_policy

ROOT = Path(__file__).resolve().parents[2]


def test_findings_stand_below_their_file_and_object_with_the_remedy(tmp_path: Path) -> None:
    two = role(grant("", "secrets", "list"), grant("", "secrets", "watch"), name="two")
    file = write(tmp_path / "a.yaml", CLEAN, two)
    lines = check_text(file).out.splitlines()
    assert lines[0] == str(file)
    assert lines[1].split() == ["Role", "two", "document", "2"]
    assert lines[2].split() == ["mandatory", "critical", RULE.control, RULE.name]
    assert lines[3].startswith("      rules[0]: ")
    assert lines[4].startswith("      rules[1]: ")
    assert RULE.fix in lines[5]
    assert RULE.url in lines[5]
    assert lines[-1] == "2 findings (2 mandatory) in 2 objects of 1 file."


def test_findings_of_one_object_stand_together(tmp_path: Path) -> None:
    spec = pod_spec(hostNetwork=True, automountServiceAccountToken=True)
    out = check_text(write(tmp_path / "a.yaml", deployment(spec), BAD, deployment(spec))).out
    assert [
        line.split()[-1] for line in out.splitlines() if line.endswith(("document 1", "document 2", "document 3"))
    ] == [
        "1",
        "2",
        "3",
    ]


def test_a_clean_run_says_what_was_judged(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", CLEAN, {"apiVersion": "v1", "kind": "List", "items": [CLEAN, CLEAN]})
    write(tmp_path / "b.yaml", CLEAN)
    assert check_text(tmp_path).out == "No findings in 4 objects of 2 files.\n"


def test_the_count_tells_of_files_that_could_not_be_judged(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", CLEAN)
    text(tmp_path / "b.yaml", "a: [")
    found = check_text(tmp_path)
    assert found.code == 2
    assert found.out == "No findings in 1 object of 2 files; 1 file could not be judged whole.\n"


def test_levels_are_counted(tmp_path: Path) -> None:
    config = text(tmp_path / "c.yaml", "rbac-no-secret-read: advisory\n")
    spec = pod_spec(hostNetwork=True)
    found = check_text(write(tmp_path / "a.yaml", BAD, deployment(spec), net_policy()), "--config", config)
    assert " advisory" in found.out.splitlines()[-1]
    assert " mandatory" in found.out.splitlines()[-1]


def test_names_cannot_command_the_terminal(tmp_path: Path) -> None:
    manifest = {**BAD, "metadata": {"name": "a\x1b[2Jb\u202ec"}}
    out = check_text(write(tmp_path / "a.yaml", manifest)).out
    assert "a\ufffd[2Jb\ufffdc" in out
    assert "\x1b" not in out


def on_a_terminal(*arguments: str) -> str:
    """Output of the command on a terminal of its own."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "lantau", "policy-check", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    seen = b""
    try:
        while part := os.read(leader, 65536):
            seen += part
    except OSError:
        pass  # On Linux the end of a terminal is an error.
    finally:
        os.close(leader)
        process.wait(timeout=60)
    return seen.decode()


def test_a_terminal_gets_colours_and_progress(tmp_path: Path) -> None:
    for number in range(60):
        text(tmp_path / f"{number}.yaml", yaml.safe_dump(BAD))
    seen = on_a_terminal(str(tmp_path))
    assert "\x1b[1;31mmandatory" in seen
    assert "judging" in seen
    assert "60/60" in seen
    assert seen.count("RBAC-05") == 60


def test_few_files_need_no_progress(tmp_path: Path) -> None:
    assert "judging" not in on_a_terminal(str(write(tmp_path / "a.yaml", BAD)))
