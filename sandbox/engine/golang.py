"""Finding Go, running it so that it can be stopped, and saying in plain words why it failed."""

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sysconfig
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from sandbox.engine.versions import GO_SWITCHES
from sandbox.errors import SandboxError

JOBS_VARIABLE: Final = "LANTAU_BUILD_JOBS"
FLAGS: Final = ("-mod=readonly", "-trimpath", "-buildvcs=false")
# No C: as upstream builds them, so that neither a C compiler nor the machine's C library is needed.
SETTINGS: Final = {"CGO_ENABLED": "0"}
_USUAL_PLACES: Final = ("/usr/local/go/bin/go", "/usr/lib/go/bin/go", "/snap/bin/go")
# What a user may have set for work of their own, and what would change or break what is built here.
_FOREIGN: Final = ("GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOROOT", "GOBIN", "GODEBUG", "GOFIPS140")
_STOP_SECONDS: Final = 5.0
_TAIL: Final = 12

_HOW_TO_GET_GO: Final = (
    "Debian 13 and Ubuntu 24.04 or later: sudo apt install golang-go\n"
    "Debian 12: sudo apt install -t bookworm-backports golang-go\n"
    "anywhere: sudo snap install go --classic, or the archive of https://go.dev/dl unpacked to /usr/local/go"
)
_CREDENTIALS: Final = re.compile(r"://[^/@\s]+@")
_DOWNLOAD: Final = re.compile(
    r"dial tcp|no such host|i/o timeout|TLS handshake|proxyconnect|connection re(?:set|fused)|unexpected EOF"
    r"|context deadline|40[34] (?:Forbidden|Not Found)|410 Gone|50\d [A-Z]|module lookup disabled|server misbehaving"
    r"|network is unreachable|reading https?://|Get \"https?://"
)


@dataclass(frozen=True)
class Go:
    """A Go that was found: its version as (1, 26, 8), and the folders of its two caches."""

    path: Path
    version: tuple[int, ...]
    build_cache: Path
    module_cache: Path

    @property
    def text(self) -> str:
        """The version as people write it."""
        return ".".join(map(str, self.version))


def environment() -> dict[str, str]:
    """The caller's environment without what would change a build. Proxy, sum and cache settings stay the user's."""
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    # An empty GOFLAGS would let the one of the user's `go env -w` through.
    fixed = {"GOFLAGS": FLAGS[0], "GOWORK": "off", "GO111MODULE": "on", **SETTINGS}
    # Debian's Go has `local`, which refuses the newer Go that go.mod asks for; a wish in the environment is obeyed.
    return {"GOTOOLCHAIN": "auto", **kept, **fixed}


def jobs() -> int | None:
    """How many packages Go may compile at once: what LANTAU_BUILD_JOBS says, or None for as many as there are cores."""
    text = os.environ.get(JOBS_VARIABLE, "")
    if not text:
        return None
    if not text.isdigit() or int(text) < 1:
        raise SandboxError(f"{JOBS_VARIABLE} is {text!r}; a whole number from 1 is right")
    return int(text)


def required_version(go_mods: Iterable[Path]) -> tuple[int, ...]:
    """The highest version that the `go` lines of these go.mod files ask for."""
    found = (re.search(r"^go (\d+(?:\.\d+)*)", path.read_text(encoding="utf-8"), re.MULTILINE) for path in go_mods)
    return max((parse_version(match.group(1)) for match in found if match), default=GO_SWITCHES)


def parse_version(text: str) -> tuple[int, ...]:
    """`go1.26.8`, `1.26` or `go1.27rc1 X:foo` as numbers; () when there are none."""
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in match.groups() if part is not None) if match else ()


def _places() -> list[str]:
    """Where a `go` may be: in this environment, if `make` had to put one there, on PATH, or in a usual place."""
    own = Path(sysconfig.get_path("purelib")) / "go" / "bin" / "go"
    return [str(own), *filter(None, [shutil.which("go")]), *_USUAL_PLACES]


def find_go(required: tuple[int, ...]) -> Go:
    """The `go` of the environment, on PATH, or in its usual place; SandboxError when there is none or it is too old."""
    wanted = ".".join(map(str, required))
    path = next((place for place in _places() if os.access(place, os.X_OK)), None)
    if path is None:
        raise SandboxError(
            f"no go on PATH, and Go {wanted} is needed to build the engine; get it with\n{_HOW_TO_GET_GO}"
        )
    command = [path, "env", "-json", "GOVERSION", "GOCACHE", "GOMODCACHE"]
    try:
        # The root folder lies in no module, so that Go answers for itself and not for a newer one that it would fetch.
        answer = subprocess.run(
            command, cwd="/", env=environment(), capture_output=True, text=True, timeout=60, check=True
        )
        values = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        text = getattr(error, "stderr", None) or str(error)
        raise SandboxError(
            f"{path} does not work: {_clean(text).strip()[-300:]}; get another Go with\n{_HOW_TO_GET_GO}"
        ) from error
    version = parse_version(str(values.get("GOVERSION", "")))
    if version < GO_SWITCHES:
        have = ".".join(map(str, version)) or "of unknown version"
        raise SandboxError(
            f"{path} is Go {have}, too old: Go {wanted} is needed, or any from 1.21 on, which fetches that itself; "
            f"get it with\n{_HOW_TO_GET_GO}"
        )
    return Go(Path(path), version, Path(values["GOCACHE"]), Path(values["GOMODCACHE"]))


def run_go(
    go: Go,
    arguments: Sequence[str],
    folder: Path,
    lock: int,
    on_error_line: Callable[[str], None],
    tick: Callable[[], None],
) -> str:
    """Run `go` in `folder`, with its temporary files below the folder beside it, and return its standard output.

    `on_error_line` gets each line of standard error as it comes, `tick` is called several times a second. Go and its
    compilers form a process group of their own, which is ended when anything is raised here, Ctrl-C above all. They
    hold `lock` too. SandboxError says why Go failed.
    """
    command = [str(go.path), *arguments]
    # Not in /tmp, which may be small or memory; and what a killed build leaves there is swept with all the rest.
    temporary = folder.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environment(), "GOTMPDIR": str(temporary)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            pass_fds=(lock,),
        )
    except OSError as error:
        raise SandboxError(f"{go.path} cannot be started: {error.strerror}") from error
    tail: deque[str] = deque(maxlen=200)
    output: list[str] = []
    try:
        for stream, line in _lines(process, tick):
            if stream == "out":
                output.append(line)
            else:
                tail.append(line.rstrip("\n"))
                on_error_line(line.rstrip("\n"))
        code = process.wait()
    except BaseException:
        _stop(process)
        raise
    if code != 0:
        raise SandboxError(explain(go, arguments, code, tail))
    return "".join(output)


def explain(go: Go, arguments: Sequence[str], code: int, lines: Iterable[str]) -> str:
    """Why Go ended with `code` after `lines`, and what helps."""
    told = [_clean(line) for line in lines if line.strip() and not line.startswith("go: downloading ")]
    text, last = "\n".join(told), "\n".join(f"  {line}" for line in told[-_TAIL:])
    if "no space left on device" in text:
        return (
            f"the disk became full: make room in {go.build_cache} (GOCACHE moves it), {go.module_cache} (GOMODCACHE "
            "moves it) or the cache of Lantau (XDG_CACHE_HOME moves it) and start again: what is done is kept"
        )
    if code == -signal.SIGKILL or "signal: killed" in text:
        return (
            "the compiler was killed, most likely because memory ran out: about 5 GB must be free. End other programs, "
            f"or set {JOBS_VARIABLE}=1 to compile one package at a time, and start again: what is done is kept"
        )
    if "checksum mismatch" in text or "SECURITY ERROR" in text:
        return f"a downloaded module is not the one that was checked into this project; nothing of it was used\n{last}"
    if "toolchain not available" in text or "go.mod requires go" in text or "cannot find GOROOT" in text:
        return (
            f"Go {go.text} could not get the newer Go that is needed; get it with\n{_HOW_TO_GET_GO}\nGo said:\n{last}"
        )
    if _DOWNLOAD.search(text):
        return (
            "a Go module could not be downloaded; see that this machine reaches the module proxy (GOPROXY names it, "
            f"`go env GOPROXY` shows it) and start again: what is done is kept. Go said:\n{last}"
        )
    if "updates to go.mod needed" in text or "missing go.sum entry" in text:
        return f"go.mod and go.sum of this checkout do not fit together; restore them from git\n{last}"
    return f"`go {arguments[0]}` ended with {code}\n{last}"


def is_download_failure(error: SandboxError) -> bool:
    """Whether the error is one of the network, for which another try makes sense."""
    text = str(error)
    return "could not be downloaded" in text and not re.search(r"40[34] |410 Gone|module lookup disabled", text)


def _lines(process: subprocess.Popen[str], tick: Callable[[], None]) -> Iterable[tuple[str, str]]:
    arrived: queue.SimpleQueue[tuple[str, str | None]] = queue.SimpleQueue()

    def pump(name: str, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                arrived.put((name, line))
        arrived.put((name, None))

    streams = (("out", process.stdout), ("err", process.stderr))
    for name, stream in streams:
        if stream is not None:
            threading.Thread(target=pump, args=(name, stream), daemon=True).start()
    open_streams = len(streams)
    while open_streams:
        try:
            name, line = arrived.get(timeout=0.2)
        except queue.Empty:
            pass
        else:
            if line is None:
                open_streams -= 1
            else:
                yield name, line
        tick()


def _stop(process: subprocess.Popen[str]) -> None:
    """End the whole group: gently first, so that Go removes its temporary files; at once on a second Ctrl-C."""
    try:
        _signal(process, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
    finally:
        _signal(process, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _clean(text: str) -> str:
    """Without the user name and password that a proxy's address may hold."""
    return _CREDENTIALS.sub("://", text)
