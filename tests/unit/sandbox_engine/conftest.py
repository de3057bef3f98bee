"""A cache, module folders and a `go` of each test's own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox.engine import golang
from sandbox.engine.cache import Store
from sandbox.engine.progress import LogReporter
from sandbox.engine.versions import Tool
from tests.unit.sandbox_engine.fake_go import FakeGo


@dataclass
class Lines:
    """What a build told its user."""

    told: list[str] = field(default_factory=list)

    def reporter(self) -> LogReporter:
        return LogReporter(self.told.append)

    @property
    def text(self) -> str:
        return "\n".join(self.told)


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    fake = FakeGo(tmp_path / "fake-go")
    monkeypatch.setenv("PATH", fake.search_path())
    monkeypatch.setattr(golang, "_USUAL_PLACES", ())
    monkeypatch.delenv(golang.JOBS_VARIABLE, raising=False)
    monkeypatch.delenv("GOTOOLCHAIN", raising=False)
    return fake


@pytest.fixture
def store(tmp_path: Path) -> Store:
    modules = tmp_path / "modules"
    for name in ("alpha", "beta"):
        (modules / name).mkdir(parents=True)
        (modules / name / "go.mod").write_text(f"module lantau/{name}\n\ngo 1.26.6\n", encoding="utf-8")
        (modules / name / "go.sum").write_text("", encoding="utf-8")
    return Store(tmp_path / "cache" / "engine", modules)


@pytest.fixture
def lines() -> Lines:
    return Lines()


@pytest.fixture
def make_tool() -> Callable[[str], Tool]:
    def make(name: str) -> Tool:
        return Tool(
            name=name,
            group="engine",
            folder=name,
            module=f"example.test/{name}",
            version="v1.2.3",
            package=f"example.test/{name}/cmd",
            purpose="a test",
            licence="Apache-2.0",
            seconds=100,
            cache_mb=1000,
            modules_mb=500,
            symbols=((f"example.test/{name}.version", "v1.2.3"),),
        )

    return make
