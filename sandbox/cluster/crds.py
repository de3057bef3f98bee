"""Custom resource definitions of the add-ons, taken from the folders of their Go modules as they lie there."""

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from sandbox.cluster.api import Api
from sandbox.errors import SandboxError

DEFAULT_FAMILIES: Final = ("gateway-api", "envoy-gateway", "external-secrets", "prometheus-operator")
MARKER: Final = "lantau-sandbox-crds"
_MARKER_PATH: Final = f"/api/v1/namespaces/kube-system/configmaps/{MARKER}"
_COLLECTION: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DISCOVERY: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

# Files are sent to the API server as they are (it reads every YAML; PyYAML stumbles over a bare `=` in one of them), so
# only the name is read here, and the group, which kustomize patches that lie among the definitions do not have.
_KIND = re.compile(rb"^kind: *[\"']?CustomResourceDefinition[\"']? *$", re.MULTILINE)
_NAME = re.compile(rb"^metadata:\n(?:(?: .*)?\n)*?  name: *[\"']?([a-z0-9.-]+)", re.MULTILINE)
_GROUP = re.compile(rb"^  group: ", re.MULTILINE)


class Definition(NamedTuple):
    """One definition: its name (`<plural>.<group>`) and its text."""

    name: str
    text: bytes


def read(folder: Path) -> list[Definition]:
    """The definitions in the YAML files of `folder`, by name; SandboxError when there is none."""
    definitions = []
    for path in sorted(folder.glob("*.y*ml")):
        for document in re.split(rb"^---.*\n", path.read_bytes(), flags=re.MULTILINE):
            name = _NAME.search(document)
            if name and _KIND.search(document) and _GROUP.search(document):
                definitions.append(Definition(name.group(1).decode(), document))
    if not definitions:
        raise SandboxError(f"{folder} holds no custom resource definitions")
    return definitions


def digest(definitions: Iterable[Definition]) -> str:
    """Names the content of a family: it changes with the version."""
    content = hashlib.sha256()
    for definition in definitions:
        content.update(definition.text)
    return content.hexdigest()[:16]


def installed(api: Api) -> dict[str, str]:
    """The families that were installed completely, with their digests."""
    marker = api.get(_MARKER_PATH) or {}
    return dict(marker.get("data") or {})


def install(api: Api, families: Mapping[str, Sequence[Definition]], progress: Callable[[str], None]) -> list[str]:
    """Install the families that are not there yet at this content; returns the names of those.

    Waits until the API server serves every kind of them. A family is marked as installed only then.
    """
    known = installed(api)
    missing = {name: found for name, found in families.items() if known.get(name) != digest(found)}
    if not missing:
        return []
    definitions = [definition for found in missing.values() for definition in found]
    progress(f"installing {len(definitions)} custom resource definitions: {', '.join(missing)}")
    # The largest first: they take the API server longest.
    definitions.sort(key=lambda definition: len(definition.text), reverse=True)
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(
            pool.map(
                lambda definition: api.apply_text(f"{_COLLECTION}/{definition.name}", definition.text), definitions
            )
        )
    _wait_served(api, {definition.name for definition in definitions})
    data = known | {name: digest(found) for name, found in missing.items()}
    metadata = {"name": MARKER, "namespace": "kube-system"}
    api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    return list(missing)


def _wait_served(api: Api, names: set[str], timeout: float = 240.0) -> None:
    deadline = time.monotonic() + timeout
    while absent := names - _served(api):
        if time.monotonic() > deadline:
            raise SandboxError(
                f"the API server does not serve these kinds after {timeout:.0f} s: {', '.join(sorted(absent))}"
            )
        time.sleep(0.2)


def _served(api: Api) -> set[str]:
    groups = (api.get("/apis", accept=_DISCOVERY) or {}).get("items", [])
    return {
        f"{resource['resource']}.{group['metadata']['name']}"
        for group in groups
        for version in group.get("versions", [])
        for resource in version.get("resources", [])
    }
