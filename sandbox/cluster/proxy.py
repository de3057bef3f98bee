"""A proxy is for the world outside this machine."""

from collections.abc import Mapping
from typing import Final

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def without_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that keep requests to this machine off the proxy which `environment` may name."""
    named = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    hosts = [host.strip() for host in named.split(",") if host.strip()]
    value = ",".join(dict.fromkeys([*hosts, *LOOPBACK]))
    return {"NO_PROXY": value, "no_proxy": value}
