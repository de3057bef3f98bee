"""Builds that are ended, killed or run twice at once, as real processes with a checkout and a cache of their own."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sandbox
from tests.unit.sandbox_engine.fake_go import FakeGo

SOURCE = Path(sandbox.__file__).parent
PROVIDER = {
    "cmd/pulumi-resource-kubernetes/schema.json": '{ "name": "kubernetes", "description": "é" }',
    "cmd/pulumi-resource-kubernetes/terraform-mapping.json": "{ }",
}


def until(condition: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen in {seconds:.0f} s"
        time.sleep(0.02)


def running(pid: int) -> bool:
    """Whether the process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Machine:
    """Checkouts that share one cache and one `go`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.go = FakeGo(root / "go")
        self.go.behave(files=PROVIDER)
        self.cache = root / "cache" / "lantau" / "engine"
        self.started: list[subprocess.Popen[str]] = []

    def checkout(self, name: str) -> Path:
        folder = self.root / name
        ignored = shutil.ignore_patterns("__pycache__", "cluster", "host")
        shutil.copytree(SOURCE, folder / "sandbox", ignore=ignored)
        return folder

    def start(self, checkout: Path, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "sandbox.engine", *arguments],
            cwd=checkout,
            env={
                "PATH": self.go.search_path(),
                "HOME": str(self.root),
                "XDG_CACHE_HOME": str(self.root / "cache"),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def run(self, checkout: Path, *arguments: str) -> str:
        output, errors = self.start(checkout, *arguments).communicate(timeout=120)
        assert self.started[-1].returncode == 0, errors
        return output

    def hanging(self) -> dict[str, int]:
        path = self.go.folder / "hanging.json"
        until(path.exists, "the compiler's start")
        pids: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
        return pids

    def partial(self) -> list[Path]:
        return list(self.cache.glob(".partial-*"))

    def finished(self) -> list[Path]:
        return sorted(path for path in self.cache.glob("pulumi*") if path.is_dir())


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
    path = made.go.folder / "hanging.json"
    if path.exists():
        for pid in json.loads(path.read_text(encoding="utf-8")).values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ended_build_leaves_no_process_and_no_half_binary(machine: Machine, number: signal.Signals) -> None:
    checkout = machine.checkout("one")
    machine.go.behave(files=PROVIDER, build={"hang": True})
    process = machine.start(checkout, "build", "--engine")
    pids = machine.hanging()
    process.send_signal(number)
    _, errors = process.communicate(timeout=90)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    assert not running(pids["go"])
    assert not running(pids["child"])
    assert machine.partial() == []
    assert machine.finished() == []
    machine.go.behave(files=PROVIDER)
    machine.run(checkout, "build", "--engine")
    assert len(machine.finished()) == 2


def test_a_killed_build_blocks_the_next_one_only_until_its_compiler_has_ended(machine: Machine) -> None:
    checkout = machine.checkout("one")
    machine.go.behave(files=PROVIDER, build={"hang": True})
    process = machine.start(checkout, "build", "--engine")
    pids = machine.hanging()
    process.kill()
    process.communicate()
    assert machine.partial() != []
    assert machine.finished() == []
    machine.go.behave(files=PROVIDER)
    second = machine.start(checkout, "build", "--engine")
    assert second.stderr is not None
    told = second.stderr.readline()
    assert f"the compiler of an earlier build (process {process.pid}, which was killed) is still running" in told
    os.killpg(os.getpgid(pids["go"]), signal.SIGKILL)
    second.communicate(timeout=90)
    assert second.returncode == 0
    assert len(machine.finished()) == 2
    assert machine.partial() == []


def test_two_builders_share_the_work_and_the_second_says_whom_it_waits_for(machine: Machine) -> None:
    first_checkout, second_checkout = machine.checkout("one"), machine.checkout("two")
    release = machine.root / "release"
    machine.go.behave(files=PROVIDER, build={"wait_for": str(release)})
    first = machine.start(first_checkout, "build", "--engine")
    until((machine.go.folder / "waiting").exists, "the first build")
    second = machine.start(second_checkout, "build", "--engine")
    assert second.stderr is not None
    assert f"another build is running (process {first.pid}); waiting" in second.stderr.readline()
    release.touch()
    for process in (first, second):
        process.communicate(timeout=90)
        assert process.returncode == 0
    assert len(machine.go.calls("build")) == 2
    assert all((checkout / ".lantau" / "bin" / "pulumi").exists() for checkout in (first_checkout, second_checkout))


def test_another_checkout_of_the_machine_starts_without_go(machine: Machine) -> None:
    machine.run(machine.checkout("one"), "build", "--engine")
    (machine.go.folder / "go").unlink()
    second = machine.checkout("two")
    output = machine.run(second, "build", "--engine")
    assert output == f"engine: {second}/.lantau/bin/pulumi\n"


def test_an_error_is_one_message_and_code_one(machine: Machine) -> None:
    machine.go.behave(version="go1.19.8")
    process = machine.start(machine.checkout("one"), "build", "--engine")
    output, errors = process.communicate(timeout=90)
    assert process.returncode == 1
    assert output == ""
    assert errors.startswith(f"error: {machine.go.folder}/go is Go 1.19.8, too old")
    assert "Traceback" not in errors


def test_the_provider_is_compiled_with_compact_documents_that_know_their_version(machine: Machine) -> None:
    release = machine.root / "release"
    machine.go.behave(files=PROVIDER, build={"wait_for": str(release)})
    process = machine.start(machine.checkout("one"), "build", "--engine")
    until((machine.go.folder / "waiting").exists, "the build")
    stage = machine.cache / ".partial-pulumi-resource-kubernetes" / "module"
    schema = (stage / "schema-embed.json").read_text(encoding="utf-8")
    assert schema == '{"name":"kubernetes","description":"é","version":"4.25.0"}'
    assert (stage / "terraform-mapping-embed.json").read_text(encoding="utf-8") == "{}"
    release.touch()
    process.communicate(timeout=90)
    assert process.returncode == 0


def test_clean_keeps_what_the_checkout_uses_and_removes_the_rest(machine: Machine) -> None:
    first, second = machine.checkout("one"), machine.checkout("two")
    machine.run(first, "build", "--engine")
    with (second / "sandbox" / "engine" / "modules" / "pulumi-cli" / "go.sum").open("a", encoding="utf-8") as file:
        file.write("\n")
    machine.run(second, "build", "--engine")
    assert len(machine.finished()) == 3
    (machine.cache / ".partial-old").mkdir()
    (machine.cache / "somebody-elses").mkdir()
    assert machine.run(second, "clean").startswith("freed ")
    assert len(machine.finished()) == 2
    assert machine.partial() == []
    assert (machine.cache / "somebody-elses").exists()
    machine.run(second, "clean", "--all")
    assert machine.finished() == []
    assert "missing" in machine.run(second, "status")
