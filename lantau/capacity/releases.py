"""A release of a model on the cards of a pool."""

from __future__ import annotations

from pathlib import Path

from lantau.capacity.alternatives import Alternative, alternatives
from lantau.capacity.cards import card_memory
from lantau.capacity.cases import UNKNOWNS, Question
from lantau.capacity.engines import engine_of
from lantau.capacity.fit import Binding, Fit, Verdict
from lantau.capacity.formats import format_in_name
from lantau.capacity.request import CardMemory, Flags
from lantau.capacity.startup import CONTEXT_GIB
from lantau.catalog.architecture import Architecture
from lantau.catalog.architectures import architecture, architecture_from_file, format_of
from lantau.release.model import Release, Workflow


def question_of(release: Release, card: str, folder: Path) -> Question:
    """What a release asks of one kind of card.

    `card`: key of the catalogue, with a MIG profile behind it where the pool is split. `folder`: where the release's
    file lies, from which `model.config` is read. Raises one of UNKNOWNS when something in it is not known.
    """
    memory = card_memory(card)
    parameters = release.flags
    model = _architecture(release, folder)
    return Question(
        model=model,
        card=memory,
        engine=engine_of(release.engine.kind, release.engine.version, fabric=memory.fabric),
        flags=Flags(
            tensor_parallel=parameters.tensor_parallel_size,
            max_model_len=parameters.max_model_len,
            utilisation=parameters.gpu_memory_utilization,
            max_num_seqs=parameters.max_num_seqs,
            max_num_batched_tokens=parameters.max_num_batched_tokens,
            kv_dtype=parameters.kv_cache_dtype,
        ),
        format_name=release.model.format or _published_format(release.model.name) or model.quantisation,
    )


def fit_release(release: Release, card: str, folder: Path) -> Fit:
    """The estimate for one pod of a release; UNKNOWN with the reason where something is not known.

    A workflow has no rules of memory: what was measured of it is held against the card.
    """
    try:
        if release.workflow is not None:
            return _measured(release.workflow, card_memory(card))
        return question_of(release, card, folder).answer()
    except UNKNOWNS as error:
        return Fit(Verdict.UNKNOWN, str(error.args[0]))


def _measured(workflow: Workflow, card: CardMemory) -> Fit:
    room = card.gib - CONTEXT_GIB[1]
    told = f"{workflow.memory_gib:.1f} GiB were measured, and the card has {room:.1f} GiB beside its own context"
    if workflow.memory_gib > room:
        return Fit(Verdict.DOES_NOT_FIT, told, Binding.MEMORY)
    return Fit(Verdict.FITS, told)


def changes_for(release: Release, card: str, folder: Path) -> list[Alternative]:
    """Changes after which a release that does not fit would; raises as `question_of` does. None for a workflow."""
    if release.workflow is not None:
        return []
    asked = question_of(release, card, folder)
    return alternatives(asked.model, asked.card, asked.engine, asked.flags, format_name=asked.format_name)


def _architecture(release: Release, folder: Path) -> Architecture:
    if release.model.config is None:
        return architecture(release.model.name)
    return architecture_from_file(folder / release.model.config)


def _published_format(name: str) -> str | None:
    return format_of(name) or format_in_name(name)
