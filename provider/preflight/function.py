"""`lantau:index:preflight`: asked during preview, it tells everything that stands in the way at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from pulumi.provider.experimental.provider import CheckFailure

from provider.config import ProviderConfig
from provider.preflight.cluster import look_at_cluster
from provider.preflight.problems import Findings
from provider.preflight.request import read_request
from provider.preflight.store import look_at_store
from provider.values import Plain

TOKEN: Final = "lantau:index:preflight"  # noqa: S105 - a function token, not a credential


def preflight(config: ProviderConfig, args: Plain) -> tuple[Plain, list[CheckFailure]]:
    """Look at cluster and store side by side.

    Gives `ok`, `problems` and `server`; what is wrong with either is a problem, never an exception. Failures tell of
    wrong arguments only.
    """
    request, failures = read_request(args, config.context)
    if failures:
        return {}, failures
    of_cluster, of_store = Findings(), Findings()
    with ThreadPoolExecutor(max_workers=1) as threads:
        store = threads.submit(look_at_store, request, config.region, of_store)
        server = look_at_cluster(request, of_cluster)
        store.result()
    problems = [*of_cluster.problems, *of_store.problems]
    answer: Plain = {"ok": not problems, "problems": [problem.to_plain() for problem in problems]}
    return answer if server is None else {**answer, "server": server}, []
