"""Requests to this machine never go through a proxy."""

from __future__ import annotations

import urllib.request
from typing import Any

import pytest

from sandbox.cluster import without_proxy

proxy_bypass_environment: Any = vars(urllib.request)["proxy_bypass_environment"]


@pytest.mark.parametrize("given", [{}, {"NO_PROXY": "corp.example"}, {"no_proxy": "corp.example, .lan"}])
def test_loopback_is_kept_off_the_proxy_and_the_users_own_exceptions_stay(given: dict[str, str]) -> None:
    variables = without_proxy(given)
    assert variables["NO_PROXY"] == variables["no_proxy"]
    exceptions = {"no": variables["no_proxy"]}
    assert proxy_bypass_environment("127.0.0.1", exceptions)
    assert proxy_bypass_environment("localhost", exceptions)
    assert not proxy_bypass_environment("aws.example", exceptions)
    if given:
        assert proxy_bypass_environment("corp.example", exceptions)
