"""A rule that finds nothing, or everything, fails tests of its own; the list of equivalent mutants is true."""

import subprocess
import sys

from policies.pack import rules
from tests.mutation.command import equivalents
from tests.mutation.mutants import ROOT, read


def test_a_rule_that_finds_nothing_or_everything_fails_its_own_tests() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.mutation", "--whole", "--jobs", "2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{2 * len(rules())} killed" in ended.stdout, ended.stdout + ended.stderr


def test_an_entry_of_the_list_of_equivalents_is_about_a_mutant_and_says_why() -> None:
    for entry in equivalents():
        assert (ROOT / entry.file).is_file(), f"{entry.file} is gone: remove its entries"
        mutants = read(ROOT / entry.file).mutants
        assert any(entry.matches(mutant) for mutant in mutants), f"no such mutant any more, remove the entry: {entry}"
        assert entry.reason.endswith("."), entry


def test_no_equivalent_is_listed_twice() -> None:
    keys = [(entry.file, entry.scope, entry.before, entry.after) for entry in equivalents()]
    assert len(keys) == len(set(keys))
