"""Finding an engine: the user's own goes first, and ours is never mistaken for it."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from sandbox import engine
from sandbox.engine import build, links
from sandbox.errors import SandboxError
from tests.unit.sandbox_engine.conftest import Lines
from tests.unit.sandbox_engine.fake_go import FakeGo

PROVIDER = {
    "cmd/pulumi-resource-kubernetes/schema.json": "{}",
    "cmd/pulumi-resource-kubernetes/terraform-mapping.json": "{}",
}


@pytest.fixture
def checkout(go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout and a cache of the test's own, and a `go` that builds anything at once."""
    folder = tmp_path / "my checkout"
    folder.mkdir()
    monkeypatch.setattr(links, "CHECKOUT", folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    go.behave(files=PROVIDER)
    return folder


def program(folder: Path, name: str, text: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def first_on_path(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.environ["PATH"]]))


def test_without_an_engine_there_is_none(checkout: Path) -> None:
    assert engine.find_engine() is None
    assert engine.find_tools() is None


def test_a_pulumi_of_the_user_is_used_as_it_is_and_nothing_is_built(
    checkout: Path, go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = program(tmp_path / "own", "pulumi")
    first_on_path(monkeypatch, own.parent)
    found = engine.build_engine(lambda _line: None)
    assert found == engine.Engine(own, None, built=False)
    assert found.environment({"PATH": "/usr/bin"}) == {"PATH": "/usr/bin"}
    assert go.calls("env") == []
    assert not (checkout / ".lantau").exists()


def test_a_pulumi_of_the_user_wins_over_a_built_one(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine.build_engine(lambda _line: None).built
    own = program(tmp_path / "own", "pulumi")
    first_on_path(monkeypatch, own.parent)
    assert engine.find_engine() == engine.Engine(own, None, built=False)


def test_something_on_path_that_cannot_be_run_is_no_engine(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "own", "pulumi").chmod(0o644)
    (tmp_path / "folder" / "pulumi").mkdir(parents=True)
    first_on_path(monkeypatch, tmp_path / "own")
    first_on_path(monkeypatch, tmp_path / "folder")
    assert engine.find_engine() is None


@pytest.mark.parametrize("place", ["this checkout", "another checkout", "the cache", "a link to the cache"])
def test_our_own_pulumi_on_path_is_not_taken_for_the_users(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    built = engine.build_engine(lambda _line: None)
    assert built.bin_dir is not None
    store = build.default_store()
    cached = next(path for path in store.root.glob("pulumi-*/pulumi"))
    folder = tmp_path / "elsewhere"
    if place == "this checkout":
        folder = built.bin_dir
    elif place == "another checkout":
        monkeypatch.setattr(links, "CHECKOUT", tmp_path / "other")
        other = engine.find_engine()
        assert other is not None
        assert other.bin_dir is not None
        folder = other.bin_dir
        monkeypatch.setattr(links, "CHECKOUT", checkout)
    elif place == "the cache":
        folder = cached.parent
    else:
        folder.mkdir()
        (folder / "pulumi").symlink_to(cached)
    first_on_path(monkeypatch, folder)
    assert engine.find_engine() == built


def test_the_bin_folder_holds_the_engine_and_its_parts_side_by_side(checkout: Path) -> None:
    found = engine.build_engine(lambda _line: None)
    assert found.bin_dir == checkout / ".lantau" / "bin"
    names = {path.name for path in found.bin_dir.iterdir()}
    assert names == {".lantau-engine", "pulumi", "pulumi-language-python", "pulumi-resource-pulumi-python"}
    assert found.pulumi == found.bin_dir / "pulumi"
    assert not found.pulumi.is_symlink()  # it looks for its language host beside what a link points to
    assert found.environment({"PATH": "/usr/bin"})["PATH"] == f"{found.bin_dir}:/usr/bin"
    assert found.environment({})["PATH"] == str(found.bin_dir)


def plugin(checkout: Path, provider: str) -> Path:
    folder = f"resource-{provider}-v{metadata.version(f'pulumi-{provider}')}"
    return checkout / ".lantau" / "home" / "plugins" / folder / f"pulumi-resource-{provider}"


def test_providers_are_plugins_of_the_installed_sdks_versions_in_a_home_of_the_engines_own(checkout: Path) -> None:
    found = engine.build_engine(lambda _line: None)
    assert found.bin_dir is not None
    assert {path for path in (checkout / ".lantau" / "home").rglob("*") if not path.is_dir()} == {
        plugin(checkout, "kubernetes"),
        plugin(checkout, "random"),
    }
    assert plugin(checkout, "kubernetes").resolve().is_relative_to(build.default_store().root)
    environment = found.environment({"PATH": "/usr/bin", "PULUMI_HOME": "/home/of/the/user"})
    assert environment["PULUMI_HOME"] == str(checkout / ".lantau" / "home")
    assert environment["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] == "true"


def test_providers_of_another_sdk_or_of_an_older_checkout_give_way(checkout: Path) -> None:
    found = engine.build_engine(lambda _line: None)
    assert found.bin_dir is not None
    old = program(plugin(checkout, "random").parents[1] / "resource-random-v99.0.0", "pulumi-resource-random")
    others = program(plugin(checkout, "random").parents[1] / "resource-random-pet-v1.0.0", "pulumi-resource-random-pet")
    on_path = program(found.bin_dir, "pulumi-resource-kubernetes")
    assert engine.find_engine() == found
    assert not old.exists()
    assert not on_path.exists()
    assert others.exists()


def test_a_python_without_the_sdk_says_what_to_install(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    with pytest.raises(SandboxError, match=r"pulumi-kubernetes is not installed for .*: uv sync"):
        engine.build_engine(lambda _line: None)


def test_a_launcher_runs_the_module_of_its_own_checkout_wherever_it_is_started(checkout: Path, tmp_path: Path) -> None:
    found = engine.build_engine(lambda _line: None)
    assert found.bin_dir is not None
    host = checkout / "sandbox" / "host"
    host.mkdir(parents=True)
    for folder in (host.parent, host):
        (folder / "__init__.py").touch()
    report = "import os, sys; print(__file__, sys.argv[1:], 'PYTHONPATH' in os.environ, sys.executable)"
    (host / "language.py").write_text(report, encoding="utf-8")
    decoy = tmp_path / "decoy" / "sandbox" / "host"
    decoy.mkdir(parents=True)
    (decoy / "language.py").write_text("print('the wrong one')", encoding="utf-8")
    answer = subprocess.run(
        [found.bin_dir / "pulumi-language-python", "127.0.0.1:1", "two words"],
        cwd=decoy.parents[1],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=90,
    )
    assert answer.stdout == f"{host}/language.py ['127.0.0.1:1', 'two words'] False {sys.executable}\n"


def test_a_launcher_prefers_the_environment_of_its_checkout(checkout: Path) -> None:
    program(checkout / ".venv" / "bin", "python", 'echo "environment of the checkout"')
    found = engine.build_engine(lambda _line: None)
    assert found.bin_dir is not None
    launchers = [found.bin_dir / name for name in ("pulumi-language-python", "pulumi-resource-pulumi-python")]
    for launcher in (*launchers, plugin(checkout, "random")):
        answer = subprocess.run([launcher], capture_output=True, text=True, check=True, timeout=90)
        assert answer.stdout == "environment of the checkout\n"


def test_a_bin_folder_that_was_tampered_with_is_mended(checkout: Path) -> None:
    found = engine.build_engine(lambda _line: None)
    assert found.bin_dir is not None
    (found.bin_dir / "pulumi").unlink()
    plugin(checkout, "kubernetes").unlink()
    (found.bin_dir / "pulumi-language-python").write_text("", encoding="utf-8")
    (found.bin_dir / ".lantau-engine").unlink()
    assert engine.find_engine() == found
    assert (found.bin_dir / "pulumi").stat().st_size > 0
    assert plugin(checkout, "kubernetes").exists()
    assert "sandbox.host.language" in (found.bin_dir / "pulumi-language-python").read_text(encoding="utf-8")


def test_a_cache_on_another_disk_is_copied_from(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path, _target: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    found = engine.build_engine(lambda _line: None)
    assert found.pulumi.stat().st_nlink == 1
    assert os.access(found.pulumi, os.X_OK)
    made = found.pulumi.stat().st_ino
    assert engine.find_engine() == found
    assert found.pulumi.stat().st_ino == made


def test_a_checkout_that_cannot_be_written_to_is_named(checkout: Path) -> None:
    (checkout / ".lantau").write_text("a file is in the way", encoding="utf-8")
    with pytest.raises(SandboxError, match=r"cannot write to .*\.lantau/bin: "):
        engine.build_engine(lambda _line: None)


def test_a_relative_cache_folder_is_ignored_as_the_standard_wants(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert build.default_store().root == tmp_path / ".cache" / "lantau" / "engine"


def test_the_tools_lie_in_one_folder_and_the_definitions_are_fetched_with_them(
    checkout: Path, go: FakeGo, monkeypatch: pytest.MonkeyPatch, lines: Lines
) -> None:
    fetched: list[str] = []
    monkeypatch.setattr(
        engine.crds, "fetch", lambda _store, families, _reporter: fetched.extend(f.name for f in families)
    )
    folder = engine.build_tools(lines.told.append)
    assert {path.name for path in folder.iterdir()} == {
        "etcd",
        "external-secrets",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kwok",
    }
    assert all(os.access(path, os.X_OK) for path in folder.iterdir())
    assert "gateway-api" in fetched
    assert engine.find_tools() == folder
    assert engine.find_engine() is None  # the engine is none of their business


def test_tools_that_lost_one_are_not_found(checkout: Path, go: FakeGo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.crds, "fetch", lambda *_arguments: None)
    folder = engine.build_tools(lambda _line: None)
    (folder / "etcd").resolve().unlink()
    assert engine.find_tools() is None
    assert engine.build_tools(lambda _line: None) == folder
