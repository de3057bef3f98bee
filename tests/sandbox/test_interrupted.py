"""Ctrl-C and kill -9 at any moment of `up`: it ends quietly, and the same command continues. The tests run in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.cluster import Sandbox
from tests.sandbox.terminal import Terminal
from workflow.orphans import PROVIDER
from workflow.target import engine

PROJECT = Path(__file__).parents[2]
Run = Callable[[str], Terminal]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the sandbox of these tests keeps its state; that of the developer may run beside it."""
    for left in tmp_path_factory.getbasetemp().parent.glob("*/interrupted-*/lantau"):
        if not Path("/proc", left.parent.name.split("-")[1]).exists():
            Sandbox("sandbox", home=left).delete()
    folder = tmp_path_factory.mktemp(f"interrupted-{os.getpid()}-")
    engine()
    yield folder / "lantau"
    Sandbox("sandbox", home=folder / "lantau").delete()


@pytest.fixture
def run(home: Path) -> Iterator[Run]:
    """Start a command of the workflow on a terminal."""
    made = []

    def start(command: str) -> Terminal:
        # No kubeconfig of the developer's may hold the context of a stack that is previewed.
        environment = os.environ | {"XDG_STATE_HOME": str(home.parent), "KUBECONFIG": os.devnull}
        terminal = Terminal([sys.executable, "-m", "workflow", *command.split()], PROJECT, environment)
        made.append(terminal)
        return terminal

    yield start
    for terminal in made:
        terminal.close()


def namespace_exists(home: Path) -> bool:
    api = Sandbox("sandbox", home=home).api()
    try:
        return api.get("/api/v1/namespaces/lantau-business") is not None
    finally:
        api.close()


def loads(terminal: Terminal) -> bool:
    """It is in the midst of loading its modules: one of the last is there, and nothing is printed yet."""
    try:
        return "pydantic_core" in Path(f"/proc/{terminal.process.pid}/maps").read_text()
    except OSError:
        return False


def assert_quiet(terminal: Terminal) -> None:
    for word in ("Traceback", "KeyboardInterrupt", "panic:", "goroutine ", "exited prematurely"):
        assert word not in terminal.text, terminal.text[-4000:]


def interrupt(terminal: Terminal, what: str, moment: Callable[[], object]) -> None:
    terminal.wait_until(what, moment)
    terminal.press_ctrl_c()
    assert terminal.end() != 0
    assert_quiet(terminal)


def test_ctrl_c_while_it_loads(run: Run) -> None:
    terminal = run("up")
    interrupt(terminal, "its modules are loaded", lambda: loads(terminal))


def test_ctrl_c_while_the_sandbox_starts(run: Run) -> None:
    terminal = run("up")
    interrupt(terminal, "the sandbox starts", lambda: "sandbox: starting etcd" in terminal.text)


def test_ctrl_c_while_the_controllers_start(run: Run) -> None:
    terminal = run("up")
    interrupt(terminal, "the controllers start", lambda: "sandbox: starting the controllers" in terminal.text)


def test_ctrl_c_in_the_preview(run: Run, home: Path) -> None:
    terminal = run("up")
    interrupt(terminal, "the preview shows resources", lambda: "baseline" in terminal.text)
    assert "was interrupted" in terminal.text
    assert not namespace_exists(home)


def test_ctrl_c_in_the_update(run: Run, home: Path) -> None:
    terminal = run("up")
    terminal.wait_until("the update begins", lambda: "Updating" in terminal.text)
    interrupt(terminal, "the update has made a namespace", lambda: namespace_exists(home))
    assert "was interrupted" in terminal.text


def test_the_same_command_then_succeeds(run: Run) -> None:
    terminal = run("up")
    assert terminal.end() == 0, terminal.text[-4000:]
    assert "look further" in terminal.text


@pytest.mark.parametrize("moment", ["sandbox: starting etcd", "baseline"])
def test_ctrl_c_in_a_preview_on_a_stand_in_leaves_nothing_of_it(run: Run, home: Path, moment: str) -> None:
    terminal = run("preview --stack hk-test")
    interrupt(terminal, f"it says {moment}", lambda: moment in terminal.text)
    assert [path.name for path in home.iterdir() if path.name.startswith("preview-")] == []


def test_a_killed_update_is_continued(run: Run, home: Path) -> None:
    """A lock of the dead is left behind, and operations of which nobody knows whether they were done."""
    assert run("destroy").end() == 0
    terminal = run("up")
    terminal.wait_until("the update begins", lambda: "Updating" in terminal.text)
    terminal.wait_until("the update has made a namespace", lambda: namespace_exists(home))
    terminal.kill()
    # The provider of Kubernetes looks only every five minutes whether its engine still lives; the next command ends it.
    assert terminal.end(but=PROVIDER) != 0
    assert list((home / "sandbox" / "pulumi").glob(".pulumi/locks/**/*.json"))

    again = run("up")
    assert again.end() == 0, again.text[-4000:]
    assert_quiet(again)
    assert terminal.end() != 0, "nothing of the killed command is left"

    unchanged = run("up")
    assert unchanged.end() == 0
    assert "no changes" in unchanged.text
