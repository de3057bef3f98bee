"""Processes by pid file: found again when they are ours, left alone when they are not."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.cluster.keeper import rotate
from sandbox.cluster.lock import exclusive
from sandbox.cluster.process import ProcessTable, Spec, boot_id, start_ticks
from sandbox.errors import SandboxError

SLEEP = Spec("sleeper", ("/bin/sleep", "60"))


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[int]:
    with exclusive(tmp_path / "lock") as descriptor:
        yield descriptor


@pytest.fixture
def table(tmp_path: Path) -> Iterator[ProcessTable]:
    made = ProcessTable(tmp_path / "instance")
    yield made
    made.stop(made.names(), grace=1)


def test_a_started_process_is_found_with_its_command_in_a_session_of_its_own(table: ProcessTable, lock: int) -> None:
    running = table.start(SLEEP, lock)
    found = table.find("sleeper")
    assert found is not None
    assert (found.pid, found.start) == (running.pid, running.start)
    assert running.command == SLEEP.command
    assert running.fingerprint == SLEEP.fingerprint()
    assert abs(running.since - time.time()) < 10
    assert os.getsid(running.pid) == running.pid != os.getsid(0)


def test_stop_ends_it_and_forgets_it(table: ProcessTable, lock: int) -> None:
    running = table.start(SLEEP, lock)
    assert table.stop(["sleeper"]) == ["sleeper"]
    assert start_ticks(running.pid) is None
    assert table.names() == []
    assert table.stop(["sleeper"]) == []


def test_one_that_ignores_the_polite_signal_is_killed_after_its_time(table: ProcessTable, lock: int) -> None:
    stubborn = Spec("stubborn", ("/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"))
    running = table.start(stubborn, lock)
    table.wait("stubborn", lambda: "ready" in table.log("stubborn").read_text(), 10)
    table.stop(["stubborn"], grace=0.2)
    assert start_ticks(running.pid) is None


def test_one_that_was_told_to_end_is_not_counted_on_although_it_lives(
    table: ProcessTable, lock: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = table.start(SLEEP, lock)
    assert not running.ending
    # As if the command had been killed right before its signal.
    monkeypatch.setattr(signal, "pidfd_send_signal", interrupted)
    with pytest.raises(KeyboardInterrupt):
        table.stop(["sleeper"])
    monkeypatch.undo()
    found = table.find("sleeper")
    assert found is not None
    assert (found.pid, found.ending) == (running.pid, True)
    table.stop(["sleeper"])
    assert not table.start(SLEEP, lock).ending


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_recycled_pid_is_not_ours_and_is_not_ended(table: ProcessTable, lock: int) -> None:
    ours = table.start(SLEEP, lock)
    table.stop(["sleeper"])
    with subprocess.Popen(["/bin/sleep", "60"]) as stranger:
        # Both may have started within one tick of the kernel's clock; a record from before it is of neither.
        earlier = ours.start - 1
        record = {"command": [], "fingerprint": "", "boot": boot_id(), "pid": stranger.pid, "start": earlier}
        table.pid_file("sleeper").write_text(json.dumps(record))
        assert table.find("sleeper") is None
        assert table.stop(["sleeper"]) == []
        assert stranger.poll() is None
        stranger.kill()


def test_a_pid_file_from_before_a_reboot_is_stale(table: ProcessTable, lock: int) -> None:
    table.start(SLEEP, lock)
    path = table.pid_file("sleeper")
    content = path.read_text()
    path.write_text(content.replace(boot_id(), "another-boot"))
    assert table.find("sleeper") is None
    path.write_text(content)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"pid": "x"}', '{"pid": 1, "start": null, "command": []}'])
def test_a_torn_pid_file_names_nobody(table: ProcessTable, content: str) -> None:
    table.run.mkdir(parents=True)
    table.pid_file("torn").write_text(content)
    assert table.find("torn") is None
    assert table.stop(["torn"]) == []
    assert table.names() == []


def test_a_process_that_dies_while_waited_for_is_reported_with_its_last_words(table: ProcessTable, lock: int) -> None:
    table.start(Spec("short", ("/bin/sh", "-c", "sleep 0.2; echo no space left; exit 3")), lock)
    with pytest.raises(SandboxError, match=r"short has ended by itself(.|\n)*no space left"):
        table.wait("short", lambda: False, 20)


def test_a_program_that_is_not_there_is_reported(table: ProcessTable, lock: int) -> None:
    def start() -> None:
        table.start(Spec("gone", ("/no/such/program",)), lock)
        table.wait("gone", lambda: False, 20)

    with pytest.raises(SandboxError, match=r"gone (could not be started|has ended by itself)(.|\n)*/no/such/program"):
        start()


def test_one_that_never_gets_ready_is_reported_after_its_time(table: ProcessTable, lock: int) -> None:
    table.start(SLEEP, lock)
    with pytest.raises(SandboxError, match="sleeper is not ready after 0 s"):
        table.wait("sleeper", lambda: False, 0.1)


def test_only_its_own_environment_is_given_to_a_process(
    table: ProcessTable, lock: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-user")
    table.start(Spec("printer", ("/bin/sh", "-c", "env; exec sleep 60"), {"WANTED": "yes"}), lock)
    table.wait("printer", lambda: "WANTED=yes" in table.log("printer").read_text(), 10)
    assert "of-the-user" not in table.log("printer").read_text()


def test_the_fingerprint_changes_with_command_environment_and_content(tmp_path: Path) -> None:
    policy = tmp_path / "policy"
    policy.write_text("one")
    first = Spec("x", ("/bin/true",), {}, (policy,)).fingerprint()
    assert Spec("y", ("/bin/true",), {}, (policy,)).fingerprint() == first
    assert Spec("x", ("/bin/true", "-v"), {}, (policy,)).fingerprint() != first
    assert Spec("x", ("/bin/true",), {"A": "1"}, (policy,)).fingerprint() != first
    policy.write_text("two")
    assert Spec("x", ("/bin/true",), {}, (policy,)).fingerprint() != first


def test_a_second_command_waits_for_the_first_and_then_names_it(tmp_path: Path) -> None:
    with (
        exclusive(tmp_path / "lock"),
        pytest.raises(SandboxError, match=f"still works on this sandbox \\(process {os.getpid()}\\)"),
        exclusive(tmp_path / "lock", wait=0.1),
    ):
        pytest.fail("two holders of one lock")


def test_a_lock_whose_holder_was_killed_is_free(tmp_path: Path) -> None:
    code = "import sys, time; from pathlib import Path; from sandbox.cluster.lock import exclusive\n"
    code += "with exclusive(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "lock")], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGKILL)
    with exclusive(tmp_path / "lock", wait=5):
        pass


def test_a_lock_file_that_was_deleted_under_its_holder_locks_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with exclusive(path):
        path.unlink()
        with exclusive(path, wait=1):
            assert path.exists()


def test_a_large_log_is_moved_away_while_its_process_writes_on(tmp_path: Path) -> None:
    log = tmp_path / "etcd.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 100)
        assert rotate(tmp_path, 200) == []
        writer.write(b"y" * 200)
        assert rotate(tmp_path, 200) == [log]
        writer.write(b"new")
    assert log.read_bytes() == b"new"
    assert (tmp_path / "etcd.log.1").stat().st_size == 300
