"""The arrows between packages go one way, components keep their contract, and files stay readable."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 399
LONGEST_PROGRAM = 119

MAY_IMPORT = {
    "lantau": {"lantau"},
    "components": {"components", "lantau"},
    "__main__": {"components", "lantau"},
    # The pack judges any program, so it knows none; the provider runs beside any program.
    "policies": {"policies"},
    "provider": {"provider"},
    "sandbox": {"sandbox", "lantau"},
    "workflow": {"workflow", "sandbox", "lantau"},
}
GROUND = {"problems", "modelling", "yamlfile", "labels"}
INSIDE_LANTAU = {
    "catalog": set[str](),
    "release": {"catalog"},
    "stack": {"catalog", "release", "audit"},
    "capacity": {"catalog", "release"},
    "report": {"capacity"},
    "diagnose": {"catalog"},
    "scenarios": {"catalog", "release", "stack", "capacity"},
}
"""What each package of lantau/ may import of the others (docs/decisions/0012)."""
POLICY_CHECK = ("lantau/cli/policy_check.py", "policies.check")
"""The one import against the arrows: the command line mounts the pack's checker (docs/decisions/0007)."""
OURS = {*MAY_IMPORT, "bench", "tests"}
PULUMI = {"pulumi", "pulumi_kubernetes", "pulumi_random", "pulumi_policy"}
MAY_IMPORT_PULUMI = {
    "lantau": set[str](),
    "components": {"pulumi", "pulumi_kubernetes", "pulumi_random"},
    "__main__": {"pulumi", "pulumi_kubernetes", "pulumi_random"},
    "policies": {"pulumi", "pulumi_policy"},
    "provider": {"pulumi"},
    "workflow": set[str](),
}

SHARED_COMPONENTS = {"base", "custom", "gateways", "network", "pods", "provider_sdk", "secrets", "storage"}
"""Parts of components/ that every tier may use; tiers know each other only by names in lantau.labels."""
TIERS = {"cluster", "secrets", "audit", "business", "vector", "inference"}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def sources(package: str) -> list[Path]:
    if package == "__main__":
        return [ROOT / "__main__.py"]
    return sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Dotted name and line of every import, also of those inside functions and for type checkers only."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            yield ".".join(filter(None, (above, node.module))), node.lineno


def crossing(package: str, allowed: set[str], judged: set[str]) -> list[str]:
    """Imports of `package` that name one of `judged` and none of `allowed`, as `file:line imports name`."""
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(package)
        for name, line in imports(path)
        if name.partition(".")[0] in judged - allowed and (str(path.relative_to(ROOT)), name) != POLICY_CHECK
    ]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_only_what_lies_below_them(package: str) -> None:
    assert sources(package), f"{package} has no files: the test would hold for nothing"
    assert crossing(package, MAY_IMPORT[package], OURS) == []


@pytest.mark.parametrize("package", INSIDE_LANTAU)
def test_packages_of_plain_python_import_only_what_lies_below_them(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(f"lantau/{package}")
        for name, line in imports(path)
        if name.startswith("lantau.") and name.split(".")[1] not in INSIDE_LANTAU[package] | GROUND | {package}
    ]
    assert found == []


def test_the_command_line_loads_the_pack_only_when_it_is_asked_to_judge() -> None:
    tops = [
        node
        for node in parsed(ROOT / "lantau/cli/policy_check.py").body
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert [ast.unparse(node) for node in tops if "policies" in ast.unparse(node)] == []
    assert POLICY_CHECK in [
        ("lantau/cli/policy_check.py", name) for name, _ in imports(ROOT / "lantau/cli/policy_check.py")
    ]


@pytest.mark.parametrize("package", MAY_IMPORT_PULUMI)
def test_pulumi_stays_where_it_is_needed(package: str) -> None:
    assert crossing(package, MAY_IMPORT_PULUMI[package], PULUMI) == []


@pytest.mark.parametrize("tier", sorted(TIERS))
def test_tiers_do_not_import_each_other(tier: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(f"components/{tier}")
        for name, line in imports(path)
        if name.startswith("components.") and name.split(".")[1] not in SHARED_COMPONENTS | {tier}
    ]
    assert found == []


def test_shared_parts_of_components_import_no_tier() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for part in ("base.py", "custom.py", "network.py", "pods.py", "storage.py", "gateways", "provider_sdk")
        for path in sorted((ROOT / "components").glob(f"{part}/*.py" if "." not in part else part))
        for name, line in imports(path)
        if name.startswith("components.") and name.split(".")[1] in TIERS
    ]
    assert found == []


def test_every_part_of_components_is_known_here() -> None:
    parts = {path.name.removesuffix(".py") for path in (ROOT / "components").iterdir() if not path.name.startswith("_")}
    assert parts == SHARED_COMPONENTS | TIERS


class ComponentClass:
    """A subclass of Component as its source has it."""

    def __init__(self, path: Path, node: ast.ClassDef) -> None:
        self.path = path
        self.node = node
        self.name = node.name
        self.package = path.relative_to(ROOT).parts[1]

    @property
    def token(self) -> str | None:
        for statement in self.node.body:
            target = statement.target if isinstance(statement, ast.AnnAssign) else None
            if isinstance(statement, ast.Assign):
                target = statement.targets[0] if isinstance(statement.targets[0], ast.Name) else None
            if isinstance(target, ast.Name) and target.id == "TOKEN":
                value = statement.value  # type: ignore[attr-defined]
                return str(value.value) if isinstance(value, ast.Constant) else None
        return None

    def calls(self, method: str) -> bool:
        return any(
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
            for node in ast.walk(self.node)
        )

    def parameters(self) -> list[str]:
        for statement in self.node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                return [argument.arg for argument in statement.args.args]
        return []


def components() -> list[ComponentClass]:
    return [
        ComponentClass(path, node)
        for path in sources("components")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Component" for base in node.bases)
    ]


def test_every_component_has_a_token_of_three_parts_named_after_itself() -> None:
    found = components()
    assert {each.package for each in found} == TIERS
    wrong = {each.name: each.token for each in found if each.token != f"lantau:{each.package}:{each.name}"}
    assert wrong == {}


def test_every_component_takes_name_args_and_options_and_registers_outputs() -> None:
    for each in components():
        assert each.parameters() == ["self", "name", "args", "opts"], each.name
        assert each.calls("finish"), f"{each.name} never finishes: nothing could depend on it"


def test_only_the_base_is_derived_from_pulumis_own_component() -> None:
    derived = [
        f"{path.relative_to(ROOT)} {node.name}"
        for path in sources("components")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and any("ComponentResource" in ast.unparse(base) for base in node.bases)
    ]
    assert derived == ["components/base.py Component"]


def test_every_component_has_a_test() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/unit/components").glob("test_*.py"))
    assert [each.name for each in components() if not re.search(rf"\b{each.name}\(", text)] == []


def test_files_stay_short() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for package in OURS
        for path in sources(package)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_FILE
    }
    assert long == {}


def test_the_program_only_wires() -> None:
    assert len((ROOT / "__main__.py").read_text(encoding="utf-8").splitlines()) <= LONGEST_PROGRAM


def test_every_test_is_in_a_file_that_is_collected() -> None:
    lost = [
        str(path.relative_to(ROOT))
        for path in sources("tests")
        if not path.name.startswith("test_")
        and any(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in ast.walk(parsed(path)))
    ]
    assert lost == []


def test_test_files_have_names_of_their_own() -> None:
    # Without packages in tests/ pytest imports by file name alone; two of one name hide each other.
    names = [path.name for path in sources("tests") if path.name.startswith("test_")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
