"""Numbers of the audit log's rotation, judged by value and not by presence."""

import math
from collections.abc import Callable, Iterator, Mapping

from policies.audit.flags import server_flags
from policies.engine.rule import Finding, ResourceCheck, Unjudged, Verdict
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, number
from policies.settings import Settings


def at_least(limits: Callable[[Settings], Mapping[str, int]]) -> ResourceCheck:
    """Check that flags of an API server that logs into a file are at least the given numbers."""

    def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
        for flags in server_flags(resource):
            path = flags.value("audit-log-path")
            # Without a file, or on standard output, the server rotates nothing.
            if not flags.partial and path is not UNKNOWN and (not path or path == "-"):
                continue
            for name, least in limits(settings).items():
                if flags.partial and name not in flags.values:
                    continue
                value = flags.value(name)
                if value is UNKNOWN or (path is UNKNOWN and value is None):
                    yield Unjudged(f"{flags.obj}: {flags.where(name)}")
                    continue
                amount = number(value)
                # Neither "nan" nor "inf" is a number to the server, which does not start with them.
                if amount is None or not least <= amount < math.inf:
                    yield Finding(flags.where(name), f"--{name} must be at least {least}", flags.obj)

    return check
