"""From figures to what is short and what to do about it: the three cases of S2's growth stage, and their look-alikes.

Each finding rests on figures that it names. A figure that is missing is said to be missing, and nothing is concluded
without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lantau.diagnose.snapshot import Snapshot

CACHE_FULL: Final = 0.90
"""Share of the cache from which alerts are proposed for vLLM (llm-d issue 553)."""
PREEMPTIONS: Final = 1.0
"""Preemptions a minute that callers feel: each one computes a request's tokens again."""
CARD_IDLE: Final = 0.50
"""Share of the time with a kernel running below which a card has room; this measure flatters, so it may have more."""
CARD_BUSY: Final = 0.85
FIRST_TOKEN_SECONDS: Final = 2.0
"""Wait for the first token that interactive users take for slow; the command's option replaces it."""
TOKEN_GAP_SECONDS: Final = 0.10
"""Ten tokens a second: what a person reads."""
QUEUE_SHARE: Final = 0.5
"""Share of the wait for the first token that is spent in the engine's queue."""
BEFORE_ENGINE: Final = 1.5
"""How many times the engine's own time a request may take at the edge."""
BEFORE_ENGINE_SECONDS: Final = 0.5
ROUND_TRIP_SECONDS: Final = 0.10
"""Round trip from which a city's line is no direct one: those take 10 to 60 ms between Hong Kong and the mainland."""
LOSS: Final = 0.01
"""Share of lost probes from which streams stutter."""
RESTARTS: Final = 2.0


class Kind(StrEnum):
    """What is short."""

    MEMORY_SHORT = "memory-short"
    IDLE_BUT_SLOW = "card-idle-but-slow"
    COMPUTE_SHORT = "compute-short"
    PATH_SLOW = "path-slow"
    RESTARTING = "restarting"
    CARD_FAULT = "card-fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is short."""

    kind: Kind
    subject: str
    """The model, pod or city."""
    evidence: tuple[str, ...]
    """The figures that it rests on."""
    actions: tuple[str, ...]
    """What to do, the cheapest first."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, and what could not be judged for want of figures."""

    findings: tuple[Finding, ...]
    unjudged: tuple[str, ...]
    """Questions that stay open, each with the signals that are missing."""


def diagnose(snapshot: Snapshot, *, first_token: float = FIRST_TOKEN_SECONDS) -> Diagnosis:
    """Judge a snapshot; `first_token` is the wait in seconds that callers accept for the first token."""
    findings = [
        *(found for model in _models(snapshot) for found in _model(snapshot, model, first_token)),
        *_pods(snapshot),
        *_paths(snapshot),
    ]
    return Diagnosis(tuple(findings), tuple(_unjudged(snapshot)))


def _models(snapshot: Snapshot) -> list[str]:
    return sorted({*snapshot.of("cache_used"), *snapshot.of("waiting"), *snapshot.of("first_token")})


def _model(snapshot: Snapshot, model: str, accepted: float) -> Iterator[Finding]:
    cache = snapshot.of("cache_used").get(model)
    waiting = snapshot.of("waiting").get(model, 0.0)
    preempted = snapshot.of("preemptions").get(model, 0.0)
    if cache is not None and cache >= CACHE_FULL and (waiting >= 1 or preempted >= PREEMPTIONS):
        evidence = [f"the cache is {cache:.0%} full (P95)"]
        evidence += [f"{waiting:.1f} requests wait"] if waiting >= 1 else []
        evidence += [f"{preempted:.1f} requests a minute lose their place and start again"] if preempted > 0 else []
        lengths = _lengths(snapshot, model)
        yield Finding(Kind.MEMORY_SHORT, model, (*evidence, *lengths), MEMORY_ACTIONS)
        return
    slow = list(_slow(snapshot, model, accepted))
    busy = busy_share(snapshot, model)
    if not slow or busy is None:
        return
    if busy >= CARD_BUSY:
        yield Finding(Kind.COMPUTE_SHORT, model, (*slow, f"its cards compute {busy:.0%} of the time"), COMPUTE_ACTIONS)
    elif busy < CARD_IDLE:
        evidence = [*slow, f"its cards compute {busy:.0%} of the time only"]
        yield Finding(Kind.IDLE_BUT_SLOW, model, tuple(evidence), tuple(_idle_actions(snapshot, model)))


def _lengths(snapshot: Snapshot, model: str) -> Iterator[str]:
    prompt = snapshot.of("prompt_tokens").get(model)
    answer = snapshot.of("answer_tokens").get(model)
    if prompt is not None and answer is not None:
        yield f"a long request has {prompt:,.0f} + {answer:,.0f} tokens (P95)"


def _slow(snapshot: Snapshot, model: str, accepted: float) -> Iterator[str]:
    first = snapshot.of("first_token").get(model)
    gap = snapshot.of("token_gap").get(model)
    if first is not None and first > accepted:
        yield f"the first token takes {first:.1f} s (P95, {accepted:g} s are accepted)"
    if gap is not None and gap > TOKEN_GAP_SECONDS:
        yield f"{gap * 1000:.0f} ms pass between two tokens (P95)"
    lost = _lost_before_engine(snapshot, model)
    if lost:
        yield lost


def _lost_before_engine(snapshot: Snapshot, model: str) -> str | None:
    edge = snapshot.of("edge_time").get("")
    engine = snapshot.of("answer_time").get(model)
    # With several models the edge's figure is of all of them together and says nothing about the faster ones.
    slowest = max(snapshot.of("answer_time").values(), default=None)
    if edge is None or engine is None or engine != slowest:
        return None
    if edge < engine * BEFORE_ENGINE + BEFORE_ENGINE_SECONDS:
        return None
    return f"callers wait {edge:.1f} s, of which the engine takes {engine:.1f} s (P95)"


def busy_share(snapshot: Snapshot, model: str) -> float | None:
    """Share of the time that a model's cards compute, over its pods; None when no card's figure belongs to it."""
    by_pod = snapshot.of("card_busy")
    others = [other for other in _models(snapshot) if other != model and len(other) > len(model)]
    own = [
        value
        for pod, value in by_pod.items()
        # Pods are named after model and release; the longest model name that fits owns the pod.
        if pod.startswith(f"{model}-") and not any(pod.startswith(f"{other}-") for other in others)
    ]
    return sum(own) / len(own) if own else None


def _idle_actions(snapshot: Snapshot, model: str) -> Iterator[str]:
    waiting = snapshot.of("waiting").get(model, 0.0)
    first, queue = snapshot.of("first_token").get(model), snapshot.of("queue_time").get(model)
    queued = first is not None and queue is not None and queue > first * QUEUE_SHARE
    if waiting >= 1 or queued:
        yield (
            "Requests queue in the engine while its cards idle: raise parameters.max_num_seqs in a new release, "
            "and parameters.max_num_batched_tokens where prompts are long; lantau fit tells what the memory allows."
        )
    if _lost_before_engine(snapshot, model):
        yield (
            "The time is lost before the engine: look at the backend's waits, its database's indices, the vector "
            "search and the queue, in this order, by the trace id of a slow request."
        )
        yield "Give long work (uploads, parsing, batches) a task and an answer to fetch, instead of an open request."
        yield "Raise business.backend.replicas, and cache answers that repeat."
    if waiting < 1 and not queued:
        yield (
            "The engine has few requests at once: let clients send in parallel, so that continuous batching has "
            "something to batch."
        )
        yield "Check that prefix caching is on (parameters.prefix_caching) where prompts begin alike."


MEMORY_ACTIONS: Final = (
    "Ask for what is needed: lower parameters.max_model_len to what long requests have, in a new release.",
    "Give embeddings a model of their own, on other cards, if they share this one.",
    "Store the cache in fp8 (parameters.kv_cache_dtype: fp8) on cards that have it: twice the tokens.",
    "Quantise the weights (AWQ, fp8), with an evaluation in the release: what they leave goes to the cache.",
    "Raise replicas: the load is spread, and each cache holds less.",
    "Move to cards with more memory; lantau fit MODEL shows what each would hold.",
)
COMPUTE_ACTIONS: Final = (
    "Raise replicas, or move batch work to the offline pool if it shares these cards.",
    "Quantise to fp8 where the cards compute in it; elsewhere AWQ helps while batches are small.",
    (
        "Choose by what waits: a slow first token wants arithmetic (TFLOP/s), slow tokens want memory bandwidth; "
        "lantau fit MODEL --card CARD tells both."
    ),
)
PATH_ACTIONS: Final = (
    "Compare both directions with mtr in the evening, from the city and from Hong Kong: the way back often differs.",
    "Put users of the mainland on CN2, 9929 or CMIN2 (network.route), not on plain BGP.",
    "Serve images, video and static files from a CDN, and downloads from another host than the API.",
    "It is not the cards: larger ones change nothing here.",
)
RESTART_ACTIONS: Final = (
    "Read why: kubectl -n lantau-inference logs --previous POD, and its last state (OOMKilled is the host's memory).",
    "An out-of-memory at start is told beforehand by lantau fit --stack STACK.",
    "Go back to the release before if this one never became stable.",
)
FAULT_ACTIONS: Final = (
    "Look the XID up in NVIDIA's catalogue; 48, 63, 64, 79, 94 and 95 mean that the card or its slot is at fault.",
    "Drain the node and run dcgmi diag -r 3 before it serves again.",
)


def _pods(snapshot: Snapshot) -> Iterator[Finding]:
    for pod, count in sorted(snapshot.of("restarts").items()):
        if count >= RESTARTS:
            evidence = f"its containers started again {count:.0f} times within {snapshot.window}"
            yield Finding(Kind.RESTARTING, pod, (evidence,), RESTART_ACTIONS)
    for pod, code in sorted(snapshot.of("card_faults").items()):
        if code > 0:
            yield Finding(Kind.CARD_FAULT, pod, (f"its card reported XID {code:.0f}",), FAULT_ACTIONS)


def _paths(snapshot: Snapshot) -> Iterator[Finding]:
    trips, losses = snapshot.of("round_trip"), snapshot.of("loss")
    for city in sorted({*trips, *losses}):
        evidence = []
        if (trip := trips.get(city)) is not None and trip > ROUND_TRIP_SECONDS:
            evidence.append(f"a round trip takes {trip * 1000:.0f} ms (P95)")
        if (loss := losses.get(city)) is not None and loss > LOSS:
            evidence.append(f"{loss:.1%} of the probes are lost")
        if evidence:
            yield Finding(Kind.PATH_SLOW, city or "the line", tuple(evidence), PATH_ACTIONS)


_QUESTIONS: Final = (
    ("whether memory is short", ("cache_used", "waiting")),
    ("whether cards idle while callers wait", ("card_busy", "first_token")),
    ("whether time is lost before the engine", ("edge_time", "answer_time")),
    ("whether the line is slow", ("round_trip", "loss")),
    ("whether engines restart", ("restarts",)),
)


def _unjudged(snapshot: Snapshot) -> Iterator[str]:
    missing = set(snapshot.missing)
    for question, needed in _QUESTIONS:
        lacking = [name for name in needed if name in missing]
        if lacking:
            yield f"{question}: no figures of {', '.join(lacking)}"
