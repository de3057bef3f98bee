"""AUD-09."""

from typing import Any

import pytest

from tests.policy.audits import SERVERS, flags, kubeadm_map
from tests.policy.harness import UNKNOWN, clean, fires, judge


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("days", ["7", "29", "0", None, "soon"])
def test_a_log_that_is_thrown_away_early_is_refused(server: Any, days: Any) -> None:
    assert fires("AUD-09", server(flags(audit_log_maxage=days)))


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("days", ["30", "90", "365"])
def test_a_log_that_is_kept_passes(server: Any, days: str) -> None:
    assert clean("AUD-09", server(flags(audit_log_maxage=days)))


def test_without_a_file_there_is_nothing_to_keep() -> None:
    assert clean("AUD-09", kubeadm_map(flags(audit_log_path=None, audit_log_maxage=None)))
    assert clean("AUD-09", kubeadm_map(flags(audit_log_path="-", audit_log_maxage=None)))


def test_the_days_are_configured() -> None:
    assert fires("AUD-09", kubeadm_map(flags(audit_log_maxage="89")), config={"minAuditDays": 90.0})


def test_an_unknown_age_is_left_to_the_update() -> None:
    assert judge("AUD-09", kubeadm_map(flags(audit_log_maxage=UNKNOWN))).unjudged
