"""Which account a pod runs as, and whether its token is mounted."""

import fnmatch
from collections.abc import Iterable

from policies.model.pods import Pod
from policies.model.values import UNKNOWN, Plain


def account_of(pod: Pod) -> Plain:
    """Account a pod names, by the current or the deprecated field; None when it names none."""
    name = pod.setting("serviceAccountName")
    if name in (None, "") and name is not UNKNOWN:
        name = pod.setting("serviceAccount")
    return name if name is UNKNOWN or (isinstance(name, str) and name) else None


def listed(namespace: str, name: str, patterns: Iterable[str]) -> bool:
    """Whether `namespace/name` matches one of the patterns."""
    return any(fnmatch.fnmatchcase(f"{namespace}/{name}", pattern) for pattern in patterns)
