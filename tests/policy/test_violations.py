"""Every rule fires on its own violation, and no violation hides when it is wrapped."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.pack import rules
from tests.policy.harness import fires, judge
from tests.policy.manifests import POD_HOLDERS, container, listed, pod_spec, typed_list
from tests.policy.samples import CLEAN_NAMED, DOCUMENTS, NAMED, SHAPED, URLS, b64
from tests.policy.violations import SETTINGS, VIOLATIONS, token

CONFIG = {key: value for key, value in SETTINGS.items() if key != "exceptions"}
# The position or the options of the resource are what these rules judge.
PLACED = {"SUP-03", "DAT-01"}
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_every_rule_has_a_violation() -> None:
    about_the_pack = {"PACK-01", "PACK-02", "PACK-03"}
    assert set(VIOLATIONS) | about_the_pack == {rule.control for rule in rules()}


@pytest.mark.parametrize("control", VIOLATIONS)
def test_the_rule_fires(control: str) -> None:
    assert fires(control, VIOLATIONS[control], token=token(control), config=CONFIG)


@pytest.mark.parametrize("control", [control for control in VIOLATIONS if control not in PLACED])
def test_the_rule_fires_inside_lists_and_manifests_that_carry_manifests(control: str) -> None:
    bad = VIOLATIONS[control]
    carrier = {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": "carrier"},
        "spec": {"workload": {"manifests": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}, bad]}},
    }
    assert fires(control, listed(bad), config=CONFIG)
    assert fires(control, typed_list(bad), config=CONFIG)
    assert fires(control, listed(listed(bad)), config=CONFIG)
    if bad.get("metadata"):
        assert fires(control, carrier, config=CONFIG)


@pytest.mark.parametrize("control", VIOLATIONS)
def test_the_rule_does_not_change_what_it_judges(control: str) -> None:
    before = copy.deepcopy(VIOLATIONS[control])
    fires(control, VIOLATIONS[control], token=token(control), config=CONFIG)
    assert VIOLATIONS[control] == before


Wrap = Callable[[str], str]


def _json(text: str) -> str:
    return json.dumps({"outer": {"inner": text}})


def _yaml(text: str) -> str:
    return str(yaml.safe_dump({"outer": [{"inner": text}]}, width=10**6))


ENCODINGS: dict[str, Wrap] = {
    "base64": b64,
    "hex": lambda text: text.encode().hex(),
    "yaml": _yaml,
    "script": lambda text: f"#!/bin/sh\ncat > /x <<'EOF'\n{text}\nEOF\n",
    "json": _json,
    "lines": lambda text: f"first line\n{text}\nlast line",
}


@QUICK
@given(
    value=st.sampled_from([*SHAPED, *URLS]),
    layers=st.lists(st.sampled_from(sorted(ENCODINGS)), max_size=3),
)
def test_a_key_is_found_behind_any_wrapping(value: str, layers: list[str]) -> None:
    for layer in layers:
        value = ENCODINGS[layer](value)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"note": value}}
    assert fires("KEY-02", manifest), layers


@QUICK
@given(
    pair=st.sampled_from([*NAMED, *DOCUMENTS]),
    hold=st.sampled_from(POD_HOLDERS),
    where=st.sampled_from(["containers", "initContainers", "ephemeralContainers"]),
    before=st.integers(0, 3),
    inside_list=st.booleans(),
)
def test_a_key_is_found_in_any_container_of_any_kind(
    pair: tuple[str, str], hold: Any, where: str, before: int, inside_list: bool
) -> None:
    name, value = pair
    clean = [{"name": f"N{n}", "value": "plain"} for n in range(before)]
    bad = container(env=[*clean, {"name": name, "value": value}])
    manifest = hold(pod_spec(**{where: [*(container() for _ in range(before)), bad]}))
    assert fires("KEY-01", listed(manifest) if inside_list else manifest)


@QUICK
@given(
    pairs=st.lists(st.sampled_from(CLEAN_NAMED), max_size=6),
    hold=st.sampled_from(POD_HOLDERS),
    numbers=st.lists(st.integers(0, 10**9), max_size=3),
    text=st.text(st.characters(codec="ascii", categories=["Ll", "Nd"]), max_size=40),
)
def test_clean_programs_stay_clean(pairs: list[tuple[str, str]], hold: Any, numbers: list[int], text: str) -> None:
    env = [{"name": name, "value": value} for name, value in pairs]
    env += [{"name": "MAX_TOKENS", "value": str(number)} for number in numbers] + [{"name": "NOTE", "value": text}]
    manifest = hold(pod_spec(containers=[container(env=env)]))
    for control in (f"KEY-{number:02}" for number in range(1, 10)):
        assert not judge(control, manifest).messages


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["apiVersion", "kind", "metadata", "spec", "containers", "rules", "env", "items", "data", "name"]
            )
            | st.text(max_size=8),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@QUICK
@given(
    body=st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "rules", "data", "items"]), JSON)
)
def test_no_shape_of_input_breaks_a_rule(body: dict[str, Any]) -> None:
    for rule in rules():
        outcome = judge(rule.control, body, token="kubernetes:apps/v1:Deployment")
        assert not [message for message in outcome.messages if "itself failed" in message], rule.control
