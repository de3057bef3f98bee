"""A sandbox of its own for the session, deleted at the end; nothing is skipped when it cannot be had."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.cluster import Sandbox

Kubectl = Callable[..., str]
Eventually = Callable[..., None]


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox with its default nodes and add-ons, shared by the tests of the session: they must not take it down."""
    _sweep(tmp_path_factory.getbasetemp().parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        made = Sandbox(f"test-{os.getpid()}")
        try:
            made.up()
            yield made
        finally:
            made.delete()


def _sweep(temporary: Path) -> None:
    """End the sandboxes of sessions that were killed: their fixtures had no chance to."""
    for folder in temporary.glob("**/state*/lantau/test-*"):
        pid = folder.name.removeprefix("test-")
        if pid.isdigit() and not Path("/proc", pid).exists():
            Sandbox(folder.name, home=folder.parent).delete()


@pytest.fixture(scope="session")
def kubectl(sandbox: Sandbox) -> Kubectl:
    """kubectl on the session's sandbox, as its administrator or with `kubeconfig` as somebody else.

    Returns what it printed; raises CalledProcessError, with what it complained of in `stderr`.
    """
    program = Path(sys.executable).with_name("kubectl")

    def run(*arguments: str, stdin: str = "", kubeconfig: Path | None = None) -> str:
        environment = os.environ | {"KUBECONFIG": str(kubeconfig or sandbox.kubeconfig())}
        command = [str(program), *arguments]
        done = subprocess.run(
            command, input=stdin, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return done.stdout

    return run


@pytest.fixture(scope="session")
def eventually() -> Eventually:
    """Wait until a condition holds; fail, saying what was waited for, when it does not within `timeout` seconds."""

    def wait(what: str, condition: Callable[[], object], timeout: float = 30.0) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                pytest.fail(f"not within {timeout:.0f} s: {what}")
            time.sleep(0.1)

    return wait
