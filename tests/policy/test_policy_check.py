"""`lantau policy-check`: the rules over files."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from policies.check.command import run
from tests.policy.manifests import deployment, grant, pod, pod_spec, role
from tests.policy.networks import namespace, net_policy
from tests.policy.samples import WORD, some

FIELDS = ["file", "document", "kind", "name", "policy", "control", "level", "severity", "message", "path"]


def write(path: Path, *manifests: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\n".join(yaml.safe_dump(manifest) for manifest in manifests), encoding="utf-8")
    return str(path)


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


BAD = role(grant(), grant("", "secrets", "list"))


def test_a_finding_is_one_line_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.yaml", role(grant()), BAD)
    assert run([file], as_json=True) == 1
    (line,) = lines(capsys)
    assert list(line) == FIELDS
    assert line["file"] == file
    assert line["document"] == 2
    assert (line["kind"], line["name"], line["control"]) == ("Role", "reader", "RBAC-05")
    assert (line["level"], line["severity"], line["path"]) == ("mandatory", "critical", "rules[1]")


def test_a_clean_file_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([write(tmp_path / "a.yaml", role(grant()))]) == 0
    assert capsys.readouterr().out == ""


def test_documents_of_one_file_are_judged_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    together = write(tmp_path / "a.yaml", namespace(**labels), net_policy(), pod())
    assert run([together]) == 0
    write(tmp_path / "b/1.yaml", namespace(**labels), pod())
    write(tmp_path / "b/2.yaml", net_policy())
    assert run([str(tmp_path / "b")], as_json=True) == 1
    assert {line["control"] for line in lines(capsys)} == {"NET-01", "NET-07"}


def test_json_and_lists_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [BAD]}), encoding="utf-8")
    assert run([str(tmp_path / "a.json")], as_json=True) == 1
    assert [line["path"] for line in lines(capsys)] == ["items[0].rules[1]"]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(yaml.safe_dump(BAD)))
    assert run(["-"], as_json=True) == 1
    assert [line["file"] for line in lines(capsys)] == ["-"]


@pytest.mark.parametrize("text", ["a: [", "just text", "a: b: c", "a: &a [*a]"])
def test_input_that_cannot_be_judged_is_told_without_its_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "a.yaml").write_text(f"password: {WORD}\n---\n{text}\n", encoding="utf-8")
    assert run([str(tmp_path / "a.yaml")]) == 2
    captured = capsys.readouterr()
    assert "a.yaml" in captured.err
    assert WORD not in captured.err


def test_a_file_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([str(tmp_path / "none.yaml")]) == 2
    assert run([str(tmp_path)]) == 2
    assert "no such file" in capsys.readouterr().err


def test_a_bad_file_does_not_hide_the_findings_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "b.yaml", BAD)
    (tmp_path / "a.yaml").write_text("a: [", encoding="utf-8")
    assert run([str(tmp_path)], as_json=True) == 2
    assert len(lines(capsys)) == 1


def configured(tmp_path: Path, **config: Any) -> str:
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(tmp_path / "config.json")


def test_levels_are_configured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.yaml", BAD)
    assert run([file], configured(tmp_path, **{"rbac-no-secret-read": "advisory"}), as_json=True) == 0
    assert [line["level"] for line in lines(capsys)] == ["advisory"]
    assert run([file], configured(tmp_path, **{"rbac-no-secret-read": {"enforcementLevel": "disabled"}})) == 0
    assert run([file], configured(tmp_path, all="advisory", **{"rbac-no-secret-read": "mandatory"})) == 1


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"rbac-no-secret-reed": "advisory"}, "did you mean rbac-no-secret-read?"),
        ({"rbac-no-secret-read": "loud"}, "must be one of"),
        ({"rbac-no-secret-read": 3}, "must be a level or a mapping"),
        ({"pack-settings": {"gpuTier": ["a"]}}, "gpuTier is no setting"),
        ({"pack-settings": {"gpuTiers": "a"}}, "must be a list of texts"),
        ({"pack-settings": {"minAuditDays": -1}}, "whole number"),
        ({"pack-settings": {"tierLabel": ""}}, "not empty"),
        ({"pack-settings": {"exceptions": [{"rule": "a"}]}}, "exactly the keys"),
        (
            {"pack-settings": {"exceptions": [{"rule": "a", "resource": "b", "reason": "c", "expires": "soon"}]}},
            "must be a date like",
        ),
    ],
)
def test_a_configuration_that_cannot_be_used_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], config: dict[str, Any], told: str
) -> None:
    assert run([write(tmp_path / "a.yaml", BAD)], configured(tmp_path, **config)) == 2
    assert told in capsys.readouterr().err


def excused(tmp_path: Path, expires: str, resource: str = "Role/team-a/reader", rule: str = "RBAC-05") -> str:
    exception = {"rule": rule, "resource": resource, "reason": "ticket 12", "expires": expires}
    return configured(tmp_path, **{"pack-settings": {"exceptions": [exception]}})


@pytest.mark.parametrize("resource", ["Role/team-a/reader", "Role/*", "Role/reader"])
@pytest.mark.parametrize("rule", ["RBAC-05", "rbac-no-secret-read"])
def test_an_exception_excuses_what_it_names(tmp_path: Path, resource: str, rule: str) -> None:
    file = write(tmp_path / "a.yaml", BAD)
    assert run([file], excused(tmp_path, "2999-01-01", resource, rule)) == 0


def test_an_expired_exception_excuses_nothing_and_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([write(tmp_path / "a.yaml", BAD)], excused(tmp_path, "2020-01-01"), as_json=True) == 1
    assert {line["control"] for line in lines(capsys)} == {"RBAC-05", "PACK-02"}


def test_an_unused_exception_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([write(tmp_path / "a.yaml", role(grant()))], excused(tmp_path, "2999-01-01"), as_json=True) == 0
    assert [(line["control"], line["level"]) for line in lines(capsys)] == [("PACK-03", "advisory")]


def test_settings_of_the_pack_reach_every_rule(tmp_path: Path) -> None:
    spec = pod_spec(tolerations=[{"key": "cards", "operator": "Exists"}])
    file = write(tmp_path / "a.yaml", deployment(spec), net_policy())
    assert run([file], configured(tmp_path, **{"pack-settings": {"productionStacks": []}})) == 0
    settings = {"pack-settings": {"productionStacks": [], "gpuTaints": ["cards"]}}
    assert run([file], configured(tmp_path, **settings)) == 1


def test_settings_of_one_run_do_not_reach_the_next(tmp_path: Path) -> None:
    file = write(tmp_path / "a.yaml", BAD)
    assert run([file], excused(tmp_path, "2999-01-01")) == 0
    assert run([file]) == 1


def exported(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"version": 3, "deployment": {"manifest": {}, "resources": list(resources)}}


def state(inputs: dict[str, Any], kind: str = "kubernetes:core/v1:ConfigMap", **more: Any) -> dict[str, Any]:
    return {"urn": f"urn:pulumi:dev::p::{kind}::cm", "type": kind, "custom": True, "inputs": inputs, **more}


def test_an_exported_stack_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "stack.json"
    patch = state({"data": {"password": WORD}}, "kubernetes:core/v1:ConfigMapPatch")
    file.write_text(json.dumps(exported(state({"data": {"a": "b"}}), patch)), encoding="utf-8")
    assert run([str(file)], as_json=True) == 1
    (line,) = lines(capsys)
    assert (line["document"], line["control"], line["name"]) == (2, "KEY-02", "cm")


def test_secrets_of_an_export_are_opened_or_left_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marker = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
    file = tmp_path / "stack.json"
    sealed = state({"data": {"password": {**marker, "ciphertext": "abc"}}})
    file.write_text(json.dumps(exported(sealed)), encoding="utf-8")
    assert run([str(file)], as_json=True) == 0
    assert [line["level"] for line in lines(capsys)] == ["advisory"]
    opened = state({"data": {"password": {**marker, "plaintext": json.dumps(WORD)}}})
    file.write_text(json.dumps(exported(opened)), encoding="utf-8")
    assert run([str(file)], as_json=True) == 1
    assert WORD not in capsys.readouterr().out


def test_special_values_of_an_export_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = "4dabf18193072939515e22adb298388d"
    text = {mark: "c44067f5952c0a294b673a41bacd8c17", "hash": "a", "text": f"auth:\n  password: {WORD}\n"}
    lost = {mark: "c44067f5952c0a294b673a41bacd8c17", "hash": "a", "path": "./nowhere/values.yaml"}
    values = state({"chart": "a", "version": "1", "valueYamlFiles": [text, lost]}, "kubernetes:helm.sh/v3:Release")
    reference = state({"other": {mark: "5cf8f73096256a8f31e491e813e4eb8e", "urn": "urn:x"}}, "pkg:index:Component")
    output = state({"data": {"password": {mark: "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": WORD}}})
    file = tmp_path / "stack.json"
    file.write_text(json.dumps(exported(values, reference, output)), encoding="utf-8")
    assert run([str(file)], as_json=True) == 1
    found = [(line["document"], line["control"], line["level"]) for line in lines(capsys)]
    assert (1, "KEY-09", "mandatory") in found
    assert (1, "KEY-09", "advisory") in found
    assert (3, "KEY-02", "mandatory") in found


def test_tabs_marks_and_byte_order_marks_do_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marked = {**BAD, "4dabf18193072939515e22adb298388d": "x"}
    (tmp_path / "a.json").write_text("\ufeff" + json.dumps(marked, indent="\t"), encoding="utf-8")
    assert run([str(tmp_path / "a.json")], as_json=True) == 1
    assert [line["control"] for line in lines(capsys)] == ["RBAC-05"]


def test_anchors_and_merges_are_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: team-a}
rules:
- &base {apiGroups: [""], resources: [configmaps], verbs: [get]}
- {<<: *base, resources: [secrets]}
"""
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    assert run([str(tmp_path / "a.yaml")], as_json=True) == 1
    assert [line["path"] for line in lines(capsys)] == ["rules[1]"]


def test_a_key_in_a_name_or_path_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = "gh" + "p_" + some(36)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {token: f"password={WORD}"}}
    assert run([write(tmp_path / "a.yaml", manifest)], as_json=True) == 1
    told = capsys.readouterr().out
    assert token not in told
    assert WORD not in told
    assert "[key]" in told
