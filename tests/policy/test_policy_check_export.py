"""`lantau policy-check` over what `pulumi stack export` prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.policy.checking import Checked, check, text
from tests.policy.samples import WORD

MARK = "4dabf18193072939515e22adb298388d"
SECRET = {MARK: "1b47061264138c4ac30d75fd1eb44270"}


def exported(tmp_path: Path, *resources: Any) -> Checked:
    document = {"version": 3, "deployment": {"manifest": {}, "resources": list(resources)}}
    return check(text(tmp_path / "stack.json", json.dumps(document, indent=4)))


def state(inputs: Any, kind: str = "kubernetes:core/v1:ConfigMap", **more: Any) -> dict[str, Any]:
    return {"urn": f"urn:pulumi:dev::p::{kind}::cm", "type": kind, "custom": True, "inputs": inputs, **more}


def test_a_resource_is_told_by_its_place_in_the_export(tmp_path: Path) -> None:
    patch = state({"data": {"password": WORD}}, "kubernetes:core/v1:ConfigMapPatch")
    found = exported(tmp_path, state({"data": {"a": "b"}}), patch)
    (line,) = found.lines
    assert (line["document"], line["kind"], line["control"], line["name"]) == (2, "ConfigMap", "KEY-02", "cm")


def test_encrypted_secrets_are_said_to_be_unjudged_and_never_repeated(tmp_path: Path) -> None:
    sealed = {**SECRET, "ciphertext": "v1:" + WORD}
    found = exported(tmp_path, state({"data": {"password": sealed}}, outputs={"data": {"password": sealed}}))
    assert (found.code, [line["level"] for line in found.lines]) == (0, ["advisory"])
    assert "1 secret is encrypted and not judged; pulumi stack export --show-secrets opens them" in found.err
    assert WORD not in found.out + found.err


def test_opened_secrets_are_judged_and_never_repeated(tmp_path: Path) -> None:
    found = exported(tmp_path, state({"data": {"password": {**SECRET, "plaintext": json.dumps(WORD)}}}))
    assert (found.code, found.controls, found.err) == (1, ["KEY-02"], "")
    assert WORD not in found.out


def test_special_values_are_read(tmp_path: Path) -> None:
    asset = {MARK: "c44067f5952c0a294b673a41bacd8c17", "hash": "a", "text": f"auth:\n  password: {WORD}\n"}
    lost = {MARK: "c44067f5952c0a294b673a41bacd8c17", "hash": "a", "path": "./nowhere/values.yaml"}
    values = state({"chart": "a", "version": "1", "valueYamlFiles": [asset, lost]}, "kubernetes:helm.sh/v3:Release")
    reference = state({"other": {MARK: "5cf8f73096256a8f31e491e813e4eb8e", "urn": "urn:x"}}, "pkg:index:Component")
    output = state({"data": {"password": {MARK: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": WORD}}})
    places = [
        (line["document"], line["control"], line["level"])
        for line in exported(tmp_path, values, reference, output).lines
    ]
    assert (1, "KEY-09", "mandatory") in places
    assert (1, "KEY-09", "advisory") in places
    assert (3, "KEY-02", "mandatory") in places


def test_resources_on_their_way_out_are_not_judged(tmp_path: Path) -> None:
    assert exported(tmp_path, state({"data": {"password": WORD}}, delete=True)).lines == []


def test_a_state_file_of_a_backend_is_an_export_too(tmp_path: Path) -> None:
    resources = [state({"data": {"password": WORD}})]
    file = text(tmp_path / "dev.json", json.dumps({"version": 3, "checkpoint": {"latest": {"resources": resources}}}))
    assert check(file).controls == ["KEY-02"]
    assert check(tmp_path).controls == ["KEY-02"]


@pytest.mark.parametrize("deployment", [{}, {"resources": None}, {"resources": 3}, {"latest": None}, {"latest": [1]}])
def test_an_empty_stack_is_clean(tmp_path: Path, deployment: Any) -> None:
    found = check(text(tmp_path / "stack.json", json.dumps({"version": 3, "deployment": deployment})))
    assert (found.code, found.out) == (0, "")


@pytest.mark.parametrize(
    "resource",
    [
        None,
        3,
        {"type": 3},
        {"type": "a"},
        state(3),
        state({"a": {**SECRET, "plaintext": "{"}}),
        state({"a": {**SECRET, "plaintext": 3}}),
        state({"a": {**SECRET, "plaintext": "[" * 100_000}}),
        state({"a": {**SECRET, "plaintext": "[" * 400 + "]" * 400}}),
        state({"a": {MARK: "c44067f5952c0a294b673a41bacd8c17"}}),
        state({"a": {MARK: "c44067f5952c0a294b673a41bacd8c17", "path": 3}}),
        state({"a": {MARK: "0def7320c3a5731c473e5ecbe6d01bc7", "assets": {"b": 3}}}),
        state({"a": {MARK: []}}),
    ],
    ids=lambda resource: json.dumps(resource)[-40:],
)
def test_odd_resources_never_end_in_a_traceback_and_hide_no_other(tmp_path: Path, resource: Any) -> None:
    found = exported(tmp_path, resource, state({"data": {"password": WORD}}))
    assert found.code in (1, 2)
    assert (2, "KEY-02") in [(line["document"], line["control"]) for line in found.lines]
    assert "the rule itself failed" not in found.out
