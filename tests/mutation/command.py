"""The command: which mutants, over which tests, and what is said about those that live."""

import argparse
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tests.mutation import mapping, whole
from tests.mutation.mutants import ROOT, Mutant, read
from tests.mutation.session import Job, Result, Tests, Verdict, run

EQUIVALENT: Final = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A mutant that no test can kill, because it is the same rule."""

    file: str
    scope: str
    before: str
    after: str
    reason: str

    def matches(self, mutant: Mutant) -> bool:
        """Whether this entry is about a mutant. Lines are left out: they move."""
        wanted = (self.file, self.scope, self.before, self.after)
        return wanted == (mutant.file, mutant.scope, mutant.before, mutant.after)


def equivalents(path: Path = EQUIVALENT) -> list[Equivalent]:
    """The entries of the list of equivalent mutants."""
    return [Equivalent(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 all noticed, 1 a mutant lives, 2 the request or the tests are wrong."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True, highlight=False)
    try:
        files = _chosen(options.what, shared=options.shared)
        jobs, tests = _whole(files) if options.whole else _small(files)
        if options.list:
            print("\n".join(job.name for job in jobs))
            return 0
        shared = not options.whole and any(not mapping.controls_at(file) for file in files)
        results, failing = _run(jobs, tests, workers=max(1, options.jobs), trace=shared, console=console)
    except (RuntimeError, ValueError) as error:
        console.print(f"mutation: {error}", style="red", markup=False)
        return 2
    for test in failing:
        console.print(f"mutation: left out, because it fails without any mutant: {test}", style="yellow", markup=False)
    return report(results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation",
        description="Makes each rule a little worse, one fault at a time, and demands that a test of that rule fails.",
        epilog="Known equivalents are listed with their reasons in tests/mutation/equivalent.toml.",
    )
    parser.add_argument(
        "what",
        nargs="*",
        metavar="CONTROL|PATH",
        help="a control (KEY-01), a family (KEY), a file or folder of policies/; default: every rule",
    )
    parser.add_argument("--shared", action="store_true", help="also the modules that the chosen rules are built on")
    parser.add_argument(
        "--whole", action="store_true", help="instead: each rule finds nothing, then everything, and its own tests fail"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="children at a time (default: all cores)")
    return parser


def _chosen(what: Sequence[str], *, shared: bool) -> list[Path]:
    rules = mapping.modules_of_rules()
    files: dict[Path, None] = {} if what else dict.fromkeys(rules.values())
    for word in what:
        path = (ROOT / word).resolve()
        if path.is_dir():
            found = [file for file in sorted(path.rglob("*.py")) if file.name not in ("__init__.py", "__main__.py")]
        elif path.is_file():
            found = [path]
        else:
            found = [file for control, file in rules.items() if word.upper() in (control, control.partition("-")[0])]
        if not found or not all(file.is_relative_to(mapping.POLICIES) for file in found):
            raise ValueError(f"{word} is no control, no family of controls and no file of policies/")
        files |= dict.fromkeys(found)
    if shared:
        for file in list(files):
            files |= dict.fromkeys(mapping.below(file))
    return list(files)


def _whole(files: Sequence[Path]) -> tuple[list[Job], set[Path]]:
    controls = [control for file in files for control in mapping.controls_at(file)]
    return whole.jobs(controls), {mapping.tests_of_rules()[control] for control in controls}


def _small(files: Sequence[Path]) -> tuple[list[Job], set[Path]]:
    known = equivalents()
    tests = {file for file in mapping.COMMON if file.exists()}
    jobs = []
    for source in map(read, files):
        controls = mapping.controls_at(source.path)
        tests |= {mapping.tests_of_rules()[control] for control in controls}
        if not controls:
            tests |= set(mapping.TESTS.glob("test_*.py"))
        for mutant in source.mutants:
            if not any(entry.matches(mutant) for entry in known):
                chosen = partial(tests_of, controls) if controls else partial(_reaching, mutant, source.path)
                jobs.append(Job(str(mutant), chosen, source, mutant))
    return jobs, tests


def _run(
    jobs: Sequence[Job], tests: set[Path], *, workers: int, trace: bool, console: Console
) -> tuple[list[Result], list[str]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("mutants", total=len(jobs))
        lives = 0

        def advance(result: Result) -> None:
            nonlocal lives
            lives += result.verdict is Verdict.SURVIVED
            bar.update(task, advance=1, description=f"mutants, {lives} alive" if lives else "mutants")

        return run(tests, jobs, workers=workers, trace=trace, progress=advance)


def tests_of(controls: Sequence[str], tests: Tests) -> list[pytest.Item]:
    """Tests that answer for these controls: their own files, then tests of all rules with this one as parameter."""
    own = {mapping.tests_of_rules()[control] for control in controls}
    return sorted(
        (item for item in tests.items if item.path in own or _is_about(item, controls)),
        key=lambda item: item.path not in own,
    )


def _is_about(item: pytest.Item, controls: Sequence[str]) -> bool:
    callspec = getattr(item, "callspec", None)
    if callspec is None or item.path not in mapping.COMMON:
        return False
    return any(getattr(value, "control", value) in controls for value in callspec.params.values())


def _reaching(mutant: Mutant, path: Path, tests: Tests) -> list[pytest.Item]:
    return tests.reaching(mutant.file, mutant.function, lambda test: mapping.imports(test, path))


def report(results: Sequence[Result]) -> int:
    """Print the mutants that live and the counts; the command's exit code."""
    for result in sorted(results, key=lambda result: result.job.name):
        if result.verdict in (Verdict.SURVIVED, Verdict.BROKEN):
            mutant = result.job.mutant
            controls = mapping.controls_at(ROOT / mutant.file) if mutant else []
            about = f"{', '.join(controls) or 'shared'}  " if mutant else ""
            print(f"{result.verdict.value}: {about}{result.job.name}")
    counts = Counter(result.verdict for result in results)
    print("  ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]) or "no mutants")
    return int(any(counts[verdict] for verdict in (Verdict.SURVIVED, Verdict.BROKEN)))
