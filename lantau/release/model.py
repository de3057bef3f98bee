"""What one release of a model is made of. Everything here is reviewed, shipped and rolled back together (A1, A3)."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from lantau.catalog.drivers import CudaVersion
from lantau.catalog.engines import engines, parts
from lantau.modelling import Frozen, ImageByDigest, RuleViolation

PRE_STOP_SECONDS = 15
"""Time between a pod leaving the endpoints and its engine being told to stop, so that gateways learn of it first."""
GRACE_MARGIN_SECONDS = 15
"""Grace period beyond preStop and drain: it must be strictly longer than both (vllm#43208)."""
DRAIN_FLAG = "shutdown-timeout"
"""Without this flag vLLM cuts running requests at SIGTERM."""


class Weights(Frozen):
    """The weights of the model, as an OCI image that the node pulls by digest and keeps."""

    name: str = Field(min_length=1, max_length=120, examples=["Qwen/Qwen3-8B"])
    """Name of the model as its makers publish it."""
    image: ImageByDigest
    """OCI image that holds the weights at its root, by digest; mounted read-only, no download by the engine."""
    format: str | None = Field(default=None, min_length=1, max_length=40, examples=["awq"])
    """Number format of the weights: bf16, fp8, awq, gptq, nvfp4 …; read from the name, or from config.json, when left
    out."""
    config: str | None = Field(default=None, pattern=r"^[\w][\w.-]*\.json$", examples=["qwen3-8b.config.json"])
    """The model's config.json beside this file, for a model that the catalogue does not know; capacity is judged by
    it."""
    signature: str | None = Field(
        default=None,
        pattern=r"^(awskms:///[\w/:-]{1,200}|[\w][\w.-]*\.pub)$",
        examples=["awskms:///alias/lantau-models"],
    )
    """Public key that the cosign signature of the image is verified with: an AWS KMS key, or a .pub file beside this
    file."""


class Engine(Frozen):
    """The inference engine."""

    kind: Literal["vllm", "comfyui"] = Field(examples=["vllm"])
    """Kind of the engine: vllm for language, embedding and speech models, comfyui for workflows of images."""
    version: Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$"), Field(examples=["0.19.0"])]
    """Version of the engine in the image; flags and metrics depend on it."""
    image: ImageByDigest
    """Container image of the engine, by digest."""
    cuda: CudaVersion | None = None
    """Version of CUDA in the image; pools whose driver cannot run it are refused."""

    @property
    def release_line(self) -> tuple[int, int]:
        """Major and minor version."""
        major, minor, _ = self.version.split(".")
        return int(major), int(minor)

    @model_validator(mode="after")
    def _drains(self) -> Self:
        facts = engines()[self.kind]
        if self.kind == "vllm" and not facts.has(DRAIN_FLAG, parts(self.version)):
            since = facts.flags[DRAIN_FLAG]
            raise RuleViolation(
                ("version",),
                f"vLLM {self.version} cuts running requests when a pod stops; it drains from {since} on",
                fix=f"version: {since}",
            )
        return self


class Parameters(Frozen):
    """Flags of the engine. Each is set on purpose: several of vLLM's defaults change with the card and the release."""

    tensor_parallel_size: Literal[1, 2, 4, 8] = 1
    """Cards of one pod."""
    max_model_len: int = Field(ge=256, le=2_000_000, examples=[16384])
    """Longest prompt and answer together, tokens."""
    gpu_memory_utilization: float = Field(default=0.90, gt=0.1, le=0.98)
    """Share of a card's memory that the engine takes."""
    max_num_seqs: int = Field(ge=1, le=4096, examples=[64])
    """Requests in one batch."""
    max_num_batched_tokens: int = Field(ge=256, le=1_000_000, examples=[8192])
    """Tokens in one step; more gives throughput, fewer gives latency."""
    prefix_caching: bool = True
    """Whether equal beginnings of prompts share their KV cache."""
    kv_cache_dtype: Literal["fp8"] | None = None
    """Number format of the KV cache; that of the activations when left out. fp8 holds twice the tokens, on cards with
    FP8 units."""

    @model_validator(mode="after")
    def _batch(self) -> Self:
        if self.max_num_batched_tokens < self.max_num_seqs:
            raise RuleViolation(
                ("max_num_batched_tokens",),
                f"the engine refuses fewer tokens a step than requests in a batch ({self.max_num_seqs})",
                fix=f"max_num_batched_tokens: {max(self.max_num_seqs, 2048)}",
            )
        return self


class Workflow(Frozen):
    """What an engine of workflows runs. It works on one task after the other and keeps the rest in its queue."""

    memory_gib: float = Field(gt=0, le=1024, examples=[18.5])
    """Largest memory of the card that the workflow was seen to take, GiB, as the test stage measured it."""
    requests_at_once: int = Field(default=32, ge=1, le=4096)
    """Connections that one pod takes at once; tasks beyond the one that runs wait in its queue."""


class Resources(Frozen):
    """What a pod gets besides its cards."""

    cpu: int = Field(default=8, ge=1, le=256)
    """CPU cores, requested and limit."""
    memory_gib: int = Field(ge=4, le=4096, examples=[64])
    """Memory in GiB, requested and limit; shared memory counts against it."""
    shared_memory_gib: int = Field(default=2, ge=1, le=512)
    """Size of /dev/shm in GiB; the 64 MiB that containers get otherwise break tensor parallelism."""

    @model_validator(mode="after")
    def _shared(self) -> Self:
        if self.shared_memory_gib >= self.memory_gib:
            raise RuleViolation(("shared_memory_gib",), f"shared memory is part of memory_gib ({self.memory_gib})")
        return self


class Limits(Frozen):
    """What callers may ask for."""

    requests_per_second: int = Field(ge=1, le=100_000, examples=[20])
    """Requests that the gateway lets through each second, for the whole model."""
    answer_tokens: int | None = Field(default=None, ge=1, le=1_000_000, examples=[4096])
    """Longest answer, tokens."""
    tokens_per_second: float | None = Field(default=None, gt=0, le=10_000, examples=[25])
    """Slowest rate at which one answer grows under full load, tokens a second, as the load test measured it."""
    answer_seconds: int | None = Field(default=None, ge=1, le=86_400, examples=[120])
    """Longest time of one answer, seconds, for engines that write no tokens."""

    @property
    def longest_answer_seconds(self) -> int:
        """Time that the longest answer takes, at the slowest rate where it is written token by token, seconds."""
        if self.answer_tokens is not None and self.tokens_per_second is not None:
            return math.ceil(self.answer_tokens / self.tokens_per_second)
        return self.answer_seconds or 0

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        by_tokens = [self.answer_tokens, self.tokens_per_second]
        if self.answer_seconds is not None and by_tokens != [None, None]:
            raise RuleViolation(
                ("answer_seconds",), "the longest answer is told by tokens or by seconds, and both are given"
            )
        if self.answer_seconds is None and None in by_tokens:
            missing = "answer_tokens" if self.answer_tokens is None else "tokens_per_second"
            raise RuleViolation(
                (missing,),
                "the longest answer must be known: answer_tokens with tokens_per_second, or answer_seconds",
                fix="limits: {answer_tokens: 4096, tokens_per_second: 25}   # or answer_seconds: 120",
            )
        return self


class Release(Frozen):
    """One release of a model."""

    model: Weights
    """Weights."""
    engine: Engine
    """Engine that loads them."""
    parameters: Parameters | None = None
    """Flags of vLLM."""
    workflow: Workflow | None = None
    """What ComfyUI runs."""
    resources: Resources
    """What each pod gets."""
    limits: Limits
    """What callers may ask for; drain and time-outs follow from it."""

    @model_validator(mode="after")
    def _described(self) -> Self:
        needed, other = ("parameters", "workflow") if self.engine.kind == "vllm" else ("workflow", "parameters")
        if getattr(self, other) is not None:
            raise RuleViolation((other,), f"{self.engine.kind} does not read this; it has {needed}")
        if getattr(self, needed) is None:
            fix = "parameters: {max_model_len: 16384, max_num_seqs: 64, max_num_batched_tokens: 8192}"
            raise RuleViolation(
                (needed,),
                f"is missing, and {self.engine.kind} needs it",
                fix=fix if needed == "parameters" else "workflow: {memory_gib: <measured peak>}",
            )
        return self

    @model_validator(mode="after")
    def _answer_fits(self) -> Self:
        by_tokens, parameters = self.limits.answer_tokens, self.parameters
        if parameters and by_tokens and by_tokens >= parameters.max_model_len:
            raise RuleViolation(
                ("limits", "answer_tokens"),
                f"an answer has to fit with its prompt into max_model_len ({parameters.max_model_len})",
            )
        return self

    @property
    def flags(self) -> Parameters:
        """Flags of vLLM; only for a release whose engine is vLLM."""
        if self.parameters is None:
            raise TypeError(f"{self.engine.kind} has no such flags")
        return self.parameters

    @property
    def requests_at_once(self) -> int:
        """Requests that one pod takes at once."""
        if self.workflow is not None:
            return self.workflow.requests_at_once
        return self.flags.max_num_seqs

    @property
    def digest(self) -> str:
        """SHA-256 of the release's content in hexadecimal; comments and layout of the file do not count.

        Nor does what is left out, so that a field that a later Lantau knows changes no release that was shipped.
        """
        text = json.dumps(self.model_dump(mode="json", exclude_none=True), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def gpus(self) -> int:
        """Cards of one pod."""
        return 1 if self.parameters is None else self.parameters.tensor_parallel_size

    @property
    def drain_seconds(self) -> int:
        """Time that the engine may take to finish running answers after it is told to stop."""
        return self.limits.longest_answer_seconds

    @property
    def grace_seconds(self) -> int:
        """Termination grace period of a pod, seconds."""
        return PRE_STOP_SECONDS + self.drain_seconds + GRACE_MARGIN_SECONDS
