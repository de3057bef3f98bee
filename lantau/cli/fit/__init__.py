"""`lantau fit`: whether a model fits its cards, how fast it is there, and how many of them a load needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lantau.cli.options import Root, refuse

HELP = (
    "Judge whether a model fits, before anything is deployed.\n\n"
    "MODEL is a name as published, such as Qwen/Qwen3-8B. With --card that card is judged, without it every card of "
    "the catalogue. --stack judges the releases that a stack points to; --cases a file of questions, one JSON object "
    "a line (- is standard input).\n\n"
    "Verdicts: fits; marginal (the bounds hold both: measure first); does not fit; unknown (no rule is known, so "
    "nothing is guessed). Sizes are GiB of one card. Options that are left out have the engine's own defaults at its "
    "version.\n\n"
    "Exit code: 0 fits or marginal, 1 does not fit, 2 bad input or unknown; with --cases 0 when every line was a case."
)
_MODEL = "The model"
_ENGINE = "The engine and its flags"
_LOAD = "The load"
_OUTPUT = "Output"


def fit(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Name of the model as published.")] = None,
    stack: Annotated[str | None, typer.Option(help="Judge the releases that this stack points to.")] = None,
    cases: Annotated[
        str | None, typer.Option(metavar="FILE", help="Judge the cases of a JSON-lines file; - for standard input.")
    ] = None,
    root: Root = Path(),
    card: Annotated[
        str | None, typer.Option(help="Card, with a MIG profile behind it where it is split: 'a100-sxm4-80gb 3g.40gb'.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="config.json of a model that the catalogue lacks.", rich_help_panel=_MODEL),
    ] = None,
    index: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Its safetensors index, for the exact size.", rich_help_panel=_MODEL),
    ] = None,
    quantization: Annotated[
        str | None, typer.Option(help="Number format of the weights: fp8, awq, gptq …", rich_help_panel=_MODEL)
    ] = None,
    dtype: Annotated[
        str | None, typer.Option(help="Type of weights that are not quantised.", rich_help_panel=_MODEL)
    ] = None,
    engine: Annotated[
        str, typer.Option(help="vllm, sglang, tensorrt-llm, tgi, transformers or llama.cpp.", rich_help_panel=_ENGINE)
    ] = "vllm",
    engine_version: Annotated[
        str | None,
        typer.Option(help="Its version; without it the bounds span those in use.", rich_help_panel=_ENGINE),
    ] = None,
    tensor_parallel_size: Annotated[
        int, typer.Option("--tensor-parallel-size", "--tp", help="Tensor parallelism.", min=1, rich_help_panel=_ENGINE)
    ] = 1,
    pipeline_parallel_size: Annotated[
        int, typer.Option("--pipeline-parallel-size", "--pp", help="Stages.", min=1, rich_help_panel=_ENGINE)
    ] = 1,
    max_model_len: Annotated[
        int | None,
        typer.Option("--max-model-len", "--context", help="Longest context, tokens.", min=1, rich_help_panel=_ENGINE),
    ] = None,
    max_num_seqs: Annotated[
        int | None, typer.Option(help="Requests of one step.", min=1, rich_help_panel=_ENGINE)
    ] = None,
    max_num_batched_tokens: Annotated[
        int | None, typer.Option(help="Tokens of one step.", min=1, rich_help_panel=_ENGINE)
    ] = None,
    gpu_memory_utilization: Annotated[
        float | None, typer.Option(help="Share of the card taken, 0 to 1.", max=1.0, rich_help_panel=_ENGINE)
    ] = None,
    kv_cache_dtype: Annotated[
        str | None, typer.Option(help="Number format of the cache: auto, fp8 …", rich_help_panel=_ENGINE)
    ] = None,
    block_size: Annotated[int | None, typer.Option(help="Tokens of a block.", min=1, rich_help_panel=_ENGINE)] = None,
    enforce_eager: Annotated[bool, typer.Option(help="Without CUDA graphs.", rich_help_panel=_ENGINE)] = False,
    requests_per_second: Annotated[
        float | None, typer.Option(help="Peak of the load: prints the replicas it needs.", rich_help_panel=_LOAD)
    ] = None,
    input_tokens: Annotated[
        int, typer.Option(help="Tokens of a prompt, 95th percentile.", min=1, rich_help_panel=_LOAD)
    ] = 1500,
    output_tokens: Annotated[
        int, typer.Option(help="Tokens of an answer, 95th percentile.", min=1, rich_help_panel=_LOAD)
    ] = 500,
    price_card_hour: Annotated[
        float | None, typer.Option(help="Price of one card for an hour.", min=0, rich_help_panel=_LOAD)
    ] = None,
    price_kwh: Annotated[
        float, typer.Option(help="Price of a kWh, where it is not in the card's price.", min=0, rich_help_panel=_LOAD)
    ] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.", rich_help_panel=_OUTPUT)] = False,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the memory of the cards, .svg or .png.", rich_help_panel=_OUTPUT),
    ] = None,
) -> None:
    """Judge whether a model fits; `HELP` tells the rest."""
    from lantau.report.chart import check_chart

    given = [name for name, value in (("MODEL", model or config), ("--stack", stack), ("--cases", cases)) if value]
    if len(given) != 1:
        choice = " and ".join(given) + " were given together: choose one" if given else "nothing to judge was named"
        refuse(f"{choice}. Write lantau fit MODEL --card CARD, lantau fit --stack STACK, or lantau fit --cases FILE")
    if chart is not None:
        check_chart(chart)
    if cases:
        from lantau.cli.fit.cases import fit_cases

        fit_cases(cases, as_json=as_json, chart=chart)
        return
    if stack:
        from lantau.cli.fit.stack import fit_stack

        fit_stack(root, stack, as_json=as_json, chart=chart)
        return
    from lantau.capacity.cases import CaseError, case_of
    from lantau.capacity.sizing import Load, Prices
    from lantau.cli.fit.single import Wanted, fit_model

    if requests_per_second is not None and not 0 < requests_per_second <= 1e6:
        refuse("--requests-per-second must be above 0 and at most 1,000,000")
    if gpu_memory_utilization is not None and gpu_memory_utilization <= 0:
        refuse("--gpu-memory-utilization must be above 0, such as 0.9")
    given_flags = {
        "id": model or str(config),
        "model": model or str(config),
        "engine": engine,
        "engine_version": engine_version,
        "gpu": card,
        "dtype": dtype,
        "quant": quantization,
        "kv_dtype": kv_cache_dtype,
        "tp": tensor_parallel_size,
        "pp": pipeline_parallel_size,
        "max_model_len": max_model_len,
        "gpu_memory_utilization": gpu_memory_utilization,
        "max_num_seqs": max_num_seqs,
        "max_num_batched_tokens": max_num_batched_tokens,
        "block_size": block_size,
        "enforce_eager": enforce_eager,
    }
    try:
        question = case_of(given_flags)
    except CaseError as error:
        refuse(str(error))
    wanted = Wanted(
        question,
        config,
        index,
        Load(requests_per_second, input_tokens, output_tokens) if requests_per_second else None,
        Prices(price_card_hour, price_kwh) if price_card_hour is not None else None,
    )
    fit_model(wanted, as_json=as_json, chart=chart)
