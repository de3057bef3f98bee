"""Where a command of Pulumi goes: the sandbox, the user's own cluster, or a stand-in for a cluster out of reach."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from rich.console import Console

from lantau.catalog import cards
from lantau.platform import Platform
from lantau.problems import nearest
from sandbox.cluster import Card, NodeSpec, Sandbox
from sandbox.cluster.layout import state_home
from sandbox.engine import Engine, build_engine, find_engine
from workflow.cluster import contexts, default_kubeconfig
from workflow.errors import WorkflowError
from workflow.orphans import end_orphans
from workflow.pulumi import StackCommand
from workflow.summary import Hint

SANDBOX_STACK = "sandbox"
STAND_IN_PREFIX = "preview-"
FAMILIES = {"ada": "ada-lovelace"}
"""Architectures whose label of feature discovery differs from their short name."""

SANDBOX_HINTS = [
    ("make status", "what runs, again"),
    ('eval "$(.venv/bin/python -m sandbox env)"', "kubectl and pulumi on it"),
    ("make down", "end its processes"),
]

console = Console(stderr=True)


class Kind(StrEnum):
    """What stands behind the stack's context."""

    SANDBOX = "sandbox"
    OWN = "own"
    STAND_IN = "stand-in"


@dataclass(frozen=True)
class Target:
    """A stack together with the cluster and the engine that it is run with."""

    kind: Kind
    platform: Platform
    pulumi: StackCommand
    kubeconfig: str | None
    hints: list[Hint] = field(default_factory=list)


def hints_for(platform: Platform) -> list[Hint]:
    """Commands that show more of a deployed stack."""
    if platform.name == SANDBOX_STACK:
        return SANDBOX_HINTS
    return [
        (f"make status STACK={platform.name}", "what runs, again"),
        (f"kubectl --context {platform.stack.cluster.context} get pods -A", "every pod"),
    ]


def engine() -> Engine:
    """The engine of this machine: the user's own pulumi, or ours, built when it is not there yet."""
    return find_engine() or build_engine()


def progress(message: str) -> None:
    """Say what the sandbox is doing."""
    console.print(f"[bright_black]sandbox:[/bright_black] {message}", highlight=False)


def kubeconfig_of(platform: Platform) -> str | None:
    """The kubeconfig with the stack's cluster, without starting anything. Raises WorkflowError when there is none."""
    if platform.name != SANDBOX_STACK:
        kubeconfig = default_kubeconfig(os.environ)
        require_context(platform, contexts(kubeconfig))
        return kubeconfig
    sandbox = Sandbox(SANDBOX_STACK)
    if not sandbox.folder.exists() or not sandbox.status().running:
        raise WorkflowError("the sandbox does not run. Start it with: make up")
    return str(sandbox.kubeconfig(platform.stack.cluster.context))


def require_context(platform: Platform, known: list[str]) -> None:
    """Raise WorkflowError when the stack's context is not among those of the kubeconfig."""
    context = platform.stack.cluster.context
    if context not in known:
        hint = nearest(context, known) if known else "It has none."
        raise WorkflowError(
            f"the kubeconfig has no context {context}, of Pulumi.{platform.name}.yaml. {hint}\n"
            f"Point KUBECONFIG at the cluster's file, or change cluster.context of the stack."
        )


def end_sandboxes() -> list[str]:
    """End the processes of the sandbox and all that killed commands left; returns the sandboxes' names."""
    ended = []
    for folder in sorted(state_home().glob("*/")) if state_home().exists() else []:
        if folder.name == SANDBOX_STACK and Sandbox(folder.name).down():
            ended.append(folder.name)
        elif folder.name.startswith(STAND_IN_PREFIX):
            Sandbox(folder.name).delete()
            ended.append(folder.name)
    found = find_engine()
    if found is not None:
        end_orphans(found)
    return ended


@contextmanager
def target(project: Path, platform: Platform, *, preview_only: bool = False) -> Iterator[Target]:
    """Find or start what a command on `platform` needs.

    Only the sandbox stack gets the sandbox. Any other stack goes to the cluster that the user's kubeconfig names; a
    preview may do without it, on a stand-in made for it and ended with it.
    """
    found = engine()
    if platform.name == SANDBOX_STACK:
        sandbox = Sandbox(SANDBOX_STACK)
        sandbox.up(progress=progress)
        yield _local(Kind.SANDBOX, project, platform, found, sandbox)
        return
    kubeconfig = default_kubeconfig(os.environ)
    known = contexts(kubeconfig)
    context = platform.stack.cluster.context
    if context in known:
        command = StackCommand(project, platform.name, found, credentials_of_the_user(os.environ, found))
        yield Target(Kind.OWN, platform, command, kubeconfig, hints_for(platform))
        return
    if not preview_only:
        require_context(platform, known)
    console.print(
        f"[yellow]No context {context} in the kubeconfig:[/yellow] previewing on an empty stand-in with its nodes."
    )
    stand_in = Sandbox(f"{STAND_IN_PREFIX}{platform.name}")
    try:
        stand_in.up(nodes=stack_nodes(platform), progress=progress)
        yield _local(Kind.STAND_IN, project, platform, found, stand_in)
    finally:
        stand_in.delete()


def credentials_of_the_user(env: Mapping[str, str], found: Engine) -> dict[str, str]:
    """Variables that lead an engine of ours, whose home is not the user's, to where `pulumi login` was noted."""
    if not found.built or env.get("PULUMI_CREDENTIALS_PATH"):
        return {}
    # Pulumi asks the user database, and not HOME, for the home of the user.
    usual = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".pulumi"
    return {"PULUMI_CREDENTIALS_PATH": env.get("PULUMI_HOME") or str(usual)}


def _local(kind: Kind, project: Path, platform: Platform, found: Engine, sandbox: Sandbox) -> Target:
    context = platform.stack.cluster.context
    kubeconfig = str(sandbox.kubeconfig(context))
    env = {**sandbox.env(), "KUBECONFIG": kubeconfig}
    command = StackCommand(project, platform.name, found, env, state_dir=sandbox.folder / "stack")
    return Target(kind, platform, command, kubeconfig, hints_for(platform))


def stack_nodes(platform: Platform) -> list[NodeSpec]:
    """Fake nodes with the names and the hardware of a stack's pools."""
    nodes = []
    for pool in platform.stack.pools.values():
        machine = pool.hardware
        card = None
        if machine.card:
            facts = cards()[machine.card]
            major, _, minor = str(facts.compute_capability).partition(".")
            card = Card(
                product=facts.product,
                memory=round(facts.memory_gib * 1024),
                family=FAMILIES.get(facts.architecture, facts.architecture),
                compute=(int(major), int(minor or 0)),
                mig_capable=facts.mig is not None,
            )
        nodes += [
            NodeSpec(name, cpu=machine.cores, memory=f"{machine.memory_gib}Gi", card=card, gpus=machine.cards)
            for name in pool.nodes
        ]
    return nodes
