"""A whole platform as it will be deployed: a stack, the releases it points to, and the rules between them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lantau.fits import fit_problems
from lantau.modelling import located
from lantau.problems import InvalidInput, Problem
from lantau.release import Release, read_release
from lantau.stack import Stack, load_stack, parse_stack
from lantau.stack.load import ROOT, check_stack_name, read_stack_file
from lantau.stack.stages import release_violations
from lantau.yamlfile import YamlFile


@dataclass(frozen=True)
class Platform:
    """Everything that the program needs, checked."""

    name: str
    """Name of the Pulumi stack."""
    stack: Stack
    releases: Mapping[tuple[str, str], Release]
    """Releases by (model, release)."""
    warnings: tuple[Problem, ...] = ()
    """What can be deployed and should be looked at: fits that only a measurement decides."""

    def release(self, model: str, release: str) -> Release:
        """The release that a model of the stack points to."""
        return self.releases[model, release]

    @property
    def fingerprint(self) -> str:
        """SHA-256 over stack and releases, the first 16 hexadecimal digits: equal configuration, equal fingerprint."""
        content: dict[str, Any] = {
            "stack": self.stack.model_dump(mode="json"),
            "releases": {"/".join(key): release.digest for key, release in sorted(self.releases.items())},
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def cards_needed(self, pool: str) -> int:
        """Cards that the models and jobs of a pool ask for together."""
        return sum(need for owner, need in self._demand() if owner == pool)

    def cards_free(self, pool: str) -> int:
        """Cards of a pool that nothing asks for; negative when models count on an overflow pool."""
        return self.stack.pools[pool].cards - self.cards_needed(pool)

    def _demand(self) -> Iterator[tuple[str, int]]:
        for name, model in self.stack.models.items():
            for release, replicas in model.replicas_by_release():
                yield model.pool, replicas * self.releases[name, release].gpus
        for job in self.stack.batch.values():
            yield job.pool, job.gpus * job.parallelism


def load_platform(root: Path, name: str, data: Mapping[str, Any] | None = None) -> Platform:
    """Load stack `name` of the project in `root` with its releases and judge the whole.

    `data` is the value of `lantau:stack` as Pulumi read it; without it the stack's file is read.
    Raises InvalidInput with every problem that was found.
    """
    check_stack_name(root, name)
    source: YamlFile | None = None
    if data is None:
        stack = load_stack(root, name)
        source = read_stack_file(root, name)
    else:
        try:
            source = read_stack_file(root, name)
        except InvalidInput:
            source = None
        stack = parse_stack(data, source)
    releases: dict[tuple[str, str], Release] = {}
    problems: list[Problem] = []
    for model_name, model in stack.models.items():
        for pointer, release in model.pointers():
            try:
                releases[model_name, release] = read_release(root, model_name, release)
            except InvalidInput as error:
                # A problem without a file is a missing release: the pointer to it is what a person has to change.
                problems.extend(
                    found
                    if found.file
                    else located(
                        ("models", model_name, *pointer), found.message, fix=found.fix, source=source, root=ROOT
                    )
                    for found in error.problems
                )
    platform = Platform(name, stack, releases)
    if not problems:
        problems.extend(_card_problems(platform, source))
        problems.extend(
            located(found.path, str(found), fix=found.fix, source=source, root=ROOT)
            for found in release_violations(stack, releases)
        )
    # What does not start on its cards need not be judged for memory.
    judged = [] if problems else list(fit_problems(stack, releases, root, source))
    problems.extend(found for found in judged if not found.warning)
    if problems:
        raise InvalidInput(problems)
    return replace(platform, warnings=tuple(judged))


def _card_problems(platform: Platform, source: YamlFile | None) -> Iterator[Problem]:
    """Pods that no machine can hold, and pools that are asked for more cards than they have."""

    def problem(path: tuple[str, ...], message: str, fix: str = "") -> Problem:
        return located(path, message, fix=fix, source=source, root=ROOT)

    stack = platform.stack
    asked = [
        (("models", name), pool, platform.release(name, release).gpus)
        for name, model in stack.models.items()
        for release, _ in model.replicas_by_release()
        for pool in filter(None, (model.pool, model.overflow))
    ] + [(("batch", name), job.pool, job.gpus) for name, job in stack.batch.items()]
    for path, pool_name, gpus in asked:
        cards = stack.pools[pool_name].hardware.cards
        if gpus > cards:
            yield problem(path, f"one pod needs {gpus} cards, and a node of pool {pool_name} has {cards}")
    for name, pool in stack.pools.items():
        if not pool.role.gpu or platform.cards_free(name) >= 0:
            continue
        spare = sum(
            stack.pools[overflow].cards
            for overflow in {model.overflow for model in stack.models.values() if model.pool == name}
            if overflow is not None
        )
        if platform.cards_free(name) + spare < 0:
            yield problem(
                ("pools", name),
                f"the pool has {pool.cards} cards, and models and jobs ask for {platform.cards_needed(name)}",
                fix="Lower replicas or parallelism, add nodes, or name an overflow pool.",
            )
