"""The SDK's own analyzer, with and without the reading that all rules share."""

from collections.abc import Iterator
from typing import Any

import pulumi_policy.policy as sdk
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel

from policies.engine import state
from policies.engine.sharing import share_reading
from policies.pack import policies
from tests.policy.harness import UNKNOWN, token_of
from tests.policy.manifests import container, deployment, grant, pod_spec, role
from tests.policy.networks import namespace

PROGRAM = [
    deployment(
        pod_spec(containers=[container(env=[{"name": "PASSWORD", "value": UNKNOWN}, {"name": "A", "value": "b"}])])
    ),
    deployment(pod_spec(hostNetwork=True)),
    role(grant("", "secrets", "get")),
    namespace(),
]


@pytest.fixture
def restored() -> Iterator[None]:
    """The SDK's module as it was before."""
    names = ("json_format", "deserialize_properties", "unknown_checking_proxy")
    methods = ("_get_resource_options", "_get_provider_resource", "Analyze", "AnalyzeStack")
    module: Any = sdk
    before = {name: getattr(module, name) for name in names}
    servicer = module._PolicyAnalyzerServicer
    own = {name: servicer.__dict__[name] for name in methods}
    yield
    for name, value in before.items():
        setattr(module, name, value)
    for name, value in own.items():
        setattr(servicer, name, value)


def struct(manifest: dict[str, Any]) -> struct_pb2.Struct:
    message = struct_pb2.Struct()
    message.update(manifest)
    return message


def analyzed() -> list[tuple[str, str, int, str]]:
    state.reset()
    module: Any = sdk
    servicer = module._PolicyAnalyzerServicer("pack", "1", policies(), EnforcementLevel.MANDATORY)
    found = []
    for index, manifest in enumerate(PROGRAM):
        request = analyzer_pb2.AnalyzeRequest(
            type=token_of(manifest), properties=struct(manifest), urn=f"urn:{index}", name=f"r{index}"
        )
        found += servicer.Analyze(request, None).diagnostics
    whole = analyzer_pb2.AnalyzeStackRequest(
        resources=[
            analyzer_pb2.AnalyzerResource(type=token_of(m), properties=struct(m), urn=f"urn:{i}", name=f"r{i}")
            for i, m in enumerate(PROGRAM)
        ]
    )
    found += servicer.AnalyzeStack(whole, None).diagnostics
    return [(d.policyName, d.message, d.enforcementLevel, d.urn) for d in found]


@pytest.mark.usefixtures("restored")
def test_shared_reading_changes_no_finding() -> None:
    alone = analyzed()
    assert share_reading()
    assert analyzed() == alone
    assert share_reading()
    assert analyzed() == alone
    names = {name for name, *_ in alone}
    assert {"pod-no-host-namespaces", "rbac-no-secret-read", "namespace-default-deny", "no-key-in-env"} <= names


@pytest.mark.usefixtures("restored")
def test_an_sdk_that_is_built_differently_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sdk, "unknown_checking_proxy")
    assert not share_reading()


def test_an_unknown_is_advisory_in_the_engines_eyes() -> None:
    open_findings = [level for name, message, level, _ in analyzed() if "not known yet" in message]
    assert open_findings
    assert set(open_findings) == {analyzer_pb2.ADVISORY}


NAMES = ("json_format", "deserialize_properties", "unknown_checking_proxy")
METHODS = ("_get_resource_options", "_get_provider_resource")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("restored")
def test_an_sdk_that_lacks_a_name_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sdk, name)
    assert not share_reading()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.usefixtures("restored")
def test_an_sdk_whose_analyzer_lacks_a_method_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    servicer: Any = vars(sdk)["_PolicyAnalyzerServicer"]
    monkeypatch.delattr(servicer, name)
    assert not share_reading()
    monkeypatch.delattr(sdk, "_PolicyAnalyzerServicer")
    assert not share_reading()


@pytest.fixture
def counted(restored: None, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often the SDK's own functions are called."""
    calls: dict[str, int] = dict.fromkeys((*NAMES, *METHODS), 0)
    module: Any = sdk
    servicer = module._PolicyAnalyzerServicer

    def count(name: str, function: Any) -> Any:
        def counting(*values: Any, **named: Any) -> Any:
            calls[name] += 1
            return function(*values, **named)

        return counting

    monkeypatch.setattr(module, "json_format", _Holder(count("json_format", module.json_format.MessageToDict)))
    for name in NAMES[1:]:
        monkeypatch.setattr(module, name, count(name, getattr(module, name)))
    for name in METHODS:
        monkeypatch.setattr(servicer, name, count(name, getattr(servicer, name)))
    return calls


class _Holder:
    """Stands for the module of the JSON format."""

    def __init__(self, function: Any) -> None:
        self.MessageToDict = staticmethod(function)


def test_each_message_is_read_once_however_many_rules_there_are(counted: dict[str, int]) -> None:
    analyzed()
    alone = dict(counted)
    assert share_reading()
    for name in counted:
        counted[name] = 0
    analyzed()
    # Every resource twice: by itself and in the whole program.
    assert counted["deserialize_properties"] == 2 * len(PROGRAM)
    assert all(counted[name] < alone[name] for name in counted if alone[name]), (counted, alone)
    before = dict(counted)
    assert share_reading()
    analyzed()
    assert counted == {name: 2 * count for name, count in before.items()}


@pytest.mark.usefixtures("restored")
def test_reading_with_other_options_and_of_other_objects_is_not_remembered() -> None:
    module: Any = sdk
    assert share_reading()
    value = {"a": [1.0]}
    first = module.deserialize_properties(value)
    assert module.deserialize_properties(value) is first
    assert module.deserialize_properties({"a": [1.0]}) is not first
    assert module.deserialize_properties(value, True) is not first
    assert module.deserialize_properties(value, proxy_secrets=True) is not first


@pytest.mark.usefixtures("restored")
def test_nothing_is_remembered_beyond_a_request() -> None:
    module: Any = sdk
    assert share_reading()
    value = {"a": [1.0]}
    first = module.deserialize_properties(value)
    analyzed()
    assert module.deserialize_properties(value) is not first
