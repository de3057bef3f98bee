"""Reads every signal from a Prometheus, or anything that speaks its HTTP API."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

import urllib3

from lantau.diagnose.signals import SIGNALS, Signal
from lantau.diagnose.snapshot import Snapshot
from lantau.problems import InvalidInput, Problem

TIMEOUT: Final = urllib3.Timeout(connect=5, read=30)
# A query changes nothing, so that a POST may be sent again.
RETRIES: Final = urllib3.Retry(
    total=2, backoff_factor=0.3, status_forcelist=(502, 503, 504), raise_on_status=False, allowed_methods=None
)
LARGEST_ANSWER: Final = 16 * 1024 * 1024


def take_snapshot(
    url: str,
    window: str,
    *,
    token: str | None = None,
    at: datetime | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Snapshot:
    """Ask for all signals at one moment; what answers nothing is missing from the snapshot.

    `token`: bearer token, sent to `url` only. `progress` is told each signal's name. Raises InvalidInput when the
    server cannot be asked or refuses an expression; neither URL nor token is repeated in full.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _wrong("is no address of a Prometheus", fix="--prometheus http://prometheus.example.internal:9090")
    if parts.username or parts.password:
        raise _wrong("must not hold a password", fix="--token-file FILE   # or a proxy that signs in")
    if token and parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise _wrong("a token is sent over https only", fix=f"--prometheus https://{parts.hostname}")
    moment = at or datetime.now(UTC)
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    values: dict[str, dict[str, float]] = {}
    # Redirects could carry the token elsewhere.
    with urllib3.PoolManager(timeout=TIMEOUT, retries=RETRIES, headers=headers) as pool:
        for signal in SIGNALS.values():
            progress(signal.name)
            values[signal.name] = _ask(pool, url.rstrip("/"), signal, signal.query(window), moment)
    return Snapshot(taken=moment, window=window, values={name: by for name, by in values.items() if by})


def _ask(pool: urllib3.PoolManager, url: str, signal: Signal, query: str, at: datetime) -> dict[str, float]:
    try:
        answer = pool.request(
            "POST",
            f"{url}/api/v1/query",
            fields={"query": query, "time": f"{at.timestamp():.3f}"},
            encode_multipart=False,
            redirect=False,
            preload_content=False,
        )
        try:
            body = answer.read(LARGEST_ANSWER, decode_content=True)
            status = answer.status
        finally:
            answer.release_conn()
    except urllib3.exceptions.HTTPError as error:
        raise _wrong(f"cannot be asked: {_reason(error)}") from None
    content = _json(body)
    if status in (401, 403):
        raise _wrong(f"refuses to answer ({status})", fix="--token-file FILE   # a token that may query")
    if status != 200 or content.get("status") != "success":
        said = str(content.get("error", "it is no Prometheus, or a proxy answered"))[:200]
        raise _wrong(f"answered {status} to the query of {signal.name}: {said}")
    found: dict[str, float] = {}
    for series in content.get("data", {}).get("result", []):
        value = float(series["value"][1])
        if math.isfinite(value):
            found[str(series.get("metric", {}).get(signal.by, ""))] = value
    return found


def _json(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _reason(error: urllib3.exceptions.HTTPError) -> str:
    """The cause in words, without the address, which may be an internal one."""
    cause = getattr(error, "reason", None) or error
    names = {
        "NewConnectionError": "nobody listens there, or it cannot be reached",
        "NameResolutionError": "its name does not resolve",
        "ConnectTimeoutError": "it did not answer in time",
        "ReadTimeoutError": "it did not answer in time",
        "SSLError": "its certificate cannot be verified",
        "ProtocolError": "it broke the connection off",
    }
    return names.get(type(cause).__name__, type(cause).__name__)


def _wrong(message: str, fix: str = "") -> InvalidInput:
    return InvalidInput([Problem("--prometheus", message, fix=fix)])
