"""The stand-in for AWS: moto behind one port, with what it holds kept in a file, so that a restart finds it again.

Run as `python -m sandbox.cluster.aws PORT STATE_FILE`.
"""

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

KEPT = ("secretsmanager", "s3", "iam")
_READS = ("Get", "List", "Describe", "BatchGet", "Head", "Assume")

Environment = dict[str, Any]
Application = Callable[[Environment, Callable[..., Any]], Iterable[bytes]]


class Kept:
    """A WSGI application that hands each request on, one at a time, and writes the state after each that may change it.

    The state is on disk before the answer leaves: whoever got an answer finds its effect again after any death of
    this process.
    """

    def __init__(self, application: Application, state: Path) -> None:
        self._application = application
        self._state = state
        self._lock = threading.Lock()

    def __call__(self, environment: Environment, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer one request."""
        with self._lock:
            answer = list(self._application(environment, start_response))
            if changes(environment):
                save(self._state)
            return answer


def changes(environment: Environment) -> bool:
    """Whether a request may change what is held: reads are known by method, or by the name of the action."""
    if environment.get("REQUEST_METHOD") in ("GET", "HEAD", "OPTIONS"):
        return False
    action = str(environment.get("HTTP_X_AMZ_TARGET", "")).rpartition(".")[2]
    return not action.startswith(_READS)


def save(state: Path) -> None:
    """Write the backends in use to `state`, readable by the owner only, in one step."""
    from moto.backends import get_backend

    held = {
        service: {account: dict(regions.items()) for account, regions in get_backend(service).items()}  # type: ignore[call-overload]
        for service in KEPT
    }
    temporary = state.with_name(f".{state.name}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        pickle.dump(held, file)
    temporary.replace(state)


def load(state: Path) -> None:
    """Put the backends kept in `state` back in place; a missing file is an empty account."""
    from moto.backends import get_backend

    if not state.exists():
        return
    # The file is our own, in a folder that only its owner can write to.
    held = pickle.loads(state.read_bytes())  # noqa: S301
    for service, accounts in held.items():
        for account, regions in accounts.items():
            for region, backend in regions.items():
                get_backend(service)[account][region] = backend


def main(port: int, state: Path) -> None:
    """Serve on the loopback port until ended."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from werkzeug.serving import run_simple

    os.environ.setdefault("MOTO_PORT", str(port))
    state.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    load(state)
    application = Kept(DomainDispatcherApplication(create_backend_app), state)
    run_simple(
        "127.0.0.1", port, application, threaded=True, use_reloader=False, request_handler=_quiet(MotoRequestHandler)
    )


def _quiet(handler: type[Any]) -> type[Any]:
    """Without a line for each request: the log would hold nothing but polling."""

    def log_request(self: Any, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG001
        return

    return type("QuietHandler", (handler,), {"log_request": log_request})


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
