"""`lantau policy-check --config`: levels, settings, exceptions, and what is told when they are wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.policy.checking import BAD, CLEAN, Checked, check, text, write
from tests.policy.manifests import deployment, pod_spec
from tests.policy.networks import net_policy


def configured(tmp_path: Path, config: Any, *manifests: Any) -> Checked:
    file = text(tmp_path / "config.json", json.dumps(config))
    return check(write(tmp_path / "a.yaml", *(manifests or (BAD,))), "--config", file)


def test_levels_are_configured(tmp_path: Path) -> None:
    found = configured(tmp_path, {"rbac-no-secret-read": "advisory"})
    assert (found.code, [line["level"] for line in found.lines]) == (0, ["advisory"])
    assert configured(tmp_path, {"rbac-no-secret-read": {"enforcementLevel": "disabled"}}).out == ""


@pytest.mark.parametrize("order", [1, -1])
def test_a_rules_own_level_counts_more_than_that_of_all(tmp_path: Path, order: int) -> None:
    config = dict([("all", "advisory"), ("rbac-no-secret-read", "mandatory")][::order])
    assert configured(tmp_path, config).code == 1
    assert configured(tmp_path, {"all": "advisory", "rbac-no-secret-read": {}}).code == 0


def test_a_configuration_may_be_yaml_with_remarks(tmp_path: Path) -> None:
    file = text(tmp_path / "config.yaml", "\ufeff# why\r\nrbac-no-secret-read: disabled # ticket 12\r\n")
    assert check(write(tmp_path / "a.yaml", BAD), "--config", file).out == ""


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"rbac-no-secret-reed": "advisory"}, ["did you mean rbac-no-secret-read?", "rbac-no-secret-read: advisory"]),
        ({"RBAC-05": "advisory"}, ["did you mean rbac-no-secret-read?", "rbac-no-secret-read: advisory"]),
        ({"wholly-unknown-thing": "advisory"}, ["no policy of this pack", "docs/policies"]),
        ({"rbac-no-secret-read": "loud"}, ["must be one of", "rbac-no-secret-read: advisory"]),
        ({"rbac-no-secret-read": "Mandatory"}, ["must be one of", "rbac-no-secret-read: mandatory"]),
        ({"rbac-no-secret-read": {"enforcementLevel": 3}}, ["rbac-no-secret-read.enforcementLevel"]),
        ({"rbac-no-secret-read": False}, ["must be a level", "rbac-no-secret-read: disabled"]),
        ({"pack-settings": {"gpuTier": ["a"]}}, ["gpuTier is no setting", "gpuTiers"]),
        ({"pack-settings": {"gpuTiers": "a"}}, ["gpuTiers must be a list of texts", "gpuTiers: [inference, batch]"]),
        ({"pack-settings": {"gpuTiers": 3}}, ["gpuTiers must be a list of texts"]),
        ({"pack-settings": {"gpuTiers": None}}, ["gpuTiers must be a list of texts"]),
        ({"pack-settings": {"minAuditDays": -1}}, ["minAuditDays must be a whole number", "minAuditDays: 30"]),
        ({"pack-settings": {"minAuditDays": float("inf")}}, ["minAuditDays must be a whole number"]),
        ({"pack-settings": {"tierLabel": ""}}, ["tierLabel must be a text that is not empty"]),
        ({"pack-settings": {"exceptions": 3}}, ["exceptions must be a list"]),
        ({"pack-settings": {"exceptions": [3]}}, ["exceptions[0] must have exactly the keys"]),
        ({"pack-settings": {"exceptions": [{"rule": "a"}]}}, ["exactly the keys", "expires: "]),
        (
            {"pack-settings": {"exceptions": [{"rule": "a", "resource": "b", "reason": "c", "expires": "soon"}]}},
            ["exceptions[0].expires must be a date like"],
        ),
        ({"all": {"gpuTiers": ["a"]}}, ["all.gpuTiers", "belong to pack-settings"]),
        ([1], ["must be one mapping", "rbac-no-secret-read: advisory"]),
        ("text", ["must be one mapping"]),
        (None, ["must be one mapping"]),
    ],
    ids=str,
)
def test_a_configuration_that_cannot_be_used_names_field_and_remedy(
    tmp_path: Path, config: Any, told: list[str]
) -> None:
    found = configured(tmp_path, config)
    assert (found.code, found.out) == (2, "")
    assert "config.json: " in found.err
    for part in told:
        assert part in found.err


def test_a_configuration_that_is_missing_or_broken_is_told(tmp_path: Path) -> None:
    file = write(tmp_path / "a.yaml", BAD)
    broken = text(tmp_path / "broken.yaml", "a: b\nc: [\n")
    twice = text(tmp_path / "twice.yaml", "pod-seccomp: advisory\npod-seccomp: disabled\n")
    for config, told in (
        (tmp_path / "none.yaml", "none.yaml: cannot be read: No such file"),
        (tmp_path, "is a folder"),
        (broken, "broken.yaml: is no YAML or JSON"),
        (twice, "the key pod-seccomp stands twice"),
    ):
        found = check(file, "--config", config)
        assert (found.code, found.out) == (2, "")
        assert told in found.err


def excused(tmp_path: Path, expires: str, resource: str = "Role/team-a/reader", rule: str = "RBAC-05") -> Path:
    exception = {"rule": rule, "resource": resource, "reason": "ticket 12", "expires": expires}
    return text(tmp_path / "config.json", json.dumps({"pack-settings": {"exceptions": [exception]}}))


@pytest.mark.parametrize("resource", ["Role/team-a/reader", "Role/*", "Role/reader"])
@pytest.mark.parametrize("rule", ["RBAC-05", "rbac-no-secret-read"])
def test_an_exception_excuses_what_it_names(tmp_path: Path, resource: str, rule: str) -> None:
    found = check(write(tmp_path / "a.yaml", BAD), "--config", excused(tmp_path, "2999-01-01", resource, rule))
    assert (found.code, found.out) == (0, "")


def test_an_expired_exception_excuses_nothing_and_is_told_once(tmp_path: Path) -> None:
    write(tmp_path / "m/a.yaml", BAD)
    write(tmp_path / "m/b.yaml", CLEAN)
    config = excused(tmp_path, "2020-01-01")
    found = check(tmp_path / "m", "--config", config)
    assert (found.code, found.controls) == (1, ["PACK-02", "RBAC-05"])
    assert [line["file"] for line in found.lines if line["control"] == "PACK-02"] == [str(config)]


def test_an_exception_that_no_file_needs_is_told_once(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path / f"m/{name}.yaml", CLEAN)
    config = excused(tmp_path, "2999-01-01")
    found = check(tmp_path / "m", "--config", config)
    assert found.code == 0
    assert [(line["control"], line["level"], line["file"]) for line in found.lines] == [
        ("PACK-03", "advisory", str(config))
    ]
    write(tmp_path / "m/b.yaml", BAD)
    assert check(tmp_path / "m", "--config", config).out == ""


def test_settings_of_the_pack_reach_every_rule(tmp_path: Path) -> None:
    spec = pod_spec(tolerations=[{"key": "cards", "operator": "Exists"}])
    manifests = (deployment(spec), net_policy())
    assert configured(tmp_path, {"pack-settings": {"productionStacks": []}}, *manifests).code == 0
    settings = {"pack-settings": {"productionStacks": [], "gpuTaints": ["cards"]}}
    assert configured(tmp_path, settings, *manifests).code == 1


def test_settings_of_one_run_do_not_reach_the_next(tmp_path: Path) -> None:
    file = write(tmp_path / "a.yaml", BAD)
    assert check(file, "--config", excused(tmp_path, "2999-01-01")).code == 0
    assert check(file).code == 1
