"""The table of versions against the committed go.mod and go.sum files: one place to change, and nothing that drifts."""

import re
from pathlib import Path

import pytest

from sandbox.engine.cache import MODULES, Store
from sandbox.engine.crds import committed_sums
from sandbox.engine.versions import FAMILIES, TOOLS, Family, Tool

NAMES = [tool.name for tool in TOOLS]


def go_mod(tool: Tool) -> str:
    return (MODULES / tool.folder / "go.mod").read_text(encoding="utf-8")


def required(text: str) -> dict[str, str]:
    """Module → version of all `require` lines, before replacement."""
    blocks = re.findall(r"^require \((.*?)^\)", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()] + re.findall(
        r"^require (\S+ \S+)", text, re.MULTILINE
    )
    return dict(line.split()[:2] for line in lines if line.strip())


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_go_mod_requires_the_version_of_the_table(tool: Tool) -> None:
    assert required(go_mod(tool))[tool.module] == tool.version


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_go_sum_vouches_for_the_version_of_the_table(tool: Tool) -> None:
    text = (MODULES / tool.folder / "go.sum").read_text(encoding="utf-8")
    assert re.search(rf"^{re.escape(tool.module)} {re.escape(tool.version)} h1:\S+=$", text, re.MULTILINE)


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.package != "."], ids=lambda tool: tool.name)
def test_go_mod_names_the_package_as_a_tool_so_that_tidying_keeps_it(tool: Tool) -> None:
    assert tool.package.startswith(tool.module)
    assert re.search(rf"^(?:tool |\t){re.escape(tool.package)}$", go_mod(tool), re.MULTILINE)


def test_the_parts_of_kubernetes_have_one_version() -> None:
    tools = [tool for tool in TOOLS if tool.module == "k8s.io/kubernetes"]
    (version,) = {tool.version for tool in tools}
    staging = re.findall(r"^\t(k8s\.io/\S+) => (\S+) (\S+)$", go_mod(tools[0]), re.MULTILINE)
    assert len(staging) > 25
    assert {(old == new, found) for old, new, found in staging} == {(True, version.replace("v1.", "v0."))}
    for tool in tools:
        assert tool.shown_version == version
        assert dict(tool.symbols)["k8s.io/component-base/version.gitMinor"] == version.split(".")[1]


def test_the_program_tells_the_version_of_the_table() -> None:
    (pulumi,) = (tool for tool in TOOLS if tool.name == "pulumi")
    assert pulumi.shown_version == pulumi.version


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_the_sum_of_each_family_is_committed(family: Family) -> None:
    sums = committed_sums(Store(Path("unused")))
    assert sums[family.module, family.version].startswith("h1:")
    assert sums[family.module, f"{family.version}/go.mod"].startswith("h1:")


def test_no_sum_is_left_of_a_family_that_is_gone() -> None:
    known = {
        (family.module, version) for family in FAMILIES for version in (family.version, f"{family.version}/go.mod")
    }
    assert set(committed_sums(Store(Path("unused")))) == known


def test_every_module_folder_is_used_and_holds_nothing_generated() -> None:
    assert {path.name for path in MODULES.iterdir()} == {*(tool.folder for tool in TOOLS), "crds"}
    for folder in MODULES.iterdir():
        assert {path.name for path in folder.iterdir()} <= {"go.mod", "go.sum", "main.go"}


def test_names_are_unique_and_every_entry_says_its_purpose_and_licence() -> None:
    for table in (TOOLS, FAMILIES):
        assert len({entry.name for entry in table}) == len(table)
        for entry in table:
            assert entry.purpose
            assert entry.licence in {"Apache-2.0", "MIT", "BSD-3-Clause", "MPL-2.0"}
