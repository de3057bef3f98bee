"""The record of who a cluster belongs to."""

from __future__ import annotations

from components.cluster import Installation, InstallationArgs
from tests.unit.components.recording import record


def test_the_record_names_the_stack_and_an_identity_that_is_drawn_once() -> None:
    recorded = record(
        lambda: Installation("installation", InstallationArgs("hk-prod", "production")),
        outputs=lambda token, _name, _inputs: {"result": "5f0c"} if token.endswith(":RandomUuid") else {},
    )
    (config,) = [resource for resource in recorded.resources if resource.type == "kubernetes:core/v1:ConfigMap"]
    assert config.inputs["data"] == {"stack": "hk-prod", "stage": "production"}
    assert config.namespace == "lantau-system"
    (drawn,) = [resource for resource in recorded.resources if resource.type.endswith("RandomUuid")]
    assert not drawn.inputs.get("keepers"), "nothing in the stack makes it change"
