"""DAT-01."""

from tests.policy.harness import clean, fires

PRODUCTION = {"productionStacks": ["*"]}


CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "team-a"}}


def test_an_unprotected_claim_is_refused_in_production() -> None:
    assert fires("DAT-01", CLAIM, config=PRODUCTION)
    assert clean("DAT-01", CLAIM, config=PRODUCTION, protect=True)
    assert clean("DAT-01", CLAIM)
