"""The mutation tool: it makes the faults it promises, and a weak test leaves one alive."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.mutants import ROOT, mutants_of

RULE = """
LIMITS = ("a", "b")
LEAST = {"x": 3}


def check(values):
    for value in values:
        if value is None:
            continue
        if len(value) > 2 and value not in LIMITS:
            yield value


def anything(values):
    return any(not value for value in values)


def _doubler():
    def doubled(value):
        return value + value if value else None

    return doubled


twice = _doubler()
"""
WEAK = """
import fragile


def test_a_violation_is_found():
    assert list(fragile.check(["long"])) == ["long"]
    assert fragile.twice("a") == "aa"
"""
STRONG = """
import fragile


def test_a_violation_is_found_and_nothing_else():
    assert list(fragile.check(["a", "b", "long", "two", None, "ab"])) == ["long", "two"]
    assert fragile.check.__globals__["LIMITS"] == ("a", "b")
    assert fragile.LEAST == {"x": 3}


def test_the_limits_are_no_findings(monkeypatch):
    monkeypatch.setattr(fragile, "LIMITS", ("long",))
    assert list(fragile.check(["long"])) == []
    assert list(fragile.check(["other"])) == ["other"]


def test_anything():
    assert fragile.anything([1, 0])
    assert not fragile.anything([1, 1])
    assert fragile.twice("a") == "aa"
    assert fragile.twice("") is None
"""
DRIVER = """
import sys
from pathlib import Path
from tests.mutation.mutants import mutants_of
from tests.mutation.session import Job, run

folder = Path(sys.argv[1])
source = mutants_of((folder / "fragile.py").read_text(), "fragile", folder / "fragile.py")
jobs = [Job(f"{m.scope}: {m.before} -> {m.after}", lambda tests: tests.items, source, m) for m in source.mutants]
results, failing = run([folder / "test_fragile.py"], jobs, workers=2, trace=False, progress=lambda result: None)
for result in results:
    print(f"{result.verdict.value}| {result.job.name}")
print("failing|", *failing)
"""


def faults(text: str) -> set[tuple[str, str]]:
    return {(m.before, m.after) for m in mutants_of(text, "m", Path("m.py")).mutants}


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("def f(x):\n    yield x", "yield x", "nothing"),
        ("def f(x):\n    x.append(1)", "x.append(1)", "nothing"),
        ("def f(x):\n    x += [1]\n    return x", "x += [1]", "nothing"),
        ("def f(x):\n    if x:\n        pass", "x", "True"),
        ("def f(x):\n    if x:\n        pass", "x", "False"),
        ("def f(x):\n    return [y for y in x if y]", "y", "True"),
        ("def f(x, y):\n    return x or y", "x or y", "y  (without the operand of or)"),
        ("def f(x, y):\n    return x or y", "x or y", "x and y"),
        ("def f(x, y):\n    return x == y", "x == y", "x != y"),
        ("def f(x, y):\n    return x < y", "x < y", "x <= y"),
        ("def f(x):\n    return not x", "not x", "x"),
        ("def f(x):\n    return any(x)", "any(x)", "all(x)"),
        ("def f(x):\n    for y in x:\n        continue", "continue", "go on"),
        ("def f(x):\n    if x:\n        return 1\n    return 2", "return 1", "go on"),
        ("A = frozenset({'a', 'b'})", "'a'", "dropped"),
        ("A = {'a': 1, 'b': 2}", "'a': 1", "dropped"),
        ("def f(x):\n    return x in ('a', 'b')", "'b'", "dropped"),
    ],
)
def test_each_kind_of_fault_is_made(text: str, before: str, after: str) -> None:
    assert (before, after) in faults(text)


@pytest.mark.parametrize(
    "text",
    [
        '"""Words."""',
        "def f(x: int | None) -> tuple[int, str]:\n    pass",
        "def f(x):\n    return f'{x or 1}'",
        "import a, b\nfrom c import d, e",
        "def f(x, y):\n    return x, y",
    ],
)
def test_words_types_and_imports_are_left_alone(text: str) -> None:
    assert faults(text) == set()


def test_every_fault_makes_another_program() -> None:
    for number, mutant in enumerate(mutants_of(RULE, "m", Path("m.py")).mutants):
        source = mutants_of(RULE, "m", Path("m.py"))
        source.mutants[number].edit()
        compile(source.tree, "m.py", "exec")
        assert ast.unparse(source.tree) != ast.unparse(ast.parse(RULE)), mutant


def lives(folder: Path, test: str) -> tuple[set[str], list[str]]:
    (folder / "fragile.py").write_text(RULE, encoding="utf-8")
    (folder / "test_fragile.py").write_text(test, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", DRIVER, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    lines = [line.split("| ") for line in ended.stdout.splitlines() if "| " in line]
    assert len(lines) > 20, ended.stdout + ended.stderr
    assert not [line for line in lines if line[0] == "the tool failed"], ended.stderr
    return {line[1] for line in lines if line[0] == "survived"}, [line[1] for line in lines if line[0] == "failing"]


def test_a_weak_test_leaves_faults_alive_and_a_strong_one_none(tmp_path: Path) -> None:
    weak, strong = tmp_path / "weak", tmp_path / "strong"
    weak.mkdir()
    strong.mkdir()
    alive, failing = lives(weak, WEAK)
    assert not failing
    assert {
        "check: continue -> go on",
        "LIMITS: 'a' -> dropped",
        "check: len(value) > 2 -> len(value) >= 2",
        "_doubler: value -> True",
        "anything: any((not value for value in values)) -> all((not value for value in values))",
    } <= alive
    assert "check: yield value -> nothing" not in alive
    assert "_doubler: value -> False" not in alive
    alive, failing = lives(strong, STRONG)
    assert not failing
    # With nothing to compare to, an impossible length is as good as none.
    assert alive <= {"check: value is None -> False"}


def test_a_test_that_fails_anyway_is_told_and_notices_nothing(tmp_path: Path) -> None:
    alive, failing = lives(tmp_path, "def test_of_nothing():\n    assert False\n")
    assert "check: yield value -> nothing" in alive
    assert failing == ["test_fragile.py::test_of_nothing"] or failing[0].endswith("::test_of_nothing")
