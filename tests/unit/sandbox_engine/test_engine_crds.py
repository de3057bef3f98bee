"""Definitions of custom resources: fetched once, held against the committed sum, then usable without a network."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import engine
from sandbox.engine import crds
from sandbox.engine.cache import Store
from sandbox.engine.versions import Family
from sandbox.errors import SandboxError
from tests.unit.sandbox_engine.conftest import Lines
from tests.unit.sandbox_engine.fake_go import FakeGo

SUM = "h1:right="
FAMILY = Family("gates", "example.test/gates", "v1.0.0", "config/crd", "a test", "Apache-2.0")
FILES = {"config/crd/a.yaml": "kind: A", "config/crd/README.md": "text", "config/crd/deep/b.yaml": "kind: B"}


@pytest.fixture
def pinned(store: Store) -> Store:
    """A store whose module `crds` knows the sum of FAMILY."""
    folder = store.modules / "crds"
    folder.mkdir()
    (folder / "go.mod").write_text("module lantau/crds\n\ngo 1.26.0\n", encoding="utf-8")
    (folder / "go.sum").write_text(f"example.test/gates v1.0.0 {SUM}\n", encoding="utf-8")
    return store


def test_the_yaml_files_of_the_folder_are_copied_and_nothing_else(go: FakeGo, pinned: Store, lines: Lines) -> None:
    go.behave(files=FILES, sum=SUM)
    crds.fetch(pinned, [FAMILY], lines.reporter())
    folder = crds.fetched(pinned, FAMILY)
    assert folder is not None
    assert [path.name for path in folder.rglob("*")] == ["a.yaml"]
    assert (folder / "a.yaml").read_text(encoding="utf-8") == "kind: A"
    assert go.calls("mod")[0]["arguments"][-1] == "example.test/gates@v1.0.0"


def test_a_second_time_needs_neither_go_nor_a_network(
    go: FakeGo, pinned: Store, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.behave(files=FILES, sum=SUM)
    crds.fetch(pinned, [FAMILY], lines.reporter())
    monkeypatch.setenv("PATH", "")
    crds.fetch(pinned, [FAMILY], lines.reporter())


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [
        ({"files": FILES, "sum": "h1:wrong="}, "is not the one whose sum was checked in"),
        ({"files": {"other/a.yaml": ""}, "sum": SUM}, r"no YAML files in .*config/crd"),
        ({"mod": {"code": 1, "stderr": "SECURITY ERROR"}}, "not the one that was checked into this project"),
        ({"mod": {"code": 1, "stderr": "dial tcp: no such host"}}, "could not be downloaded"),
    ],
)
def test_what_is_not_as_pinned_is_refused_and_not_kept(
    go: FakeGo, pinned: Store, lines: Lines, behaviour: dict[str, object], told: str
) -> None:
    go.behave(**behaviour)
    with pytest.raises(SandboxError, match=told):
        crds.fetch(pinned, [FAMILY], lines.reporter())
    assert crds.fetched(pinned, FAMILY) is None
    assert list(pinned.root.glob(".partial-*")) == []


def test_a_family_without_a_committed_sum_is_refused(go: FakeGo, pinned: Store, lines: Lines) -> None:
    (pinned.modules / "crds" / "go.sum").write_text("", encoding="utf-8")
    go.behave(files=FILES, sum=SUM)
    with pytest.raises(SandboxError, match=r"go\.sum has no sum of example\.test/gates v1\.0\.0"):
        crds.fetch(pinned, [FAMILY], lines.reporter())


@pytest.mark.parametrize(
    "harm", [lambda folder: (folder / "a.yaml").unlink(), lambda folder: (folder / "a.yaml").write_text("kind")]
)
def test_a_family_that_lost_a_file_is_fetched_again(
    go: FakeGo, pinned: Store, lines: Lines, harm: Callable[[Path], object]
) -> None:
    go.behave(files=FILES, sum=SUM)
    crds.fetch(pinned, [FAMILY], lines.reporter())
    folder = crds.fetched(pinned, FAMILY)
    assert folder is not None
    harm(folder)
    assert crds.fetched(pinned, FAMILY) is None
    crds.fetch(pinned, [FAMILY], lines.reporter())
    assert crds.fetched(pinned, FAMILY) == folder


def test_an_unknown_family_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SandboxError, match="called 'gateway'; known are gateway-api, envoy-gateway, "):
        engine.crd_dir("gateway")
