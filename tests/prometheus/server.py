"""A real Prometheus of the Debian archive with a history that a test makes up.

The package is fetched and unpacked into the cache, never installed: no service of the machine changes. apt verifies it.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx

from sandbox.engine.cache import LOCK, cache_root
from sandbox.engine.lock import exclusive

PACKAGE: Final = "prometheus"
READY_SECONDS: Final = 60
_COMPLETE: Final = ".complete"


class PrometheusUnavailableError(Exception):
    """The tier cannot run on this machine; it is an error and no reason to skip."""


def programs() -> Path:
    """Folder with `prometheus` and `promtool`, fetched on first use."""
    folder = cache_root() / "prometheus"
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive(folder / LOCK, lambda _: None):
        if not (folder / _COMPLETE).exists():
            _fetch(folder)
    return folder / "root/usr/bin"


def _fetch(folder: Path) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise PrometheusUnavailableError("these tests need Debian's or Ubuntu's package tools")
    shutil.rmtree(folder / "root", ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder) as fetched:
        # apt drops its rights while it downloads, and then cannot write into a folder of ours.
        download = ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", PACKAGE]
        done = subprocess.run(download, cwd=fetched, capture_output=True, text=True, check=False)
        if done.returncode:
            subprocess.run(["apt-get", "update", "-q"], capture_output=True, check=False)
            done = subprocess.run(download, cwd=fetched, capture_output=True, text=True, check=False)
        packages = list(Path(fetched).glob("*.deb"))
        if done.returncode or len(packages) != 1:
            raise PrometheusUnavailableError(f"apt-get download {PACKAGE} failed: {done.stderr.strip()[-300:]}")
        subprocess.run(["dpkg", "-x", str(packages[0]), str(folder / "root")], check=True)
    (folder / _COMPLETE).touch()


@contextmanager
def prometheus(folder: Path, openmetrics: str) -> Iterator[str]:
    """Address of a server that holds the samples of an OpenMetrics text; it ends with the context."""
    binaries = programs()
    samples = folder / "samples.om"
    samples.write_text(openmetrics, encoding="utf-8")
    data = folder / "data"
    backfill = [str(binaries / "promtool"), "tsdb", "create-blocks-from", "openmetrics", str(samples), str(data)]
    subprocess.run(backfill, check=True, capture_output=True)
    config = folder / "prometheus.yml"
    config.write_text("scrape_configs: []\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(binaries / "prometheus"),
        f"--config.file={config}",
        f"--storage.tsdb.path={data}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=error",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, server)
            yield url
        finally:
            server.terminate()
            server.communicate(timeout=30)


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise PrometheusUnavailableError(f"Prometheus ended with code {server.returncode}")
        try:
            if httpx.get(f"{url}/-/ready", timeout=2, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise PrometheusUnavailableError(f"Prometheus was not ready within {READY_SECONDS} s")
