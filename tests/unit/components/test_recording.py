"""The recorder itself: what it keeps must be what the engine would get."""

from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from components.base import Component
from tests.unit.components.recording import UNKNOWN, record


class Box(Component):
    TOKEN = "lantau:test:Box"

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.first = k8s.core.v1.ConfigMap(
            f"{name}-first",
            metadata=k8s.meta.v1.ObjectMetaArgs(name="first"),
            data={"token": pulumi.Output.secret("hidden")},
            opts=self.child(protect=True, timeout="30m", ignore_changes=["data"]),
        )
        self.second = k8s.core.v1.ConfigMap(
            f"{name}-second",
            metadata=k8s.meta.v1.ObjectMetaArgs(name="second"),
            data={"id": self.first.id, "version": self.first.metadata.resource_version},
            opts=self.child(depends_on=[self.first], retain_on_delete=True),
        )
        self.finish({"first": "first"})


def test_options_and_secret_inputs_are_kept() -> None:
    recorded = record(lambda: Box("box"))
    box = recorded.one("lantau:test:Box")
    first = recorded.one("kubernetes:core/v1:ConfigMap", "box-first")
    second = recorded.kubernetes("ConfigMap", "second")
    assert recorded.children(box) == [first, second]
    assert (first.protect, first.timeouts.create, first.ignore_changes) == (True, "30m", ("data",))
    assert first.inputs["data"] == {"token": "hidden"}
    assert first.secrets == {"data"}
    assert second.depends_on == {first.urn}
    assert second.retain_on_delete
    assert not second.protect
    assert recorded.outputs_registered == {box.urn: {"first": "first"}}
    assert first.urn == "urn:pulumi:unit::lantau::lantau:test:Box$kubernetes:core/v1:ConfigMap::box-first"


def test_a_preview_leaves_what_only_the_cluster_knows_unknown() -> None:
    recorded = record(lambda: Box("box"), preview=True)
    assert recorded.kubernetes("ConfigMap", "second").inputs["data"]["id"] is UNKNOWN


def test_outputs_of_a_provider_can_be_given() -> None:
    def outputs(token: str, name: str, inputs: Any) -> dict[str, Any]:
        return {"metadata": {**inputs["metadata"], "resourceVersion": "7"}}

    recorded = record(lambda: Box("box"), outputs=outputs)
    assert recorded.kubernetes("ConfigMap", "second").inputs["data"] == {"id": "box-first-id", "version": "7"}


def test_two_resources_of_one_name_are_refused() -> None:
    def program() -> None:
        Box("box")
        Box("box")

    with pytest.raises(AssertionError, match="registered twice"):
        record(program)


def test_an_exception_inside_an_apply_is_raised() -> None:
    def fail(_: Any) -> None:
        raise ValueError("inside")

    def program() -> None:
        k8s.core.v1.ConfigMap("map", data=pulumi.Output.from_input({"a": "b"}).apply(fail))

    with pytest.raises(ValueError, match="inside"):
        record(program)


def test_an_exception_inside_an_apply_that_nothing_uses_is_raised() -> None:
    def fail(_: Any) -> None:
        raise ValueError("unused")

    with pytest.raises(ValueError, match="unused"):
        record(lambda: pulumi.Output.from_input("a").apply(fail) and None)


def test_what_a_program_returns_is_kept() -> None:
    assert isinstance(record(lambda: Box("box")).result, Box)
