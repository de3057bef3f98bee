"""DAT-03."""

from typing import Any

from tests.policy.harness import clean, fires
from tests.policy.manifests import deployment

PRODUCTION = {"productionStacks": ["*"]}


def storage(kind: str, api: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "data"}, **fields}


def test_data_without_a_backup_is_told() -> None:
    store = deployment(kind="StatefulSet")
    store["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}}]
    backup = storage("CronJob", "batch/v1") | {"metadata": {"name": "store-backup", "namespace": "team-a"}}
    assert fires("DAT-03", store, config=PRODUCTION)
    assert fires("DAT-03", store, {**backup, "metadata": {"name": "store-backup", "namespace": "b"}}, config=PRODUCTION)
    assert clean("DAT-03", store, backup, config=PRODUCTION)
    assert clean("DAT-03", store, storage("Schedule", "velero.io/v1", spec={"template": {}}), config=PRODUCTION)
    assert clean("DAT-03", deployment(kind="StatefulSet"), config=PRODUCTION)
