"""Observed or asked cases as JSON lines, one estimate a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lantau.capacity.activation import Step
from lantau.capacity.cards import card_memory
from lantau.capacity.engines import Engine, UnknownEngineError, engine_of
from lantau.capacity.fit import Binding, Fit, Verdict, fit, largest_step
from lantau.capacity.formats import UnknownFormatError, format_in_name
from lantau.capacity.request import CardMemory, Flags
from lantau.catalog.architecture import Architecture, UnknownLayoutError
from lantau.catalog.architectures import UnknownModelError, architecture, format_of
from lantau.catalog.cards import UnknownCardError

UNKNOWNS = (UnknownModelError, UnknownLayoutError, UnknownFormatError, UnknownCardError, UnknownEngineError)
"""What the estimator answers with UNKNOWN instead of a guess."""


EXAMPLE = '{"id": "a", "model": "Qwen/Qwen3-8B", "gpu": "RTX 4090"}'


class CaseError(ValueError):
    """A line that is no case; the message names line and field."""


class Case(BaseModel):
    """One case. Keys that the estimator does not need, such as the observation itself, are left alone."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", hide_input_in_errors=True, coerce_numbers_to_str=True, allow_inf_nan=False
    )

    id: str = Field(description="Name of the case, repeated in the answer.")
    model: str = Field(description="Name of the model as published.")
    engine: str = Field(default="vllm", description="Kind of the engine.")
    engine_version: str | None = Field(default=None, description="Version of the engine, or a date such as `Dec 2023`.")
    gpu: str | None = Field(default=None, description="Name of the card, with a MIG profile where it is split.")
    gpu_count: int | None = Field(default=None, ge=1, le=4096, description="Cards at hand.")
    vram_gib: float | None = Field(
        default=None, gt=0, le=2048, description="Memory of one card, GiB, or its nominal GB."
    )
    dtype: str | None = Field(default=None, description="Type of unquantised weights.")
    quant: str | None = Field(default=None, description="Number format of the weights.")
    kv_dtype: str | None = Field(default=None, description="Number format of the cache.")
    tp: int = Field(default=1, ge=1, le=1024, description="Tensor parallelism.")
    pp: int = Field(default=1, ge=1, le=1024, description="Pipeline parallelism.")
    max_model_len: int | None = Field(default=None, ge=1, le=100_000_000, description="Longest context, tokens.")
    gpu_memory_utilization: float | None = Field(default=None, gt=0, le=1, description="Share of the card taken.")
    max_num_seqs: int | None = Field(default=None, ge=1, le=1_000_000, description="Requests of one step.")
    max_num_batched_tokens: int | None = Field(default=None, ge=1, le=100_000_000, description="Tokens of one step.")
    block_size: int | None = Field(default=None, ge=1, le=4096, description="Tokens of a block of the cache.")
    enforce_eager: bool | None = Field(default=None, description="Whether CUDA graphs are off.")
    enable_chunked_prefill: bool | None = Field(default=None, description="Whether long prompts are split.")
    enable_expert_parallel: bool | None = Field(default=None, description="Whether ranks hold whole experts.")


def read_case(line: str, number: int) -> Case:
    """The case in one line of a JSON-lines file; raises CaseError with the line and the field."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        raise CaseError(f"line {number}: is no JSON; a line is one object such as {EXAMPLE}") from None
    if not isinstance(content, dict):
        raise CaseError(f"line {number}: must be one JSON object such as {EXAMPLE}")
    try:
        return case_of(content)
    except CaseError as error:
        raise CaseError(f"line {number}: {error}") from None


def case_of(content: Mapping[str, object]) -> Case:
    """The case with these keys, of which those without a value count as left out; raises CaseError with the field."""
    try:
        return Case.model_validate({key: value for key, value in content.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CaseError(f"{where}: {first['msg']}") from None


@dataclass(frozen=True, slots=True)
class Question:
    """A case in the terms of the estimator."""

    model: Architecture
    card: CardMemory
    engine: Engine
    flags: Flags
    format_name: str | None

    @property
    def step(self) -> Step:
        """The largest step that the engine prepares for."""
        length = self.flags.max_model_len or self.model.max_positions
        return largest_step(self.card, self.engine, self.flags, length)

    def answer(self) -> Fit:
        """The estimate."""
        return fit(self.model, self.card, self.engine, self.flags, format_name=self.format_name)


def question(case: Case, model: Architecture | None = None) -> Question:
    """What a case asks; raises one of UNKNOWNS when something in it is not known.

    `model`: its architecture where it was read from a file; otherwise the catalogue is asked.
    """
    model = model or architecture(case.model)
    card = card_memory(case.gpu, case.vram_gib)
    return Question(
        model=model,
        card=card,
        engine=engine_of(case.engine, case.engine_version, fabric=card.fabric),
        flags=Flags(
            tensor_parallel=case.tp,
            pipeline_parallel=case.pp,
            max_model_len=case.max_model_len,
            utilisation=case.gpu_memory_utilization,
            max_num_seqs=case.max_num_seqs,
            max_num_batched_tokens=case.max_num_batched_tokens,
            kv_dtype=case.kv_dtype,
            dtype=case.dtype,
            block_size=case.block_size or 16,
            eager=bool(case.enforce_eager),
            chunked_prefill=case.enable_chunked_prefill,
            expert_parallel=bool(case.enable_expert_parallel),
        ),
        format_name=case.quant or format_of(case.model) or format_in_name(case.model) or model.quantisation,
    )


def judge(case: Case) -> Fit:
    """Estimate one case; what cannot be told has the verdict UNKNOWN with the reason."""
    try:
        if case.gpu_count is not None and case.tp * case.pp > case.gpu_count:
            return Fit(
                Verdict.DOES_NOT_FIT,
                f"tensor × pipeline parallelism needs {case.tp * case.pp} cards and there are {case.gpu_count}",
                binding=Binding.RULE,
            )
        return question(case).answer()
    except UNKNOWNS as error:
        return Fit(Verdict.UNKNOWN, str(error.args[0]))


def answer(case: Case, found: Fit) -> dict[str, Any]:
    """One line of output; figures are of the rank that has least room."""
    rank, pool = found.rank, found.pool
    return {
        "id": case.id,
        "verdict": found.verdict.value,
        "weights_gib": round(rank.weights, 3) if rank else None,
        "kv_cache_gib": round(rank.cache, 3) if rank else None,
        "kv_cache_tokens": found.tokens if pool else None,
        "max_concurrency": round(found.concurrency, 2) if found.concurrency is not None else None,
        "reason": found.reason,
    }
