"""How a rule becomes a policy of the SDK: what it tells, of whom, and what it leaves alone."""

import datetime as dt
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from pulumi_policy import (
    EnforcementLevel,
    PolicyResource,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from policies.engine import state
from policies.engine.production import is_production
from policies.engine.rule import Finding, Rule, Unjudged, Verdict, by_kind
from policies.model.resource import Resource, Stack, resource_of
from policies.settings import DEFAULTS, Exemption, Settings, SettingsError, overlay, schema
from tests.policy.harness import options, proxied, rule
from tests.policy.manifests import pod

Told = list[tuple[str, str | None]]


class Ear:
    """Hears what a policy reports."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def __call__(self, message: str, urn: str | None = None) -> None:
        self.messages.append(str(message))


def made(check: Any = None, stack_check: Any = None, **more: Any) -> Rule:
    return Rule(
        control="X-01",
        name="x",
        title="A title",
        why="Because.",
        fix="Do it.",
        severity=Severity.LOW,
        check=check,
        stack_check=stack_check,
        **more,
    )


def arguments(index: int = 0, config: dict[str, Any] | None = None) -> ResourceValidationArgs:
    return ResourceValidationArgs(
        "kubernetes:core/v1:Pod", proxied(pod()), f"urn:{index}", f"r{index}", options(), None, config
    )


def told(tested: Rule, config: dict[str, Any] | None = None) -> Told:
    """What the rule's policy reports about one pod, with the URN it names."""
    found: Told = []
    policy = tested.policy()

    def report(message: str, urn: str | None = None) -> None:
        found.append((str(message), urn))

    if isinstance(policy, StackValidationPolicy):
        resources = [
            PolicyResource("kubernetes:core/v1:Pod", proxied(pod()), f"urn:{n}", f"r{n}", options(), None, None, [], {})
            for n in range(2)
        ]
        policy.validate(StackValidationArgs(resources, config), report)
    else:
        assert isinstance(policy, ResourceValidationPolicy)
        policy.validate(arguments(config=config), report)
    return found


def saying(*verdicts: Verdict) -> Callable[[Any, Settings], Iterable[Verdict]]:
    def check(subject: Any, settings: Settings) -> Iterable[Verdict]:
        return verdicts

    return check


def test_a_message_names_object_place_fault_and_remedy_and_nothing_that_is_not_there() -> None:
    def check(resource: Resource, settings: Settings) -> Iterable[Verdict]:
        yield Finding("spec.a", "is wrong", resource.objects[0])
        yield Finding("", "is wrong", resource.objects[0])
        yield Finding("spec.a", "is wrong")
        yield Finding("", "is wrong")

    assert [message for message, _ in told(made(check))] == [
        "Pod app: spec.a: is wrong. Do it.",
        "Pod app: is wrong. Do it.",
        "spec.a: is wrong. Do it.",
        "is wrong. Do it.",
    ]


def test_the_engine_knows_the_resource_of_a_resource_rule_and_is_told_that_of_a_stack_rule() -> None:
    def check(stack: Stack, settings: Settings) -> Iterable[Verdict]:
        yield Finding("", "is wrong", None, stack.resources[1])
        yield Finding("", "is wrong")

    other = resource_of("kubernetes:core/v1:Pod", "other", "urn:other", {})
    assert [urn for _, urn in told(made(stack_check=check))] == ["urn:1", None]
    assert [urn for _, urn in told(made(saying(Finding("", "is wrong"), Finding("", "is", None, other))))] == [None] * 2


@pytest.mark.parametrize("holder", ["resource", "finding"])
def test_an_exception_is_granted_by_the_name_of_the_finding_s_resource_or_else_of_the_judged_one(holder: str) -> None:
    def check(resource: Resource, settings: Settings) -> Iterable[Verdict]:
        other = resource_of("kubernetes:core/v1:Pod", "other", "urn:other", {})
        yield Finding("", "is wrong", None, other if holder == "finding" else None)

    def config(name: str) -> dict[str, Any]:
        entry = {"rule": "X-01", "resource": name, "reason": "ticket 3", "expires": "2999-01-01"}
        return {"exceptions": [entry]}

    right, wrong = ("other", "r0") if holder == "finding" else ("r0", "other")
    state.reset()
    try:
        assert told(made(check), config(right)) == []
        assert len(told(made(check), config(wrong))) == 1
    finally:
        state.reset()


def test_a_rule_about_kinds_is_asked_about_resources_that_hold_one_of_them() -> None:
    asked = []

    def check(resource: Resource, settings: Settings) -> Iterable[Verdict]:
        asked.append(resource)
        return ()

    for kinds, times in (({"Role"}, 0), ({"Role", "Pod"}, 1), (set(), 1)):
        asked.clear()
        assert told(made(check, kinds=frozenset(kinds))) == []
        assert len(asked) == times, kinds


def test_a_rule_without_a_check_has_nothing_to_say() -> None:
    assert told(made()) == []
    silent = made(stack_check=saying())
    object.__setattr__(silent, "stack_check", None)
    heard = Ear()
    silent._validate_stack(StackValidationArgs([], None), heard)
    assert heard.messages == []


def test_a_policy_carries_what_the_rule_says_of_itself() -> None:
    policy = made(saying(), cis="5.2.1", nsa="Pods", uses=("gpu_tiers",), tags=("pods",)).policy()
    assert policy.framework is not None
    assert (policy.framework.name, policy.framework.reference) == ("CIS Kubernetes Benchmark", "5.2.1")
    assert policy.config_schema is not None
    assert list(policy.config_schema.properties) == ["gpuTiers"]
    assert policy.tags == ["X-01", "pods"]
    assert policy.enforcement_level is EnforcementLevel.MANDATORY
    policy = made(saying(), nsa="Pods").policy()
    assert policy.framework is not None
    assert policy.framework.name == "NSA/CISA Kubernetes Hardening Guide"
    assert policy.framework.reference == "Pods"
    assert policy.config_schema is None
    assert made(saying()).policy().framework is None


@pytest.mark.parametrize(("count", "more"), [(1, ""), (2, " and 1 more"), (3, " and 2 more")])
def test_open_places_are_counted_after_everything_known_was_told(count: int, more: str) -> None:
    heard = Ear()
    verdicts: list[Verdict] = [*(Unjudged(f"spec.{n}") for n in range(count)), Finding("", "is wrong")]
    with pytest.raises(UnknownValueError) as caught:
        made(saying(*verdicts))._validate_resource(arguments(), heard)
    assert caught.value.message.startswith(f"spec.0{more} is not known yet")
    assert heard.messages == ["is wrong. Do it."]


def failing(error: BaseException) -> Callable[[Any, Settings], Iterable[Verdict]]:
    def check(resource: Any, settings: Settings) -> Iterable[Verdict]:
        raise error

    return check


def test_a_fault_of_a_rule_is_told_with_its_place_and_an_interruption_is_none() -> None:
    ((message, urn),) = told(made(failing(ValueError("a password"))))
    assert "the rule itself failed (ValueError at test_engine.py:" in message
    assert urn is None
    with pytest.raises(KeyboardInterrupt):
        told(made(failing(KeyboardInterrupt())))
    ((message, _),) = told(made(failing(SettingsError("gpuTiers is odd"))))
    assert message == "the configuration of this pack cannot be used: gpuTiers is odd"


def test_production_is_known_by_any_of_its_patterns() -> None:
    def stack(name: str) -> Resource:
        return resource_of("kubernetes:core/v1:Pod", "a", f"urn:pulumi:{name}::project::type::a", {})

    settings = overlay(DEFAULTS, {"productionStacks": ["live", "*prod*"]})
    assert is_production(stack("hk-prod"), settings)
    assert is_production(stack("live"), settings)
    assert not is_production(stack("live-test"), settings)
    assert not is_production(stack("test"), settings)


def test_a_resource_is_read_once_for_all_rules_and_again_for_the_next() -> None:
    state.reset()
    first = arguments(1)
    resource = state.resource_for(first)
    assert state.resource_for(first) is resource
    assert state.resource_for(arguments(2)) is not resource
    assert state.resource_for(first) is not resource
    state.reset()


def test_an_exception_ends_after_its_last_day(monkeypatch: pytest.MonkeyPatch) -> None:
    last = dt.date(2027, 3, 31)
    settings = overlay(DEFAULTS, {"exceptions": [_entry(expires=last.isoformat())]})
    subject = Stack([])
    for today, expired in ((last, False), (last + dt.timedelta(days=1), True), (last - dt.timedelta(days=1), False)):
        state.reset()
        monkeypatch.setattr(state.PACK, "today", today)
        for control, fires in (("PACK-02", expired), ("PACK-03", not expired)):
            check = rule(control).stack_check
            assert check is not None
            assert bool(list(check(subject, settings))) is fires, (control, today)
        assert state.exempt(settings, made(), None, _named("a")) is not expired
    state.reset()


def _named(name: str) -> Resource:
    return resource_of("kubernetes:core/v1:Pod", name, "urn:a", {})


def _entry(**changes: Any) -> dict[str, Any]:
    return {"rule": "X-01", "resource": "a", "reason": "ticket 3", "expires": "2999-01-01", **changes}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("X-01", "exceptions[0] must have exactly the keys"),
        ({"rule": "X-01"}, "exceptions[0] must have exactly the keys"),
        ({**_entry(), "more": "a"}, "exceptions[0] must have exactly the keys"),
        (_entry(rule=""), "exceptions[0].rule must be a text"),
        (_entry(resource="  "), "exceptions[0].resource must be a text"),
        (_entry(reason=1), "exceptions[0].reason must be a text"),
        (_entry(expires=None), "exceptions[0].expires must be a text"),
        (_entry(expires="tomorrow"), "exceptions[0].expires must be a date"),
    ],
)
def test_an_exception_that_says_too_little_is_refused(entry: Any, told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        overlay(DEFAULTS, {"exceptions": [entry]})
    assert told in str(caught.value)


def test_an_exception_is_about_its_rule_or_control_and_any_of_the_names() -> None:
    exemption = Exemption("X-01", "Pod/a*", "ticket 3", dt.date(2999, 1, 1))
    assert exemption.covers("x", "X-01", ["other", "Pod/app"])
    assert not exemption.covers("x", "X-02", ["Pod/app"])
    assert not exemption.covers("x", "X-01", ["other"])
    named = Exemption("x", "*", "ticket 3", dt.date(2999, 1, 1))
    assert named.covers("x", "X-01", ["a"])
    assert not named.covers("y", "X-01", ["a"])


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("minAuditDays", [0, 1, 90.0], [-1, 1.5, True, "90", None]),
        ("tierLabel", ["a"], ["", 1, None, ["a"]]),
        ("gpuTiers", [[], ["a"], ["a", "b"]], ["a", [1], ["a", None]]),
    ],
)
def test_a_setting_takes_values_of_its_kind_only(key: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        overlay(DEFAULTS, {key: value})
    for value in bad:
        with pytest.raises(SettingsError):
            overlay(DEFAULTS, {key: value})


def test_settings_without_changes_are_the_same_settings() -> None:
    assert overlay(DEFAULTS, {}) is DEFAULTS


def test_schemas_say_the_kind_of_each_setting() -> None:
    found = schema(("exceptions", "min_audit_days", "tier_label", "gpu_tiers"))
    assert found["minAuditDays"]["type"] == "integer"
    assert found["minAuditDays"]["minimum"] == 0
    assert found["tierLabel"]["type"] == "string"
    assert found["gpuTiers"]["items"] == {"type": "string"}
    member = found["exceptions"]["items"]
    assert found["exceptions"]["type"] == "array"
    assert set(member["properties"]) == set(member["required"]) == {"rule", "resource", "reason", "expires"}
    assert all(text == {"type": "string"} for text in member["properties"].values())
    assert member["type"] == "object"
    assert member["additionalProperties"] is False
    assert all(entry["description"] for entry in found.values())


def test_objects_are_chosen_by_kind_and_group() -> None:
    resource = resource_of("kubernetes:core/v1:Pod", "a", "urn:a", pod())
    assert [obj.name for obj in by_kind(resource, "Role", "Pod", groups=("", "apps"))] == ["app"]
    assert not list(by_kind(resource, "Pod", groups=("apps",)))
    assert not list(by_kind(resource, "Role", groups=("",)))
