"""AUD-10."""

from typing import Any

import pytest

from tests.policy.audits import SERVERS, flags, kubeadm_list
from tests.policy.harness import UNKNOWN, clean, fires, judge


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    "changes",
    [
        {"audit_log_maxbackup": "9"},
        {"audit_log_maxbackup": None},
        {"audit_log_maxsize": "99"},
        {"audit_log_maxsize": None},
    ],
)
def test_a_log_that_is_overwritten_early_is_refused(server: Any, changes: dict[str, Any]) -> None:
    assert fires("AUD-10", server(flags(**changes)))


@pytest.mark.parametrize("server", SERVERS)
def test_ten_files_of_a_hundred_megabytes_pass(server: Any) -> None:
    assert clean("AUD-10", server(flags()))


def test_an_unknown_size_is_left_to_the_update() -> None:
    assert judge("AUD-10", kubeadm_list(flags(audit_log_maxsize=UNKNOWN))).unjudged
