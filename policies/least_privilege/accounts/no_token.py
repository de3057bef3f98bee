"""SA-02: no pod gets a token of the API server unless that is declared."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.accounts.identity import account_of, account_setting, listed, names_account
from policies.model.objects import Obj
from policies.model.pods import Pod
from policies.model.resource import Resource, Stack
from policies.model.values import UNKNOWN, Plain
from policies.settings import Settings

_FIELD: Final = "automountServiceAccountToken"


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find pods and accounts whose token is mounted: the pod's field wins, and unset twice means mounted."""
    accounts: dict[tuple[str, str], list[Obj]] = {}
    refused = _refused_by_all(stack)
    for resource, obj in stack.objects:
        if obj.is_a("ServiceAccount", ""):
            # A patch without the field leaves it as the account has it.
            if not obj.patch or obj.body.get(_FIELD) is not None:
                accounts.setdefault((obj.namespace, obj.name), []).append(obj)
            declared = listed(obj.namespace, obj.name, settings.token_accounts)
            if not declared and (obj.namespace, obj.name) not in refused:
                yield from _account(resource, obj)
    for resource, pod in stack.pods:
        yield from _pod(resource, pod, accounts, settings)


def _refused_by_all(stack: Stack) -> set[tuple[str, str]]:
    """Accounts whose every pod of the program refuses the token itself: what the account offers reaches none."""
    answers: dict[tuple[str, str], list[bool]] = {}
    for _, pod in stack.pods:
        name = account_of(pod)
        if isinstance(name, str):
            answers.setdefault((pod.obj.namespace, name), []).append(account_setting(pod, _FIELD) is False)
    return {account for account, refusals in answers.items() if all(refusals)}


def _account(resource: Resource, obj: Obj) -> Iterator[Verdict]:
    if obj.body.get(_FIELD) is True:
        path = f"{obj.path}.{_FIELD}" if obj.path else _FIELD
        yield Finding(path, "every pod of this account gets a token", obj, resource)


def _pod(
    resource: Resource, pod: Pod, accounts: dict[tuple[str, str], list[Obj]], settings: Settings
) -> Iterator[Verdict]:
    path = f"{pod.path}.{_FIELD}"
    own = account_setting(pod, _FIELD)
    name = account_of(pod)
    if own is False or (own is None and not names_account(pod)):
        return
    if own is UNKNOWN or (own is None and name is UNKNOWN):
        yield Unjudged(f"{pod.obj}: {path}", resource)
        return
    account_name = name if isinstance(name, str) else "default"
    if listed(pod.obj.namespace, account_name, settings.token_accounts):
        return
    if own is not None:
        yield Finding(path, "the pod asks for a token, whatever its account says", pod.obj, resource)
        return
    verdict = _inherited(pod, account_name, accounts, settings)
    if verdict is UNKNOWN:
        yield Unjudged(f"{pod.obj}: {path}", resource)
    elif verdict:
        yield Finding(path, verdict, pod.obj, resource)


def _inherited(pod: Pod, name: str, accounts: dict[tuple[str, str], list[Obj]], settings: Settings) -> Plain:
    """Why a pod that says nothing gets a token; an empty text when it gets none."""
    found = accounts.get((pod.obj.namespace, name))
    if found is None:
        if listed(pod.obj.namespace, name, settings.accounts_without_token):
            return ""
        return "the pod says nothing and its account is not part of this program, so a token is mounted"
    fields = [account.body.get(_FIELD) for account in found]
    if any(field is not UNKNOWN and field is not False for field in fields):
        return "neither the pod nor its account forbids the token, so it is mounted"
    return UNKNOWN if UNKNOWN in fields else ""


RULE: Final = Rule(
    control="SA-02",
    name="no-undeclared-token",
    title="No pod gets a token of the API server unless that is declared",
    why="A mounted token is what an intruder uses first.",
    fix="Set automountServiceAccountToken to false on the pod or its account, or list the account in tokenAccounts.",
    severity=Severity.MEDIUM,
    cis="5.1.6",
    uses=("token_accounts", "accounts_without_token"),
    stack_check=check,
)
