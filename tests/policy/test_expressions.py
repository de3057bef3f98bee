"""No regular expression of the pack takes exponential time."""

import importlib
import pkgutil
import re
import time

import pytest

import policies

UNITS = [
    "a",
    "A1",
    "x",
    "xx-",
    "/a",
    "a.",
    "a-1",
    "=",
    " ",
    "$(",
    "${A",
    "{{",
    "<a",
    "%41",
    "\\n",
    ":",
    "a:",
    "- ",
    "0",
    "1s",
]
UNITS += ["ey", "-ey", ".ey", "a://b:", "--a ", "password", "password=", "'", '"', "rm -r ", "tls ", "[", "v1", "@"]


def expressions() -> list[tuple[str, re.Pattern[str]]]:
    found = []
    for module in pkgutil.walk_packages(policies.__path__, "policies."):
        if module.name.endswith("__main__"):
            continue
        members = vars(importlib.import_module(module.name))
        for name, value in members.items():
            if isinstance(value, re.Pattern):
                found.append((f"{module.name}.{name}", value))
            elif name == "SHAPES":
                found += [(f"{shape.what}", shape.pattern) for shape in value]
    return found


@pytest.mark.parametrize(("name", "pattern"), expressions(), ids=[name for name, _ in expressions()])
def test_a_long_text_that_nearly_matches_takes_no_time(name: str, pattern: re.Pattern[str]) -> None:
    started = time.process_time()
    for unit in UNITS:
        text = unit * (4000 // len(unit)) + "!"
        pattern.search(text)
        pattern.fullmatch(text)
    spent = time.process_time() - started
    assert spent < 2, f"{name} took {spent:.1f} s"
