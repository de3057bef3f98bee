"""Building: what is asked of Go, what is kept, and what the user is told when it fails."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import build, golang
from sandbox.engine.cache import Store
from sandbox.engine.versions import Tool
from sandbox.errors import SandboxError
from tests.unit.sandbox_engine.conftest import Lines
from tests.unit.sandbox_engine.fake_go import FakeGo

Make = Callable[[str], Tool]


def leftovers(store: Store) -> list[str]:
    return [path.name for path in store.root.glob(".*")]


def test_a_missing_tool_is_built_and_found(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    tool = make_tool("alpha")
    assert build.binary(store, tool) is None
    build.build(store, [tool], lines.reporter())
    path = build.binary(store, tool)
    assert path is not None
    assert path.read_text(encoding="utf-8").startswith("#!/bin/sh")
    about = store.about(path.parent)
    assert about is not None
    assert (about["version"], about["go"]) == ("v1.2.3", "1.26.8")
    assert leftovers(store) == []


def test_a_second_build_does_not_even_ask_for_go(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.build(store, [make_tool("alpha")], lines.reporter())
    monkeypatch.setenv("PATH", "")
    lines.told.clear()
    build.build(store, [make_tool("alpha")], lines.reporter())
    assert lines.told == []


def test_go_may_change_no_pinned_version_and_obeys_no_flags_of_the_user(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=mod -race")
    monkeypatch.setenv("GOOS", "plan9")
    monkeypatch.setenv("GOWORK", "/somewhere/go.work")
    build.build(store, [make_tool("alpha")], lines.reporter())
    (call,) = go.calls("build")
    for flag in ("-mod=readonly", "-trimpath", "-ldflags=-s -w -X=example.test/alpha.version=v1.2.3"):
        assert flag in call["arguments"]
    assert call["settings"]["GOFLAGS"] == "-mod=readonly"
    assert call["settings"]["GOOS"] is None
    assert call["settings"]["GOWORK"] == "off"
    assert call["settings"]["GOTOOLCHAIN"] == "auto"


def test_the_checkout_is_not_written_to(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    before = sorted(path.relative_to(store.modules) for path in store.modules.rglob("*"))
    build.build(store, [make_tool("alpha")], lines.reporter())
    assert sorted(path.relative_to(store.modules) for path in store.modules.rglob("*")) == before
    for call in [*go.calls("list"), *go.calls("build")]:
        for folder in (call["folder"], call["settings"]["GOTMPDIR"]):
            assert Path(folder).is_relative_to(store.root)


@pytest.mark.parametrize("name", ["go.mod", "go.sum", "main.go"])
def test_a_changed_module_is_built_again(go: FakeGo, store: Store, lines: Lines, make_tool: Make, name: str) -> None:
    tool = make_tool("alpha")
    build.build(store, [tool], lines.reporter())
    with (store.modules / "alpha" / name).open("a", encoding="utf-8") as file:
        file.write("// changed\n")
    assert build.binary(store, tool) is None


def test_changed_flags_are_another_program(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    tool = make_tool("alpha")
    build.build(store, [tool], lines.reporter())
    assert build.binary(store, replace(tool, symbols=())) is None


@pytest.mark.parametrize("harm", ["truncated", "deleted", "no notes", "not executable"])
def test_a_program_that_is_not_whole_is_built_again(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make, harm: str
) -> None:
    tool = make_tool("alpha")
    build.build(store, [tool], lines.reporter())
    path = build.binary(store, tool)
    assert path is not None
    if harm == "truncated":
        path.write_text("#!", encoding="utf-8")
    elif harm == "deleted":
        path.unlink()
    elif harm == "no notes":
        (path.parent / "about.json").write_text("{", encoding="utf-8")
    else:
        path.chmod(0o644)
    assert build.binary(store, tool) is None
    build.build(store, [tool], lines.reporter())
    assert build.binary(store, tool) == path


def test_what_was_finished_before_a_failure_is_not_built_again(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make
) -> None:
    tools = [make_tool("alpha"), make_tool("beta")]
    build.build(store, tools[:1], lines.reporter())
    go.behave(build={"code": 1, "stderr": "main.go:3: undefined: x"})
    with pytest.raises(SandboxError, match=r"`go build` ended with 1\n  main\.go:3: undefined: x"):
        build.build(store, tools, lines.reporter())
    assert build.binary(store, tools[0])
    assert leftovers(store) == []
    go.behave()
    build.build(store, tools, lines.reporter())
    built = [call["arguments"][-1] for call in go.calls("build")]
    assert built == ["example.test/alpha/cmd", "example.test/beta/cmd", "example.test/beta/cmd"]


@pytest.mark.parametrize(
    ("verb", "behaviour", "told"),
    [
        ("build", {"code": 1, "stderr": "link: signal: killed"}, "memory ran out.*LANTAU_BUILD_JOBS=1"),
        ("build", {"code": -9}, "memory ran out"),
        (
            "build",
            {"code": 1, "stderr": "write /t/b001: no space left on device"},
            "disk became full.*GOCACHE.*XDG_CACHE_HOME",
        ),
        (
            "list",
            {"code": 1, "stderr": "go: x@v1: verifying module: checksum mismatch"},
            "not the one that was checked",
        ),
        ("list", {"code": 1, "stderr": "go: x@v1: reading https://p/x: 403 Forbidden"}, "GOPROXY.*403 Forbidden"),
        ("list", {"code": 1, "stderr": "go: updates to go.mod needed"}, "do not fit together"),
        ("list", {"code": 1, "stderr": "go: download go1.26.6: toolchain not available"}, "newer Go.*apt install"),
        ("build", {"forget": True}, "there is none"),
    ],
)
def test_each_failure_of_go_says_what_helps(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make, verb: str, behaviour: dict[str, Any], told: str
) -> None:
    go.behave(**{verb: behaviour})
    with pytest.raises(SandboxError) as caught:
        build.build(store, [make_tool("alpha")], lines.reporter())
    assert re.search(told, str(caught.value), re.DOTALL)
    assert "Traceback" not in str(caught.value)
    assert leftovers(store) == []


def test_a_broken_connection_is_tried_again(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    go.behave(list={"code": 1, "once": True, "stderr": "go: x@v1: Get https://p/x: dial tcp: i/o timeout"})
    build.build(store, [make_tool("alpha")], lines.reporter())
    assert "a download failed, trying again (1 of 2)" in lines.text
    assert build.binary(store, make_tool("alpha"))


def test_a_refused_module_is_not_asked_for_again(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    go.behave(list={"code": 1, "stderr": "go: x@v1: reading https://p/x: 403 Forbidden"})
    with pytest.raises(SandboxError):
        build.build(store, [make_tool("alpha")], lines.reporter())
    assert len(go.calls("list")) == 1


def test_the_password_of_a_proxy_is_not_shown(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    text = "go: x@v1: Get https://user:s3cret@proxy.test/x: dial tcp: no such host"
    go.behave(list={"code": 1, "stderr": text})
    with pytest.raises(SandboxError, match=r"proxy\.test") as caught:
        build.build(store, [make_tool("alpha")], lines.reporter())
    assert "s3cret" not in str(caught.value)


def test_a_missing_go_is_named_with_the_way_to_get_it(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(store.modules))
    with pytest.raises(SandboxError, match=r"no go on PATH, and Go 1\.26\.6 is needed(.|\n)*apt install golang-go"):
        build.build(store, [make_tool("alpha")], lines.reporter())


@pytest.mark.parametrize("version", ["go1.19.8", "go1.9", "devel"])
def test_a_go_that_is_too_old_is_named_with_the_version_needed(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make, version: str
) -> None:
    go.behave(version=version)
    with pytest.raises(SandboxError, match=r"too old: Go 1\.26\.6 is needed"):
        build.build(store, [make_tool("alpha")], lines.reporter())
    assert go.calls("list") == []


def test_a_go_that_can_fetch_the_version_needed_is_good_enough(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make
) -> None:
    go.behave(version="go1.22.2")
    build.build(store, [make_tool("alpha")], lines.reporter())
    assert build.binary(store, make_tool("alpha"))


def test_a_go_that_does_not_work_is_named(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    go.behave(env={"code": 2, "stderr": "go: cannot find GOROOT directory"})
    with pytest.raises(SandboxError, match=r"fake-go/go does not work: go: cannot find GOROOT"):
        build.build(store, [make_tool("alpha")], lines.reporter())


def test_a_small_disk_is_refused_before_anything_is_done(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make
) -> None:
    with pytest.raises(SandboxError) as caught:
        build.build(store, [make_tool("alpha")], lines.reporter(), free=lambda _path: 100_000_000)
    for part in ("1.9 GB needed, 0.1 GB free", "GOCACHE moves it", "GOMODCACHE moves it", "XDG_CACHE_HOME moves it"):
        assert part in str(caught.value)
    assert go.calls("list") == []


def test_a_build_that_is_nearly_done_needs_little_disk(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    known = go.folder / "gomod" / "cache" / "download" / "example.test" / "alpha" / "@v"
    known.mkdir(parents=True)
    (known / "v1.2.3.zip").touch()
    go.behave(stale=1, packages=1000)
    build.build(store, [make_tool("alpha")], lines.reporter(), free=lambda _path: 400_000_000)
    assert build.binary(store, make_tool("alpha"))


def test_a_half_full_disk_is_refused_once_the_modules_tell_the_true_need(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make
) -> None:
    known = go.folder / "gomod" / "cache" / "download" / "example.test" / "alpha" / "@v"
    known.mkdir(parents=True)
    (known / "v1.2.3.zip").touch()
    go.behave(stale=1000, packages=1000)
    with pytest.raises(SandboxError, match=r"1\.4 GB needed, 0\.4 GB free"):
        build.build(store, [make_tool("alpha")], lines.reporter(), free=lambda _path: 400_000_000)
    assert go.calls("build") == []


def test_fewer_jobs_can_be_asked_for(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(golang.JOBS_VARIABLE, "1")
    build.build(store, [make_tool("alpha")], lines.reporter())
    assert "-p=1" in go.calls("build")[0]["arguments"]
    monkeypatch.setenv(golang.JOBS_VARIABLE, "none")
    with pytest.raises(SandboxError, match="LANTAU_BUILD_JOBS is 'none'; a whole number from 1 is right"):
        build.build(store, [make_tool("beta")], lines.reporter())


def test_the_user_learns_what_is_built_how_long_it_takes_and_when_it_is_done(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make
) -> None:
    build.build(store, [make_tool("alpha"), make_tool("beta")], lines.reporter())
    for part in (
        "alpha, beta",
        "modules 2/2 beta",
        "2 of 3 packages to compile",
        "cores of this machine, once",
        "1/2 alpha v1.2.3 built",
    ):
        assert part in lines.text


def test_an_unwritable_cache_is_named(go: FakeGo, store: Store, lines: Lines, make_tool: Make) -> None:
    store.root.parent.mkdir()
    store.root.write_text("a file is in the way", encoding="utf-8")
    with pytest.raises(SandboxError, match=r"cannot write to the cache, .*/engine.*XDG_CACHE_HOME"):
        build.build(store, [make_tool("alpha")], lines.reporter())


def test_a_disk_that_fills_up_while_the_result_is_kept_is_named(
    go: FakeGo, store: Store, lines: Lines, make_tool: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SandboxError, match="No space left on device; make room"):
        build.build(store, [make_tool("alpha")], lines.reporter())
    assert build.binary(store, make_tool("alpha")) is None
    assert leftovers(store) == []
