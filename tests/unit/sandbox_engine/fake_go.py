"""A `go` that does what a test tells it, as a real executable: the builder cannot tell the difference.

The folder of the executable holds `behaviour.json` (read at each call) and `calls.jsonl` (one line a call). Keys of
the behaviour, all optional: `version`; `stale` and `packages` for the listing; `sum` and `files` for a module that is
downloaded; and for each of the verbs `env`, `list`, `mod`, `build`
  `code`, `stderr`  fail so; with `once` only the first time
  `hang`            write half a binary, start a child, name both in `hanging.json` and wait to be ended
  `wait_for`        make the file `waiting` and go on when the named file exists
  `forget`          succeed without writing the binary
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

PROGRAM = r"""
import json, os, subprocess, sys, time
here = os.path.dirname(os.path.abspath(__file__))
def path(name): return os.path.join(here, name)
behaviour = json.load(open(path("behaviour.json")))
arguments = sys.argv[1:]
settings = {name: os.environ.get(name) for name in ("GOFLAGS", "GOTOOLCHAIN", "GOTMPDIR", "GOWORK", "GOOS")}
with open(path("calls.jsonl"), "a") as calls:
    calls.write(json.dumps({"arguments": arguments, "folder": os.getcwd(), "settings": settings}) + "\n")
verb = arguments[0]
mine = behaviour.get(verb, {})
def package(number): print(f"example.test/module/package{number}", file=sys.stderr, flush=True)
if verb == "env":
    if mine.get("code"):
        print(mine["stderr"], file=sys.stderr); sys.exit(mine["code"])
    version = behaviour.get("version", "go1.26.8")
    if "-json" not in arguments:
        print(version); sys.exit(0)
    print(json.dumps({"GOVERSION": version, "GOCACHE": path("gocache"), "GOMODCACHE": path("gomod")}))
    sys.exit(0)
if mine.get("wait_for"):
    open(path("waiting"), "w").close()
    end = time.monotonic() + 120
    while not os.path.exists(mine["wait_for"]) and time.monotonic() < end:
        time.sleep(0.02)
if mine.get("hang"):
    output = arguments[arguments.index("-o") + 1] if "-o" in arguments else path("half")
    open(output, "w").write("half a bin")
    package(1)
    child = subprocess.Popen(["sleep", "180"])
    text = json.dumps({"go": os.getpid(), "child": child.pid})
    open(path("hanging.new"), "w").write(text)
    os.rename(path("hanging.new"), path("hanging.json"))
    child.wait()
    sys.exit(1)
if mine.get("code") and not (mine.get("once") and os.path.exists(path("failed"))):
    open(path("failed"), "w").close()
    print(mine.get("stderr", ""), file=sys.stderr); sys.stderr.flush()
    if mine["code"] < 0: os.kill(os.getpid(), -mine["code"])
    sys.exit(mine["code"])
if verb == "list":
    print("go: downloading example.test/module v1.0.0", file=sys.stderr)
    stale, packages = behaviour.get("stale", 2), behaviour.get("packages", 3)
    print("\n".join(["stale"] * stale + ["cached"] * (packages - stale)))
elif verb == "mod":
    module = os.path.join(path("gomod"), "module")
    for name, text in behaviour.get("files", {}).items():
        os.makedirs(os.path.dirname(os.path.join(module, name)), exist_ok=True)
        open(os.path.join(module, name), "w").write(text)
    print(json.dumps({"Dir": module, "Sum": behaviour.get("sum", "")}))
elif verb == "build":
    package(1)
    package(2)
    output = arguments[arguments.index("-o") + 1]
    if not mine.get("forget"):
        with open(output, "w") as binary: binary.write("#!/bin/sh\necho built\n")
        os.chmod(output, 0o755)
"""


class FakeGo:
    """The handle of a test on its `go`, which lies in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        program = folder / "go"
        program.write_text(f"#!{sys.executable} -IS\n{PROGRAM}", encoding="utf-8")
        program.chmod(0o755)
        self.behave()

    def behave(self, **behaviour: Any) -> None:
        """Behave so from the next call on; without arguments, well."""
        new = self.folder / "behaviour.new"
        new.write_text(json.dumps(behaviour), encoding="utf-8")
        new.replace(self.folder / "behaviour.json")

    def calls(self, verb: str) -> list[dict[str, Any]]:
        """Its calls of that verb so far, with arguments, folder and settings."""
        path = self.folder / "calls.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [call for call in map(json.loads, lines) if call["arguments"][0] == verb]

    def search_path(self) -> str:
        """A PATH on which this is the only `go`, and no `pulumi` is."""
        return os.pathsep.join([str(self.folder), "/usr/bin", "/bin"])
