"""The program runner by itself, as the host starts it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.sandbox_host.engine_double import EngineDouble, engine_double

RUNNER = Path(__file__).resolve().parents[3] / "sandbox" / "host" / "run_program.py"
BAIL = 32


@dataclass
class Ended:
    code: int
    stdout: str
    stderr: str
    engine: EngineDouble

    @property
    def error(self) -> str:
        """The only error that the user is shown."""
        assert len(self.engine.errors) == 1, self.engine.errors
        return self.engine.errors[0]


def run(folder: Path, program: str, target: str | None = None) -> Ended:
    (folder / "__main__.py").write_text(program)
    with engine_double() as engine:
        settings = {
            "monitor": engine.address,
            "engine": engine.address,
            "project": "trial",
            "stack": "dev",
            "organization": "organization",
            "parallel": 2,
            "dry_run": False,
            "root_directory": str(folder),
            "pwd": str(folder),
        }
        done = subprocess.run(
            [sys.executable, "-u", str(RUNNER), json.dumps(settings), target or str(folder)],
            env=os.environ | {"PULUMI_CONFIG": "{}", "PULUMI_CONFIG_SECRET_KEYS": "[]"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    return Ended(done.returncode, done.stdout, done.stderr, engine)


def assert_only_the_users(text: str) -> None:
    for foreign in ("run_program.py", "runpy", "asyncio", f"pulumi{os.sep}runtime"):
        assert foreign not in text


def test_the_program_is_main_and_comes_first_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "service.py").write_text("WHERE = __file__\n")
    ended = run(tmp_path, "import service, sys\nprint(__name__, service.WHERE, sys.path[0], sep='\\n')\n")
    assert ended.code == 0
    assert ended.stdout.splitlines() == ["__main__", str(tmp_path / "service.py"), str(tmp_path)]


def test_modules_of_the_host_are_not_importable(tmp_path: Path) -> None:
    ended = run(tmp_path, "import children\n")
    assert ended.code == BAIL
    assert "No module named 'children'" in ended.error


def test_a_program_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("print('the other one')\n")
    assert run(tmp_path, "", str(tmp_path / "other.py")).stdout == "the other one\n"


def test_a_folder_without_a_program_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = run(tmp_path, "", str(tmp_path / "empty"))
    assert ended.code == BAIL
    assert ended.error == f"there is no program to run: {tmp_path / 'empty'} has no __main__.py"


def test_a_syntax_error_shows_the_line(tmp_path: Path) -> None:
    ended = run(tmp_path, "x = 1\ndef wrong(:\n")
    assert ended.code == BAIL
    assert f'File "{tmp_path / "__main__.py"}", line 2' in ended.error
    assert "SyntaxError" in ended.error
    assert_only_the_users(ended.error)


def test_an_exception_in_an_apply_shows_the_function_that_raised_it(tmp_path: Path) -> None:
    program = """
import pulumi

def fail(value):
    raise ValueError("in an apply")

pulumi.export("x", pulumi.Output.from_input(1).apply(fail))
"""
    ended = run(tmp_path, program)
    assert ended.code == BAIL
    assert "line 5, in fail" in ended.error
    assert "ValueError: in an apply" in ended.error
    assert_only_the_users(ended.error)


def test_the_cause_of_an_exception_is_shown_too(tmp_path: Path) -> None:
    program = """
try:
    {}["key"]
except KeyError as error:
    raise ValueError("the outer one") from error
"""
    ended = run(tmp_path, program)
    assert "KeyError: 'key'" in ended.error
    assert "direct cause" in ended.error
    assert ended.error.rstrip().endswith("ValueError: the outer one")
    assert_only_the_users(ended.error)


def test_a_run_error_in_an_apply_shows_its_message_only(tmp_path: Path) -> None:
    program = """
import pulumi

def fail(value):
    raise pulumi.RunError("a plain word")

pulumi.export("x", pulumi.Output.from_input(1).apply(fail))
"""
    ended = run(tmp_path, program)
    assert (ended.code, ended.error) == (BAIL, "a plain word")


@pytest.mark.parametrize(
    ("statement", "code"), [("sys.exit(0)", 0), ("sys.exit(9)", 9), ("sys.exit('a word')", 1), ("os._exit(4)", 4)]
)
def test_the_programs_own_exit_code_is_kept(tmp_path: Path, statement: str, code: int) -> None:
    ended = run(tmp_path, f"import os, sys\n{statement}\n")
    assert ended.code == code
    assert not ended.engine.errors
    assert "Traceback" not in ended.stderr


def test_an_interrupt_ends_the_program_without_a_trace(tmp_path: Path) -> None:
    ended = run(tmp_path, "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n")
    assert ended.code == BAIL
    assert "Traceback" not in ended.stderr
    assert not ended.engine.errors


def test_what_a_failed_program_left_undone_is_not_commented_on(tmp_path: Path) -> None:
    program = """
import asyncio, pulumi

async def fails():
    raise ValueError("nobody waits for this one")

asyncio.ensure_future(fails())
asyncio.ensure_future(asyncio.sleep(3600))
raise pulumi.RunError("stop here")
"""
    ended = run(tmp_path, program)
    assert (ended.code, ended.error) == (BAIL, "stop here")
    assert ended.stderr == ""


def test_a_python_without_the_sdk_is_told_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(RUNNER), json.dumps({"pwd": ""}), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("The Pulumi SDK cannot be imported")
    assert len(done.stderr.splitlines()) == 1
