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
