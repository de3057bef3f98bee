"""The pack as a whole: complete, consistent, and as strict as it says."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity, StackValidationPolicy

from policies.docs import FOLDER, pages
from policies.engine.rule import Rule
from policies.pack import MODULES, policies, rules
from policies.settings import DEFAULTS, camel
from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import POD_HOLDERS

ROOT = Path(__file__).resolve().parents[2]
GROUPS = ("audit", "least_privilege", "keys", "supply_chain", "availability", "data_protection", "pack_rules")
# Rules that tell without refusing, each for the reason in its file.
ADVISORY = {"PACK-03"}


def test_every_file_with_a_rule_is_in_the_pack() -> None:
    found = set()
    for group in GROUPS:
        for file in (ROOT / "policies" / group).rglob("*.py"):
            if "RULE: Final" in file.read_text(encoding="utf-8"):
                found.add(".".join(file.relative_to(ROOT / "policies").with_suffix("").parts))
    assert found == set(MODULES)


def test_every_rule_has_a_test_file_of_its_own() -> None:
    for rule in rules():
        file = Path(__file__).with_name(f"test_{rule.name.replace('-', '_')}.py")
        assert file.exists(), f"{rule.control} has no {file.name}"


def test_controls_and_names_are_unique() -> None:
    assert len({rule.control for rule in rules()}) == len(rules())
    assert len({rule.name for rule in rules()}) == len(rules())


def test_every_control_of_the_list_has_a_rule() -> None:
    wanted = {f"AUD-{n:02}" for n in range(1, 14)} | {f"RBAC-{n:02}" for n in range(1, 22)}
    wanted |= {f"SA-{n:02}" for n in range(1, 5)} | {f"NET-{n:02}" for n in range(1, 8)}
    wanted |= {f"PSS-{n:02}" for n in range(1, 18)} | {f"GPU-{n:02}" for n in range(1, 7)}
    wanted |= {f"KEY-{n:02}" for n in range(1, 10)}
    assert wanted <= {rule.control for rule in rules()}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule.control))
def test_every_rule_says_what_it_wants_and_why(rule: Rule) -> None:
    assert rule.title
    assert not rule.title.endswith(".")
    assert rule.why.endswith(".")
    assert rule.fix.endswith(".")
    assert isinstance(rule.severity, Severity)
    assert (rule.check is None) != (rule.stack_check is None)
    policy = rule.policy()
    assert policy.name == rule.name
    assert policy.url == f"docs/policies/{rule.name}.md"
    assert policy.remediation_steps == rule.fix
    assert (ROOT / str(policy.url)).exists()


def test_the_levels_are_mandatory_by_default() -> None:
    mild = {rule.control for rule in rules() if rule.policy().enforcement_level is not EnforcementLevel.MANDATORY}
    assert mild == ADVISORY


def test_settings_are_in_force_before_any_rule_and_exceptions_are_counted_last() -> None:
    names = [policy.name for policy in policies()]
    assert names[0] == "pack-settings"
    assert names[-1] == "pack-exceptions-used"


def test_settings_declare_schemas_under_their_config_keys() -> None:
    schema = policies()[0].config_schema
    assert schema is not None
    assert set(schema.properties) == {camel(name) for name in DEFAULTS.__slots__}


def test_the_documentation_is_current() -> None:
    expected = dict(pages())
    assert {file.name for file in FOLDER.glob("*.md")} == set(expected), "run python -m policies.docs"
    for name, text in expected.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"{name} is old; run python -m policies.docs"


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule.control))
def test_no_rule_breaks_on_strange_shapes(rule: Rule) -> None:
    strange: list[dict[str, Any]] = [
        {},
        {"apiVersion": "v1", "kind": "Pod"},
        {"apiVersion": "v1", "kind": "Pod", "metadata": UNKNOWN, "spec": UNKNOWN},
        {"apiVersion": "v1", "kind": "Pod", "metadata": None, "spec": {"containers": None, "volumes": [None, 1, "a"]}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": [], "spec": {"containers": [None, 1, UNKNOWN, {}]}},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"securityContext": 1, "env": [1, None, {}]}]}},
        {"apiVersion": "v1", "kind": "List", "items": [None, 1, UNKNOWN, {}, []]},
        {"apiVersion": "v1", "kind": "PodList", "items": UNKNOWN},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "rules": [None, 1, {"verbs": 1, "resources": {}}],
        },
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": 1, "subjects": [None, {}]},
        {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [None, {"resources": [1, {}]}, {"verbs": 1}]},
        {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"ingress": [1, {"from": [1]}]}},
        {"apiVersion": "v1", "kind": "Secret", "data": [1], "stringData": 1},
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": 1, "b": None, "c": [1]}, "binaryData": {"a": "%%%"}},
    ]
    for manifest in strange:
        outcome = judge(rule.control, manifest)
        assert not [message for message in outcome.messages if "itself failed" in message]


# These rules ask for other resources of the program: policies, budgets, backups.
ALONE = [rule for rule in rules() if rule.control.split("-")[0] not in ("NET", "AVL", "DAT")]


@pytest.mark.parametrize("rule", ALONE, ids=lambda rule: str(rule.control))
def test_a_clean_program_breaks_no_rule_about_pods_rights_and_keys(rule: Rule) -> None:
    for hold in POD_HOLDERS:
        assert not judge(rule.control, hold(None)).messages


def test_a_fault_in_a_rule_is_a_finding_without_values(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = importlib.import_module("policies.keys.no_key_in_env").RULE

    def fail(resource: object, settings: object) -> None:
        raise KeyError("the value of a password")

    object.__setattr__(broken, "check", fail)
    try:
        outcome = judge("KEY-01", {"apiVersion": "v1", "kind": "Pod", "metadata": {}})
    finally:
        monkeypatch.undo()
        importlib.reload(importlib.import_module("policies.keys.no_key_in_env"))
        object.__setattr__(broken, "check", importlib.import_module("policies.keys.no_key_in_env").RULE.check)
    assert len(outcome.messages) == 1
    assert "KeyError" in outcome.messages[0]
    assert "password" not in outcome.messages[0]


def test_policies_are_of_the_kind_the_engine_knows() -> None:
    assert all(isinstance(policy, ResourceValidationPolicy | StackValidationPolicy) for policy in policies())


def test_a_lone_container_of_a_controllers_settings_amends_and_one_of_a_workflow_is_whole() -> None:
    settings = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "EnvoyProxy",
        "metadata": {"name": "edge"},
        "spec": {"provider": {"kubernetes": {"envoyDeployment": {"container": {"image": "envoy"}}}}},
    }
    assert not judge("PSS-05", settings).messages
    settings["spec"]["provider"]["kubernetes"]["envoyDeployment"]["container"]["securityContext"] = {"privileged": True}  # type: ignore[index]
    assert judge("PSS-01", settings).messages
    workflow = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "run"},
        "spec": {"securityContext": {"runAsNonRoot": True}, "templates": [{"container": {"image": "a"}}]},
    }
    assert judge("PSS-05", workflow).messages
    assert not judge("PSS-07", workflow).messages


def test_a_model_server_of_kserve_is_a_pod() -> None:
    manifest = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "m", "namespace": "team-a"},
        "spec": {
            "predictor": {"tolerations": [{"operator": "Exists"}], "model": {"securityContext": {"privileged": True}}}
        },
    }
    assert fires("PSS-01", manifest)
    assert fires("GPU-01", manifest)
    assert clean("PSS-05", manifest)
