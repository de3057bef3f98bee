"""Definitions that were installed once, put straight into the empty store of the next sandbox.

To take in fifty definitions costs the API server some twelve seconds of processor time, most of it for checks that
were passed before by the very same program. What it then stored is kept per set of definitions and API server, and a
fresh etcd is given it before the API server starts. Nothing else is kept: no object of a user, no key.
"""

import base64
import hashlib
import http.client
import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sandbox.cluster.crds import MARKER
from sandbox.cluster.ports import HOST
from sandbox.cluster.text import read_json, write_private
from sandbox.errors import SandboxError

_DEFINITIONS: Final = "/registry/apiextensions.k8s.io/customresourcedefinitions/"
_MARKER: Final = f"/registry/configmaps/kube-system/{MARKER}"


class Store:
    """etcd on a loopback port, spoken to as the API server does; SandboxError when it refuses."""

    def __init__(self, port: int, authority: Path, certificate: Path, key: Path) -> None:
        self._port = port
        self._context = ssl.create_default_context(cafile=str(authority))
        self._context.load_cert_chain(certificate, key)

    def read(self, first: str, end: str = "") -> list[tuple[str, str]]:
        """The keys and values from `first` up to but without `end` (or just that one), both encoded as base64."""
        question = {"key": _encode(first), **({"range_end": _encode(end)} if end else {})}
        return [(str(pair["key"]), str(pair["value"])) for pair in self._ask("range", [question])[0].get("kvs", [])]

    def write(self, pairs: list[tuple[str, str]]) -> None:
        """Put these keys and values, encoded as base64, in this order."""
        self._ask("put", [{"key": key, "value": value} for key, value in pairs])

    def _ask(self, action: str, questions: list[dict[str, str]]) -> list[dict[str, Any]]:
        connection = http.client.HTTPSConnection(HOST, self._port, timeout=60, context=self._context)
        answers = []
        try:
            for question in questions:
                connection.request("POST", f"/v3/kv/{action}", json.dumps(question))
                response = connection.getresponse()
                text = response.read()
                if response.status != http.client.OK:
                    raise SandboxError(f"etcd refused {action}: {text.decode(errors='replace')[:200]}")
                answers.append(dict(json.loads(text)))
        except (OSError, http.client.HTTPException) as error:
            raise SandboxError(f"etcd did not answer {action}: {error}") from error
        finally:
            connection.close()
        return answers


def seed_file(cache: Path, digests: Mapping[str, str], api_server: Path) -> Path:
    """Where the seed for these families (name → digest) as this very API server stores them is kept."""
    program = api_server.resolve().stat()
    identity = json.dumps([sorted(digests.items()), program.st_size, program.st_mtime_ns])
    return cache / f"{hashlib.sha256(identity.encode()).hexdigest()[:20]}.json"


def plant(store: Store, seed: Path) -> bool:
    """Put the seed into an empty store; False when there is none.

    The mark that the definitions are complete goes in last, so that one cut short is completed the usual way.
    """
    pairs = (read_json(seed) or {}).get("pairs")
    if not pairs:
        return False
    store.write([(key, value) for key, value in pairs])
    return True


def harvest(store: Store, seed: Path) -> None:
    """Keep the definitions that the store holds, and their mark."""
    # "0" is the character after "/": the range ends where the prefix does.
    pairs = [*store.read(_DEFINITIONS, _DEFINITIONS[:-1] + "0"), *store.read(_MARKER)]
    write_private(seed, json.dumps({"pairs": pairs}))


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
