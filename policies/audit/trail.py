"""Audit policies of the API server, read as the API server reads them: the first rule that matches decides."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from policies.engine.rule import Finding, Unjudged, Verdict
from policies.model.documents import documents
from policies.model.objects import Obj, objects_of
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, items, join

LEVELS: Final = ("None", "Metadata", "Request", "RequestResponse")
READ: Final = frozenset({"get", "list", "watch"})
WRITE: Final = frozenset({"create", "update", "patch", "delete"})
ALL_VERBS: Final = READ | WRITE | {"deletecollection"}
_RESTRICTIONS: Final = ("users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs")


@dataclass(frozen=True, slots=True)
class Request:
    """Requests of one kind: a resource (with subresource) of a group, asked for with any of `verbs`."""

    group: str
    resource: str
    verbs: frozenset[str]
    cluster_scoped: bool = False

    def __str__(self) -> str:
        return self.resource


@dataclass(frozen=True, slots=True)
class AuditRule:
    """One rule of an audit policy at `path`."""

    path: str
    body: dict[str, Plain]

    @property
    def level(self) -> Plain:
        """Level, which may be `UNKNOWN`."""
        return self.body.get("level")

    def listed(self, key: str) -> list[Plain]:
        """A list field; an unknown list is a list of one unknown."""
        value = self.body.get(key)
        return [] if value is None else value if isinstance(value, list) else [value]

    @property
    def unrestricted(self) -> bool:
        """Whether the rule matches every request."""
        return not any(self.listed(key) for key in _RESTRICTIONS)

    @property
    def by_principal(self) -> bool:
        """Whether the rule is about some users or groups only."""
        return bool(self.listed("users") or self.listed("userGroups"))

    def matches(self, request: Request) -> bool | None:
        """True: every such request; False: none; None: some of them, or it depends on an unknown."""
        if self.listed("nonResourceURLs") and not self.listed("resources"):
            return False
        answers = [self._resource(request), self._verbs(request), self._namespaces(request)]
        if False in answers:
            return False
        if self.by_principal:
            return None
        return None if None in answers else True

    def _resource(self, request: Request) -> bool | None:
        members = self.listed("resources")
        if not members:
            return True
        best: bool | None = False
        for member in members:
            if not isinstance(member, dict):
                best = None
                continue
            answer = _covers(member, request)
            if answer:
                return True
            best = None if answer is None else best
        return best

    def _verbs(self, request: Request) -> bool | None:
        verbs = self.listed("verbs")
        if not verbs:
            return True
        known = {verb for verb in verbs if isinstance(verb, str)}
        if request.verbs <= known:
            return True
        return None if known & request.verbs or UNKNOWN in verbs else False

    def _namespaces(self, request: Request) -> bool | None:
        namespaces = self.listed("namespaces")
        if not namespaces:
            return True
        if request.cluster_scoped:
            return "" in [n for n in namespaces if n is not UNKNOWN] or (None if UNKNOWN in namespaces else False)
        # An empty text stands for cluster-scoped requests.
        return None if any(namespace != "" for namespace in namespaces) else False


def _covers(member: dict[str, Plain], request: Request) -> bool | None:
    group = member.get("group", "")
    if group is UNKNOWN:
        return None
    if (group or "") != request.group:
        return False
    names = member.get("resources")
    if names is UNKNOWN:
        return None
    found: bool | None = True
    if names:
        main, _, sub = request.resource.partition("/")
        # A bare name does not cover subresources; "*" covers both, and so does "pods/*", which covers pods too.
        accepted = {"*", request.resource, f"{main}/*"} | ({f"*/{sub}"} if sub else set())
        known = [name for name in names if name is not UNKNOWN]
        found = True if accepted.intersection(known) else None if len(known) < len(names) else False
    return None if found and member.get("resourceNames") else found


@dataclass(frozen=True, slots=True)
class AuditPolicy:
    """An audit policy found in a resource, at `path` of `obj`."""

    obj: Obj
    path: str
    body: dict[str, Plain]

    @property
    def rules(self) -> list[AuditRule]:
        """Rules that are known."""
        listed = items(self.body.get("rules"), join(self.path, "rules"))
        return [AuditRule(path, rule) for path, rule in listed if isinstance(rule, dict)]

    def unknown(self) -> Iterator[Unjudged]:
        """Rules that are not known yet."""
        for path, rule in items(self.body.get("rules"), join(self.path, "rules")):
            if rule is UNKNOWN:
                yield Unjudged(f"{self.obj}: {path}")

    def deciding(self, request: Request) -> Iterator[AuditRule]:
        """Rules that decide about some of these requests, up to the first that decides about all of them."""
        for rule in self.rules:
            answer = rule.matches(request)
            if answer is not False:
                yield rule
            if answer:
                return

    def decides_all(self, request: Request) -> bool:
        """Whether no such request falls through to the end of the list."""
        return any(rule.matches(request) for rule in self.rules)

    def finding(self, path: str, text: str) -> Finding:
        """Finding at a place of this policy."""
        return Finding(path, text, self.obj)


def audit_policies(resource: Resource) -> list[AuditPolicy]:
    """Audit policies in a resource: as objects, and as documents inside its texts."""
    found: list[AuditPolicy] | None = resource.cache.get("audit")
    if found is None:
        found = [AuditPolicy(o, o.path, o.body) for o in resource.objects if o.is_a("Policy", "audit.k8s.io")]
        for document in documents(resource):
            for inner in objects_of("", document.body):
                if inner.is_a("Policy", "audit.k8s.io"):
                    path = f"{document.path}: {inner.path}" if inner.path else document.path
                    found.append(AuditPolicy(document.obj, path, inner.body))
        resource.cache["audit"] = found
    return found


def unrecorded(policy: AuditPolicy, request: Request) -> Iterator[Verdict]:
    """Findings where a request is not recorded; carve-outs for principals are another rule's business."""
    for rule in policy.deciding(request):
        if rule.level is UNKNOWN:
            yield Unjudged(f"{policy.obj}: {rule.path}.level")
        elif rule.level == "None" and not rule.by_principal:
            yield policy.finding(rule.path, f"requests for {request} are dropped here")
    if not policy.decides_all(request):
        yield policy.finding(join(policy.path, "rules"), f"no rule records requests for {request}")
