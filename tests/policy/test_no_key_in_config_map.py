"""KEY-02."""

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.key_manifests import PAIRS, config_map
from tests.policy.manifests import listed
from tests.policy.samples import CLEAN_DOCUMENTS, CLEAN_NAMED, DOCUMENTS, b64


@pytest.mark.parametrize(("name", "value"), [*DOCUMENTS, *PAIRS])
def test_a_key_in_a_config_map_is_found(name: str, value: str) -> None:
    assert fires("KEY-02", config_map(name, value))
    assert fires("KEY-02", config_map(name, b64(value), "binaryData"))
    assert fires("KEY-02", listed(config_map("a", "b"), config_map(name, value)))


@pytest.mark.parametrize(("name", "value"), [*DOCUMENTS, *((n, v) for n, v in PAIRS if n == "NOTE")])
def test_a_key_encoded_in_a_config_map_is_found(name: str, value: str) -> None:
    assert fires("KEY-02", config_map(name, b64(value)))
    assert fires("KEY-02", config_map(name, b64(b64(value))))


@pytest.mark.parametrize(("name", "value"), [*CLEAN_NAMED, *CLEAN_DOCUMENTS])
def test_a_clean_config_map_passes(name: str, value: str) -> None:
    assert all(clean(f"KEY-{n:02}", config_map(name, value)) for n in range(1, 10))


def test_unknown_data_is_left_to_the_update() -> None:
    assert judge("KEY-02", {**config_map("a", "b"), "data": UNKNOWN}).unjudged
    assert judge("KEY-02", config_map("a", UNKNOWN)).unjudged
