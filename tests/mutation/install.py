"""Puts a mutant into the running process. Only ever called in a child that was forked for this one mutant."""

import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import pytest

from tests.mutation.mutants import MODULE, ROOT, Mutant, Source


class NoFaultError(Exception):
    """This mutant is the same program: it compiles to the same code, or not at all."""


def compiled(source: Source, mutant: Mutant) -> CodeType:
    """Code of the module with the mutant's fault; raises NoFaultError."""
    before = compile(source.tree, str(source.path), "exec")
    mutant.edit()
    try:
        after = compile(source.tree, str(source.path), "exec")
    except (SyntaxError, ValueError) as error:
        raise NoFaultError from error
    if _same(before, after):
        raise NoFaultError
    return after


def _same(one: CodeType, other: CodeType) -> bool:
    if len(one.co_consts) != len(other.co_consts) or one.co_code != other.co_code or one.co_names != other.co_names:
        return False
    for mine, yours in zip(one.co_consts, other.co_consts, strict=True):
        if isinstance(mine, CodeType) and isinstance(yours, CodeType):
            if not _same(mine, yours):
                return False
        elif type(mine) is not type(yours) or mine != yours:
            return False
    return one.co_exceptiontable == other.co_exceptiontable


def swap(module: str, function: str, code: CodeType) -> bool:
    """Give a function of a loaded module its mutated code; False where that is impossible."""
    if function == MODULE:
        return False
    target = _function(sys.modules[module], function)
    found = next((inner for inner in _codes(code) if inner.co_qualname == function), None)
    if target is None or found is None or target.__code__.co_freevars != found.co_freevars:
        return False
    if any(inner.co_name == "<lambda>" or not inner.co_name.startswith("<") for inner in _codes(found)):
        # Functions that it made while the pack was imported would keep their code.
        return False
    target.__code__ = found
    forget_results()
    return True


def _function(module: ModuleType, qualified: str) -> FunctionType | None:
    found: Any = module
    for name in qualified.split("."):
        found = vars(found).get(name)
        if found is None:
            return None
    found = getattr(found, "fget", None) or found
    while hasattr(found, "__wrapped__") or hasattr(found, "__func__"):
        found = getattr(found, "__func__", None) or found.__wrapped__
    return found if isinstance(found, FunctionType) else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def forget_results() -> None:
    """Empty every function cache of ours: what it holds was made by the code before."""
    for module in _ours():
        for value in list(vars(module).values()):
            clear = getattr(value, "cache_clear", None)
            if callable(clear):
                clear()


def _ours() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if _is_ours(module)]


def _is_ours(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    path = Path(file)
    return path.is_relative_to(ROOT / "policies") or (
        path.is_relative_to(ROOT / "tests") and not path.is_relative_to(Path(__file__).parent)
    )


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, module: str, path: Path, code: CodeType) -> None:
        self.module, self.path, self.code = module, path, code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, vars(module))  # noqa: S102


class _Only:
    """Keeps the chosen tests of a session."""

    def __init__(self, wanted: set[str]) -> None:
        self.wanted = wanted

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the others."""
        items[:] = [item for item in items if item.nodeid in self.wanted]


def run_anew(source: Source, code: CodeType, tests: Sequence[pytest.Item]) -> int:
    """Import the pack and the tests again around the mutated module and run the tests; pytest's exit code.

    A constant is copied into other constants and into parameters of tests while they are imported, so nothing less
    would do.
    """
    files = {str(test.path) for test in tests}
    for module in list(sys.modules.values()):
        if _is_ours(module) or module.__name__ == source.module or getattr(module, "__file__", "") in files:
            sys.modules.pop(module.__name__, None)
    sys.meta_path.insert(0, _Finder(source.module, source.path, code))
    return int(pytest.main([*ARGUMENTS, "-x", *sorted(files)], plugins=[_Only({test.nodeid for test in tests})]))


ARGUMENTS: Final = (
    *("-q", "-s", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={ROOT}"),
    # What is loaded before the session (this tool, hypothesis) is no test.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
"""What every session of pytest in here is started with."""
