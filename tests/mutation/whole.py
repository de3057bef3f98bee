"""The coarse faults: a rule that finds nothing any more, and one that finds everything."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

import pytest

from policies.engine.rule import Finding, Rule, Verdict
from policies.pack import rules
from tests.mutation import mapping
from tests.mutation.session import Job, Tests


def _nothing(*_: Any) -> Iterable[Verdict]:
    return ()


def _everything(*_: Any) -> Iterator[Verdict]:
    yield Finding("", "everything is forbidden")


CHECKS: Final[dict[str, Callable[..., Iterable[Verdict]]]] = {
    "finds nothing": _nothing,
    "finds everything": _everything,
}


def jobs(controls: Iterable[str]) -> list[Job]:
    """Both faults for each of these controls, against the test file of that control alone."""
    chosen = [rule for rule in rules() if rule.control in set(controls)]
    return [
        Job(f"{rule.control} {name}", partial(_own, rule.control), change=partial(_replace, rule, check))
        for rule in chosen
        for name, check in CHECKS.items()
    ]


def _own(control: str, tests: Tests) -> list[pytest.Item]:
    file = mapping.tests_of_rules()[control]
    return [item for item in tests.items if item.path == file]


def _replace(rule: Rule, check: Callable[..., Iterable[Verdict]]) -> None:
    # Rules are frozen for everybody else; this process ends after the tests.
    object.__setattr__(rule, "stack_check" if rule.stack_check is not None else "check", check)
