"""Whether a process answers yet."""

import http.client
import ssl
from collections.abc import Callable
from pathlib import Path

from sandbox.cluster.ports import HOST

Probe = Callable[[], bool]


def answers(port: int, path: str, authority: Path | None = None, pair: tuple[Path, Path] | None = None) -> Probe:
    """A probe that is true when GET `path` on the loopback port is answered with 200.

    `authority` makes it HTTPS, proved by that certificate; `pair` are certificate and key to show.
    """
    context: ssl.SSLContext | None = None
    if authority is not None:
        context = ssl.create_default_context(cafile=str(authority))
        if pair is not None:
            context.load_cert_chain(*pair)

    def probe() -> bool:
        connection = (
            http.client.HTTPSConnection(HOST, port, timeout=5, context=context)
            if context
            else http.client.HTTPConnection(HOST, port, timeout=5)
        )
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return probe
