"""POD-02."""

from typing import Any

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import cron_job, deployment, pod


@pytest.mark.parametrize("make", [pod, deployment, cron_job])
def test_the_default_namespace_is_refused(make: Any) -> None:
    manifest = make()
    assert clean("POD-02", manifest)
    manifest["metadata"]["namespace"] = "default"
    assert fires("POD-02", manifest)
    del manifest["metadata"]["namespace"]
    assert fires("POD-02", manifest)
    manifest["metadata"]["namespace"] = UNKNOWN
    assert judge("POD-02", manifest).unjudged
