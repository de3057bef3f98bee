"""`lantau policy-check`: manifests of any origin, judged by the policy pack."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HELP = (
    "Judge manifests by the policy pack, without an engine or a cluster.\n\n"
    "PATH is a YAML or JSON file, a folder (every .yaml, .yml and .json below it), or - for stdin. "
    "What kubectl get -o yaml, helm template and pulumi stack export print can be judged as it is. "
    "Documents of one file are judged together, files each on its own.\n\n"
    "Exit code: 0 no mandatory finding; 1 a mandatory finding; 2 bad input, while whatever could be read is judged.\n\n"
    "With --json each finding is one line with the keys file, document (place in the file, from 1; "
    "in an exported stack the place of the resource), kind and name (of the object), policy, control, "
    "level (mandatory or advisory), severity, message, and path (of the field, from the top of the document, "
    "such as spec.template.spec.containers[0].env[1].value).\n\n"
    "FILE holds what pulumi --policy-pack-config takes: levels by policy; settings and exceptions under pack-settings."
)


def policy_check(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Manifests, folders, stack exports, or - for standard input.")
    ],
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Levels, settings and exceptions, JSON or YAML.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a finding, one finding a line.")] = False,
) -> None:
    """Judge manifests by the policy pack; `HELP` tells the rest."""
    # The pack and its SDK take longer to load than the other commands to run.
    from policies.check import run

    raise typer.Exit(run(paths, config, as_json=as_json))
