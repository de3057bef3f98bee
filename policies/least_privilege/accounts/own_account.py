"""SA-01: every pod runs as an account of its own."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.accounts.identity import account_of, names_account
from policies.model.resource import Resource
from policies.model.values import UNKNOWN
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find pods that name no service account or the default one."""
    del settings
    for pod in resource.pods:
        account = account_of(pod)
        path = f"{pod.path}.serviceAccountName"
        if account is UNKNOWN:
            yield Unjudged(f"{pod.obj}: {path}")
        elif account == "default":
            yield Finding(path, "this names the account that every careless pod shares", pod.obj)
        elif not account and names_account(pod):
            yield Finding(path, "without it the pod runs as the default account", pod.obj)


RULE: Final = Rule(
    control="SA-01",
    name="account-of-its-own",
    title="Every pod runs as a service account of its own",
    why="Rights and audit entries of a shared account belong to nobody.",
    fix="Make a ServiceAccount for the workload and name it in serviceAccountName.",
    severity=Severity.MEDIUM,
    cis="5.1.5",
    check=check,
)
