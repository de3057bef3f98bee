"""Which module holds a rule, which tests answer for it, and which modules lie below it."""

import ast
from functools import cache
from pathlib import Path
from typing import Final

from policies.pack import MODULES, rules
from tests.mutation.mutants import ROOT

POLICIES: Final = ROOT / "policies"
TESTS: Final = ROOT / "tests" / "policy"
COMMON: Final = (TESTS / "test_violations.py", TESTS / "test_wrapped.py", TESTS / "test_pack.py")
"""Tests of all rules at once; a rule answers to those whose parameter is its control or the rule itself."""


@cache
def modules_of_rules() -> dict[str, Path]:
    """File of each control's rule."""
    return {
        rule.control: POLICIES / f"{module.replace('.', '/')}.py" for rule, module in zip(rules(), MODULES, strict=True)
    }


@cache
def tests_of_rules() -> dict[str, Path]:
    """Test file of each control: the one that is named after the rule, as the pack's own test demands."""
    return {rule.control: TESTS / f"test_{rule.name.replace('-', '_')}.py" for rule in rules()}


def controls_at(path: Path) -> list[str]:
    """Controls whose rule is this file."""
    return [control for control, file in modules_of_rules().items() if file == path]


def shared_modules() -> list[Path]:
    """Every module of the pack that is no rule."""
    of_rules = set(modules_of_rules().values())
    return [
        file
        for file in sorted(POLICIES.rglob("*.py"))
        if file not in of_rules and file.name not in ("__init__.py", "__main__.py")
    ]


def below(path: Path) -> list[Path]:
    """Shared modules of the pack that this module imports, near and far."""
    found: dict[Path, None] = {}
    open_files = [path]
    while open_files:
        for file in _imported(open_files.pop()):
            if file not in found:
                found[file] = None
                open_files.append(file)
    of_rules = set(modules_of_rules().values())
    return [file for file in found if file not in of_rules]


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "policies":
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    files = (ROOT / f"{name.replace('.', '/')}.py" for name in names)
    return tuple(dict.fromkeys(file for file in files if file.is_file()))


def imports(test: Path, path: Path) -> bool:
    """Whether a test file imports a module of the pack by itself."""
    return path in _imported(test)
