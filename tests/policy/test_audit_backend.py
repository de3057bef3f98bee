"""AUD-08."""

from typing import Any

import pytest

from tests.policy.audits import SERVERS, flags, kubeadm_map
from tests.policy.harness import UNKNOWN, clean, fires, judge


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_without_a_backend_is_refused(server: Any) -> None:
    assert fires("AUD-08", server(flags(audit_log_path=None)))


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("changes", [{}, {"audit_log_path": None, "audit_webhook_config_file": "/etc/hook.yaml"}])
def test_a_log_or_a_webhook_passes(server: Any, changes: dict[str, Any]) -> None:
    assert clean("AUD-08", server(flags(**changes)))


def test_an_unknown_path_is_left_to_the_update() -> None:
    assert judge("AUD-08", kubeadm_map(flags(audit_log_path=UNKNOWN))).unjudged
