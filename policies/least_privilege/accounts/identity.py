"""Which account a pod runs as, and whether its token is mounted."""

import fnmatch
from collections.abc import Iterable
from typing import Final

from policies.model.pods import Pod
from policies.model.values import UNKNOWN, Plain, child

# Templates whose account is named by what runs them: the TaskRun, the InferenceService, the pod they are put into.
_WITHOUT_ACCOUNT: Final = {
    "tekton.dev": frozenset({"Task", "ClusterTask", "StepAction", "Pipeline"}),
    "serving.kserve.io": frozenset({"ServingRuntime", "ClusterServingRuntime"}),
    "apps.kruise.io": frozenset({"SidecarSet"}),
}


def names_account(pod: Pod) -> bool:
    """Whether a pod template says which account its pods get; of others, only what they do say is judged."""
    return not pod.partial and pod.obj.kind not in _WITHOUT_ACCOUNT.get(pod.obj.group, ())


def account_setting(pod: Pod, key: str) -> Plain:
    """Pod-level field of an account; Tekton's runs keep them in templates beside the steps."""
    found = pod.setting(key)
    if found is None and pod.obj.group == "tekton.dev":
        for parent in reversed(pod.parents):
            for place in (("taskRunTemplate",), ("podTemplate",), ("taskRunTemplate", "podTemplate")):
                found = child(parent, *place, key)
                if found is not None:
                    return found
    return found


def account_of(pod: Pod) -> Plain:
    """Account a pod names, by the current or the deprecated field; None when it names none."""
    name = account_setting(pod, "serviceAccountName")
    if name in (None, "") and name is not UNKNOWN:
        name = account_setting(pod, "serviceAccount")
    return name if name is UNKNOWN or (isinstance(name, str) and name) else None


def listed(namespace: str, name: str, patterns: Iterable[str]) -> bool:
    """Whether `namespace/name` matches one of the patterns."""
    return any(fnmatch.fnmatchcase(f"{namespace}/{name}", pattern) for pattern in patterns)
