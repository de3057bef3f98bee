"""Providers of an engine that was killed are ended, and nobody else's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox.engine import Engine, links
from workflow.orphans import PROVIDER, end_orphans

START = """\
import subprocess, sys
print(subprocess.Popen([sys.argv[1], "600"]).pid, flush=True)
input()
"""
Start = Callable[[str, Path], tuple[int, "subprocess.Popen[bytes]"]]


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that sleeps, installed as a provider of our engine."""
    monkeypatch.setattr(links, "CHECKOUT", tmp_path)
    path = links.home_folder() / "plugins" / "resource-kubernetes-v1.0.0" / PROVIDER
    path.parent.mkdir(parents=True)
    cached = shutil.copy(shutil.which("sleep") or "", tmp_path / PROVIDER)
    path.symlink_to(cached)
    return path


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a program below a parent of some name; gives its number and the parent."""
    parents, children = [], []

    def run(parent: str, program: Path) -> tuple[int, subprocess.Popen[bytes]]:
        script = tmp_path / "parents" / parent
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!{sys.executable} -IS\n{START}")
        script.chmod(0o755)
        made = subprocess.Popen([script, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert made.stdout is not None
        parents.append(made)
        children.append(int(made.stdout.readline()))
        return children[-1], made

    yield run
    for pid in children:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for parent in parents:
        parent.kill()
        parent.communicate()


def ours(provider: Path) -> Engine:
    return Engine(provider.parent / "pulumi", provider.parent, built=True)


def test_a_provider_whose_engine_was_killed_is_ended(provider: Path, start: Start) -> None:
    pid, parent = start("pulumi", provider)
    parent.kill()
    parent.wait()
    assert end_orphans(ours(provider)) == [pid]


def test_a_provider_of_a_living_engine_goes_on(provider: Path, start: Start) -> None:
    pid, _ = start("pulumi", provider)
    assert end_orphans(ours(provider)) == []
    os.kill(pid, 0)


def test_another_program_of_the_same_name_goes_on(provider: Path, start: Start, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    pid, parent = start("pulumi", Path(shutil.copy(provider, tmp_path / "elsewhere" / PROVIDER)))
    parent.kill()
    parent.wait()
    assert end_orphans(ours(provider)) == []
    os.kill(pid, 0)


def test_providers_of_the_users_own_engine_are_none_of_our_business(provider: Path, start: Start) -> None:
    pid, parent = start("pulumi", provider)
    parent.kill()
    parent.wait()
    assert end_orphans(Engine(provider.parent / "pulumi", None, built=False)) == []
    os.kill(pid, 0)
