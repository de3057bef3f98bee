"""How `lantau diagnose` treats wrong input, servers that are none, and secrets."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lantau.catalog.engines import engines
from lantau.cli import app
from lantau.diagnose.prometheus import take_snapshot
from lantau.diagnose.signals import SIGNALS
from lantau.diagnose.snapshot import Snapshot, load_snapshot, save_snapshot
from lantau.problems import InvalidInput

TAKEN = "2026-12-05T21:30:00+08:00"
RIGHT: dict[str, Any] = {"taken": TAKEN, "window": "15m", "values": {"loss": {"beijing": 0.2}}}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["diagnose", *arguments])


@pytest.fixture
def server() -> Iterator[tuple[str, list[str | None], list[Any]]]:
    """An address, the credentials that were sent to it, and what it answers: status and body."""
    sent: list[str | None] = []
    answer: list[Any] = [200, b"{}"]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            sent.append(self.headers.get("Authorization"))
            self.send_response(answer[0])
            if answer[0] == 302:
                self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            self.wfile.write(answer[1])

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}", sent, answer
        http.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name one source"),
        (("--prometheus", "http://127.0.0.1:1", "--snapshot", "x"), "name one source"),
        (("--snapshot", "x", "--save", "y"), "go with --prometheus"),
        (("--prometheus", "http://127.0.0.1:1", "--window", "15"), "such as 15m"),
        (("--prometheus", "http://127.0.0.1:1", "--token-file", "no-such-file"), "--token-file cannot be read"),
    ],
)
def test_wrong_options_are_refused_with_what_would_be_right(arguments: Sequence[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("prometheus:9090", "is no address"),
        ("http://user:word@prometheus.example:9090", "must not hold a password"),
        ("http://127.0.0.1:1", "cannot be asked: nobody listens there"),
    ],
)
def test_an_address_that_cannot_be_asked_is_refused_without_repeating_it(url: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        take_snapshot(url, "15m")
    assert said in str(refused.value)
    assert "word@" not in str(refused.value)


def test_a_token_never_travels_without_encryption_to_another_machine() -> None:
    with pytest.raises(InvalidInput, match="over https only"):
        take_snapshot("http://prometheus.example.internal:9090", "15m", token="t")


def test_a_token_is_sent_to_the_server_and_appears_in_no_output(
    server: tuple[str, list[str | None], list[Any]], tmp_path: Path
) -> None:
    url, sent, answer = server
    answer[:] = [403, b"no"]
    token = tmp_path / "token"
    token.write_text("some-bearer-value\n")
    result = run("--prometheus", url, "--token-file", str(token))
    assert sent == ["Bearer some-bearer-value"]
    assert "refuses to answer (403)" in str(result.exception)
    assert "some-bearer-value" not in result.output + str(result.exception)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"<html>sign in</html>", "it is no Prometheus"),
        (200, b"[]", "it is no Prometheus"),
        (302, b"", "answered 302"),
        (422, b'{"status": "error", "error": "query timed out"}', "query timed out"),
    ],
)
def test_an_answer_that_is_none_is_named(
    server: tuple[str, list[str | None], list[Any]], status: int, body: bytes, said: str
) -> None:
    url, _, answer = server
    answer[:] = [status, body]
    with pytest.raises(InvalidInput, match=said):
        take_snapshot(url, "15m")


def test_a_prometheus_that_has_nothing_of_the_platform_is_no_healthy_platform(
    server: tuple[str, list[str | None], list[Any]],
) -> None:
    url, _, answer = server
    answer[:] = [200, b'{"status": "success", "data": {"resultType": "vector", "result": []}}']
    result = run("--prometheus", url)
    assert result.exit_code == 2
    assert "there are no figures" in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is no JSON"),
        ("[]", "must hold one object"),
        (json.dumps({**RIGHT, "taken": "yesterday"}), "taken"),
        (json.dumps({**RIGHT, "window": "15"}), "window"),
        (json.dumps({**RIGHT, "values": {"lost": {}}}), 'Did you mean "loss"'),
        (json.dumps({**RIGHT, "values": {"loss": {"beijing": "much"}}}), "values.loss.beijing"),
        ('{"taken": "2026-12-05T21:30:00+08:00", "window": "15m", "values": {"loss": {"a": NaN}}}', "values.loss.a"),
    ],
)
def test_a_snapshot_that_is_none_is_refused_by_file_and_field(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "snapshot.json"
    file.write_text(content)
    with pytest.raises(InvalidInput) as refused:
        load_snapshot(file)
    assert "snapshot.json" in str(refused.value)
    assert said in str(refused.value)


def test_a_snapshot_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    snapshot = Snapshot.model_validate(RIGHT)
    save_snapshot(tmp_path / "kept.json", snapshot)
    assert load_snapshot(tmp_path / "kept.json") == snapshot


def test_a_snapshot_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written"):
        save_snapshot(tmp_path / "missing" / "kept.json", Snapshot.model_validate(RIGHT))


def test_findings_are_printed_with_figures_and_numbered_actions(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    file.write_text(json.dumps(RIGHT))
    result = run("--snapshot", str(file))
    assert result.exit_code == 1
    assert "path-slow: beijing\n  20.0% of the probes are lost\n  1. " in result.stdout
    assert "not judged, whether memory is short" in result.stdout


def test_no_signal_asks_for_a_metric_that_the_engine_removed() -> None:
    gone = engines()["vllm"].gone
    assert len(gone) >= 5
    assert [name for name, signal in SIGNALS.items() if any(metric in signal.expression for metric in gone)] == []
