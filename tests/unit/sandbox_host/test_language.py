"""The language host as the engine sees it: a process that prints a port and answers calls."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import language_pb2 as language
from pulumi.runtime.proto import language_pb2_grpc

from tests.unit.sandbox_host.engine_double import EngineDouble, engine_double

CHECKOUT = Path(__file__).resolve().parents[3]
VIRTUALENV = Path(sys.prefix)
LIMIT = 60.0


@dataclass
class Host:
    process: "subprocess.Popen[str]"
    stub: Any
    engine: EngineDouble
    address: str

    def info(self, folder: Path, **options: str) -> Any:
        given = struct_pb2.Struct()
        given.update({"virtualenv": str(VIRTUALENV)} | options)
        return language.ProgramInfo(
            root_directory=str(folder), program_directory=str(folder), entry_point=".", options=given
        )

    def request(self, folder: Path, **fields: Any) -> Any:
        return language.RunRequest(
            info=self.info(folder, **fields.pop("options", {})),
            project="trial",
            stack="dev",
            pwd=str(folder),
            parallel=4,
            monitor_address=self.engine.address,
            **fields,
        )

    def run(self, folder: Path, program: str, **fields: Any) -> Any:
        (folder / "__main__.py").write_text(program)
        return self.stub.Run(self.request(folder, **fields), timeout=LIMIT)


@contextmanager
def running() -> Iterator[Host]:
    """A host in a group of its own, as the engine starts it; it must end without a word when it is interrupted."""
    with engine_double() as engine:
        process = subprocess.Popen(
            [sys.executable, "-m", "sandbox.host.language", "--logflow", engine.address],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        try:
            assert process.stdout is not None
            address = f"127.0.0.1:{int(process.stdout.readline())}"
            with grpc.insecure_channel(address) as channel:
                yield Host(process, language_pb2_grpc.LanguageRuntimeStub(channel), engine, address)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=LIMIT)
            assert "Traceback" not in errors
        finally:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with running() as made:
        yield made


def eventually(what: str, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, f"not within {LIMIT:.0f} s: {what}"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def plugin(host: Host, folder: Path, text: str, *arguments: str, **fields: Any) -> Any:
    """Start a plugin; returns the stream of its output."""
    (folder / "__main__.py").write_text(text)
    environment = [f"{name}={value}" for name, value in (os.environ | {"GIVEN": "by the engine"}).items()]
    request = language.RunPluginRequest(
        info=host.info(folder, **fields),
        pwd=str(folder),
        args=[*arguments, host.engine.address],
        env=environment,
        kind="resource",
    )
    return host.stub.RunPlugin(request, timeout=LIMIT)


def collect(stream: Any) -> tuple[bytes, bytes, int]:
    out, err, code = b"", b"", -1
    for part in stream:
        out, err = out + part.stdout, err + part.stderr
        code = part.exitcode
    return out, err, code


def test_a_program_that_ends_well_is_no_error(host: Host, tmp_path: Path) -> None:
    answer = host.run(tmp_path, "import pulumi\npulumi.export('x', 1)\n")
    assert (answer.error, answer.bail) == ("", False)
    assert host.engine.outputs["x"] == 1
    assert ("pulumi:pulumi:Stack", "trial-dev") in host.engine.resources


def test_an_exit_code_is_told(host: Host, tmp_path: Path) -> None:
    answer = host.run(tmp_path, "import sys\nsys.exit(7)\n")
    assert (answer.error, answer.bail) == ("Program exited with non-zero exit code: 7", False)


def test_an_error_that_the_user_has_seen_is_not_told_twice(host: Host, tmp_path: Path) -> None:
    answer = host.run(tmp_path, "import pulumi\nraise pulumi.RunError('seen already')\n")
    assert (answer.error, answer.bail) == ("", True)
    assert "seen already" in host.engine.errors


def test_a_program_that_is_killed_is_told_by_the_signals_name(host: Host, tmp_path: Path) -> None:
    answer = host.run(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert answer.error == "Program was ended by SIGKILL"


def test_config_and_its_secret_keys_reach_the_program(host: Host, tmp_path: Path) -> None:
    program = """
import pulumi
for name in ("open", "hidden"):
    pulumi.export(name, pulumi.Config().require(name))
    pulumi.export(name + "_secret", pulumi.runtime.is_config_secret("trial:" + name))
pulumi.export("preview", pulumi.runtime.is_dry_run())
"""
    config = {"trial:open": "1", "trial:hidden": "2"}
    host.run(tmp_path, program, config=config, configSecretKeys=["trial:hidden"], dryRun=True)
    told = {name: host.engine.outputs[name] for name in ("open", "hidden", "open_secret", "hidden_secret", "preview")}
    assert told == {"open": "1", "hidden": "2", "open_secret": False, "hidden_secret": True, "preview": True}


def test_config_never_reaches_the_command_line(host: Host, tmp_path: Path) -> None:
    program = "import pulumi\npulumi.export('line', open('/proc/self/cmdline').read())\n"
    host.run(tmp_path, program, config={"trial:key": "do-not-show"}, configSecretKeys=["trial:key"])
    assert "do-not-show" not in host.engine.outputs["line"]


def test_config_that_is_too_large_for_the_system_is_told(host: Host, tmp_path: Path) -> None:
    answer = host.run(tmp_path, "", config={"trial:key": "x" * 200_000})
    assert "config and environment are larger than the system passes on" in answer.error


def test_arguments_and_the_program_in_a_subfolder(host: Host, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "beside.py").write_text("WORD = 'beside'\n")
    (tmp_path / "inner" / "__main__.py").write_text(
        "import beside, os, pulumi, sys\npulumi.export('seen', [beside.WORD, os.getcwd(), *sys.argv[1:]])\n"
    )
    request = host.request(tmp_path, args=["one", "two"])
    request.info.entry_point = "inner"
    assert host.stub.Run(request, timeout=LIMIT).error == ""
    assert list(host.engine.outputs["seen"]) == ["beside", str(tmp_path), "one", "two"]


def test_a_missing_environment_is_told_by_run(host: Host, tmp_path: Path) -> None:
    answer = host.run(tmp_path, "", options={"virtualenv": "env"})
    assert f"the virtual environment {tmp_path / 'env'}" in answer.error
    assert "python3 -m venv" in answer.error


def test_an_option_that_would_be_ignored_is_refused(host: Host, tmp_path: Path) -> None:
    answer = host.run(tmp_path, "", options={"typechecker": "mypy"})
    assert "runtime.options.typechecker" in answer.error


def test_a_plugins_output_streams_and_its_code_comes_last(host: Host, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    stream = plugin(
        host,
        tmp_path,
        f"""
import os, sys, time
print("port", sys.argv[1:], os.environ["GIVEN"], os.getcwd())
while not os.path.exists({str(gate)!r}):
    time.sleep(0.02)
print("complaint", file=sys.stderr)
sys.exit(5)
""",
        "--flag",
    )
    first = b""
    while b"\n" not in first:
        first += next(stream).stdout
    assert first.decode() == f"port ['--flag', '{host.engine.address}'] by the engine {tmp_path}\n"
    gate.touch()
    out, err, code = collect(stream)
    assert (out, err, code) == (b"", b"complaint\n", 5)


def test_much_output_arrives_whole(host: Host, tmp_path: Path) -> None:
    text = "import sys\nsys.stdout.write('x' * 3_000_000)\nsys.stderr.write('y' * 1_000_000)\n"
    out, err, code = collect(plugin(host, tmp_path, text))
    assert (len(out), len(err), code) == (3_000_000, 1_000_000, 0)


def test_a_call_that_is_cancelled_ends_the_plugin(host: Host, tmp_path: Path) -> None:
    stream = plugin(host, tmp_path, "import os, time\nprint(os.getpid())\ntime.sleep(600)\n")
    pid = int(next(stream).stdout)
    stream.cancel()
    eventually("the plugin has ended", lambda: not alive(pid))


def test_a_plugin_that_ignores_the_request_to_end_is_killed(host: Host, tmp_path: Path) -> None:
    text = (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(os.getpid())\ntime.sleep(600)\n"
    )
    stream = plugin(host, tmp_path, text)
    pid = int(next(stream).stdout)
    stream.cancel()
    eventually("the plugin has ended", lambda: not alive(pid))


def test_output_that_a_grandchild_holds_open_does_not_hold_the_call(host: Host, tmp_path: Path) -> None:
    text = "import subprocess\nprint(subprocess.Popen(['sleep', '600']).pid)\n"
    out, _, code = collect(plugin(host, tmp_path, text))
    assert code == 0
    os.kill(int(out), signal.SIGKILL)


def test_a_plugin_without_its_environment_says_how_to_make_it(host: Host, tmp_path: Path) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        collect(plugin(host, tmp_path, "", virtualenv="env"))
    assert raised.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert f"the virtual environment {tmp_path / 'env'}" in raised.value.details()


def test_about_and_dependencies_come_from_the_programs_environment(host: Host, tmp_path: Path) -> None:
    info = host.info(tmp_path)
    about = host.stub.About(language.AboutRequest(info=info))
    assert about.executable == str(VIRTUALENV / "bin" / "python")
    assert about.version == ".".join(map(str, sys.version_info[:3]))
    all_of_them, top = (
        {
            entry.name: entry.version
            for entry in host.stub.GetProgramDependencies(
                language.GetProgramDependenciesRequest(info=info, transitiveDependencies=transitive)
            ).dependencies
        }
        for transitive in (True, False)
    )
    assert all_of_them["grpcio"] == grpc.__version__
    assert "grpcio" not in top, "pulumi requires it"
    assert set(top) < set(all_of_them)


def test_no_provider_is_announced(host: Host, tmp_path: Path) -> None:
    answer = host.stub.GetRequiredPackages(language.GetRequiredPackagesRequest(info=host.info(tmp_path)))
    assert not answer.packages


def test_installing_names_the_environment(host: Host, tmp_path: Path) -> None:
    request = language.InstallDependenciesRequest(info=host.info(tmp_path))
    assert b"".join(part.stdout for part in host.stub.InstallDependencies(request)) == (
        f"Using the Python environment {VIRTUALENV}\n".encode()
    )


@pytest.mark.parametrize("call", ["Pack", "Link", "GenerateProgram", "GenerateProject", "GeneratePackage"])
def test_what_running_does_not_need_is_not_implemented(host: Host, call: str) -> None:
    request = getattr(language, f"{call}Request")()
    with pytest.raises(grpc.RpcError) as raised:
        getattr(host.stub, call)(request)
    assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_cancelled_program_ends_and_the_next_one_runs(tmp_path: Path) -> None:
    with running() as host:
        ready = tmp_path / "ready"
        (tmp_path / "__main__.py").write_text(f"import time\nopen({str(ready)!r}, 'w').close()\ntime.sleep(600)\n")
        call = host.stub.Run.future(host.request(tmp_path), timeout=LIMIT)
        eventually("the program runs", ready.exists)
        host.stub.Cancel(empty_pb2.Empty())
        assert (call.result().error, call.result().bail) == ("", True)
        assert host.run(tmp_path, "").bail is False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_host_that_ends_takes_its_children_along(tmp_path: Path, number: signal.Signals) -> None:
    with running() as host:
        stream = plugin(host, tmp_path, "import os, time\nprint(os.getpid())\ntime.sleep(600)\n")
        child = int(next(stream).stdout)
        os.killpg(host.process.pid, number)
        host.process.wait(timeout=LIMIT)
        eventually("the plugin has ended", lambda: not alive(child))
        stream.cancel()
    if number is not signal.SIGKILL:
        assert host.process.returncode == 0


def test_a_host_whose_engine_was_killed_ends(tmp_path: Path) -> None:
    script = """
import json, subprocess, sys, time
host = subprocess.Popen([sys.executable, "-m", "sandbox.host.language", "127.0.0.1:1"], stdout=subprocess.PIPE)
host.stdout.readline()
print(json.dumps(host.pid), flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        pid = json.loads(engine.stdout.readline())
        engine.kill()
        eventually("the host has ended", lambda: not alive(pid))


def test_a_message_of_a_hundred_megabytes_is_taken(host: Host, tmp_path: Path) -> None:
    request = language.GetRequiredPackagesRequest(info=host.info(tmp_path))
    request.info.options.update({"filler": "x" * 100_000_000})
    with grpc.insecure_channel(host.address, options=[("grpc.max_send_message_length", -1)]) as channel:
        language_pb2_grpc.LanguageRuntimeStub(channel).GetRequiredPackages(request, timeout=LIMIT)
