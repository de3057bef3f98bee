"""The programs that were really built, and the definitions really fetched, are those of the table of versions."""

import subprocess
from pathlib import Path

import pytest

from sandbox.engine import build, build_tools, crd_dir
from sandbox.engine.progress import reporter_for
from sandbox.engine.versions import FAMILIES, TOOLS, Tool

GROUPS = {
    "gateway-api": "gateway.networking.k8s.io",
    "envoy-gateway": "gateway.envoyproxy.io",
    "external-secrets": "external-secrets.io",
    "prometheus-operator": "monitoring.coreos.com",
    "kueue": "kueue.x-k8s.io",
    "keda": "keda.sh",
}


def program(tool: Tool) -> Path:
    store = build.default_store()
    build.build(store, [tool], reporter_for(None))
    path = build.binary(store, tool)
    assert path is not None
    return path


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("pulumi", "version"),
        ("etcd", "--version"),
        ("kube-apiserver", "--version"),
        ("kube-controller-manager", "--version"),
        ("kube-scheduler", "--version"),
        ("kwok", "--version"),
    ],
)
def test_a_program_tells_the_version_of_the_table(name: str, argument: str) -> None:
    (tool,) = (tool for tool in TOOLS if tool.name == name)
    answer = subprocess.run([program(tool), argument], capture_output=True, text=True, check=True, timeout=60)
    assert tool.version.removeprefix("v") in (answer.stdout + answer.stderr).split("\n")[0]


@pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])
def test_a_program_needs_no_library_of_the_machine(tool: Tool) -> None:
    """So that a cache on a shared disk serves machines with another C library, and no C compiler is needed to build."""
    with program(tool).open("rb") as file:
        header = file.read(4096)
    assert header.startswith(b"\x7fELF")
    assert b"/ld-linux" not in header


@pytest.mark.parametrize("name", [family.name for family in FAMILIES])
def test_a_family_holds_definitions_of_its_group(name: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in crd_dir(name).glob("*.yaml")]
    definitions = [text for text in texts if "\nkind: CustomResourceDefinition" in text]
    assert definitions
    assert all(GROUPS[name] in text for text in definitions)


def test_the_tools_lie_side_by_side() -> None:
    names = {path.name for path in build_tools().iterdir()}
    assert names == {tool.name for tool in TOOLS if tool.group == "tools"}
