"""`asked`: what `lantau diagnose` answers to a history that a real Prometheus holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lantau.cli import app
from tests.prometheus.history import END, History
from tests.prometheus.server import prometheus

Asked = Callable[..., dict[str, Any]]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[[History], str]]:
    """Address of a server that holds a history."""
    with ExitStack() as running:
        yield lambda history: running.enter_context(prometheus(tmp_path, history.text()))


@pytest.fixture
def asked(served: Callable[[History], str]) -> Asked:
    """The answer to a history, as JSON, with the exit code under `exit`."""

    def ask(history: History, *options: str) -> dict[str, Any]:
        at = END.strftime("%Y-%m-%dT%H:%M:%S%z")
        result = CliRunner().invoke(app, ["diagnose", "--prometheus", served(history), "--at", at, "--json", *options])
        assert result.stdout, (result.stderr, result.exception)
        return {**json.loads(result.stdout), "exit": result.exit_code}

    return ask
