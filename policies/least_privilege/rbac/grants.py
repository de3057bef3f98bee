"""Rights in roles and bindings, read the way the API server reads them, with unknowns as a third answer."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from policies.engine.rule import Finding, ResourceCheck, Unjudged, Verdict
from policies.model.documents import documents
from policies.model.objects import Obj, is_object
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, items, join
from policies.settings import Settings

RBAC_GROUPS: Final = ("rbac.authorization.k8s.io", "authorization.openshift.io")
ROLE_KINDS: Final = ("Role", "ClusterRole")
BINDING_KINDS: Final = ("RoleBinding", "ClusterRoleBinding")
READ: Final = frozenset({"get", "list", "watch"})
WRITE: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_NO_ROLES: Final = ("audit.k8s.io", "admissionregistration.k8s.io", "kyverno.io", "flowcontrol.apiserver.k8s.io")
_BUILTIN: Final = frozenset({"", "apps", "batch", "extensions", "networking.k8s.io", "policy", "autoscaling"})


@dataclass(frozen=True, slots=True)
class Grant:
    """One rule of a role. Each list may hold `UNKNOWN` members."""

    obj: Obj
    path: str
    groups: list[Plain]
    resources: list[Plain]
    verbs: list[Plain]
    names: list[Plain]
    urls: list[Plain]

    def member_paths(self, field: str) -> Iterator[tuple[str, Plain]]:
        """Members of one of the lists with their paths, by the field's name in the manifest."""
        values = {"apiGroups": self.groups, "resources": self.resources, "verbs": self.verbs}.get(field, self.urls)
        return ((f"{self.path}.{field}[{index}]", value) for index, value in enumerate(values))

    @property
    def named(self) -> bool | None:
        """Whether the grant is restricted to objects by name; None when that hangs on an unknown.

        An empty name is no restriction: it is the name of a request without one, such as a list of everything.
        """
        if any(name is not UNKNOWN and name in (None, "") for name in self.names):
            return False
        return None if UNKNOWN in self.names else bool(self.names)


def grants(resource: Resource) -> list[Grant]:
    """Every rule of every role in a resource, also of roles embedded in custom resources."""
    found: list[Grant] | None = resource.cache.get("grants")
    if found is None:
        found = resource.cache["grants"] = list(_grants(resource))
    return found


def holds_roles(obj: Obj) -> bool:
    """Whether roles and bindings inside `obj` take effect; policies about rights only quote them."""
    return obj.group not in _BUILTIN and not obj.group.endswith(_NO_ROLES)


def unknown_rules(resource: Resource) -> Iterator[Unjudged]:
    """Rule lists and rules of roles that are not known yet."""
    found: list[str] | None = resource.cache.get("unknown_rules")
    if found is None:
        found = [f"{obj}: {path}" for obj, path, rule in _rules(resource) if rule is UNKNOWN]
        resource.cache["unknown_rules"] = found
    return map(Unjudged, found)


def _grants(resource: Resource) -> Iterator[Grant]:
    for obj, path, rule in _rules(resource):
        if isinstance(rule, dict):
            yield Grant(
                obj=obj,
                path=path,
                groups=_list(rule.get("apiGroups")),
                resources=_list(rule.get("resources")),
                verbs=_list(rule.get("verbs")),
                names=_list(rule.get("resourceNames")),
                urls=_list(rule.get("nonResourceURLs")),
            )


def _rules(resource: Resource) -> Iterator[tuple[Obj, str, Plain]]:
    for obj in resource.objects:
        if obj.kind in ROLE_KINDS and obj.group in RBAC_GROUPS:
            for path, rule in items(obj.body.get("rules"), join(obj.path, "rules")):
                yield obj, path, rule
        elif "verbs" in resource.outline.keys and holds_roles(obj):
            yield from ((obj, path, rule) for path, rule in _embedded(obj.body, obj.path))
        elif "generate" in resource.outline.keys and obj.group.endswith("kyverno.io"):
            for path, body in _generated(obj.body, obj.path, ROLE_KINDS):
                yield from ((obj, where, rule) for where, rule in items(body.get("rules"), join(path, "rules")))
    # Values of charts are often written as one text.
    for document in documents(resource):
        if holds_roles(document.obj) and not is_object(document.body):
            yield from ((document.obj, path, rule) for path, rule in _embedded(document.body, document.path))


def _generated(value: Plain, path: str, kinds: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Plain]]]:
    """Bodies of the named kinds that a generating policy writes: Kyverno keeps them in `data` beside the kind."""
    if isinstance(value, dict):
        data = value.get("data")
        if value.get("kind") in kinds and isinstance(data, dict):
            yield join(path, "data"), data
        for key, member in value.items():
            if isinstance(member, dict | list):
                yield from _generated(member, join(path, key), kinds)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _generated(member, f"{path}[{index}]", kinds)


def _embedded(value: Plain, path: str) -> Iterator[tuple[str, Plain]]:
    """Rules by shape: mappings with verbs and textual resources or URLs, in any list of a custom resource."""
    if isinstance(value, dict):
        for key, member in value.items():
            if isinstance(member, dict | list):
                yield from _embedded(member, join(path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            if isinstance(member, dict) and _is_rule(member):
                yield f"{path}[{index}]", member
            elif isinstance(member, dict | list):
                yield from _embedded(member, f"{path}[{index}]")


def _is_rule(value: dict[str, Plain]) -> bool:
    if not isinstance(value.get("verbs"), list):
        return False
    if isinstance(value.get("nonResourceURLs"), list):
        return True
    resources = value.get("resources")
    return "apiGroups" in value and isinstance(resources, list) and not any(isinstance(r, dict) for r in resources)


def _list(value: Plain) -> list[Plain]:
    return [] if value is None else value if isinstance(value, list) else [value]


def any_of(values: Iterable[Plain], matches: Callable[[str], bool]) -> bool | None:
    """Whether some value matches; None if only an unknown one could."""
    unknown = False
    for value in values:
        if value is UNKNOWN:
            unknown = True
        elif isinstance(value, str) and matches(value):
            return True
    return None if unknown else False


def names_resource(value: str, wanted: str) -> bool:
    """Whether a resource item of a role covers `wanted` ("pods" or "pods/exec"), wildcards included."""
    if value in ("*", wanted, "*/*"):
        return True
    resource, slash, sub = wanted.partition("/")
    if not slash:
        return False
    return value in (f"{resource}/*", f"*/{sub}")


def allows(grant: Grant, groups: Iterable[str], resources: Iterable[str], verbs: Iterable[str]) -> bool | None:
    """Whether a grant gives one of `verbs` on one of `resources` in one of `groups`; None: depends on an unknown."""
    wanted_groups, wanted_verbs = {*groups, "*"}, {*verbs, "*"}
    wanted_resources = tuple(resources)
    answers = (
        any_of(grant.groups, wanted_groups.__contains__),
        any_of(grant.resources, lambda value: any(names_resource(value, wanted) for wanted in wanted_resources)),
        any_of(grant.verbs, wanted_verbs.__contains__),
    )
    if False in answers:
        return False
    return None if None in answers else True


def forbid(
    *targets: tuple[tuple[str, ...], tuple[str, ...], Iterable[str]], text: str, named_passes: bool = False
) -> ResourceCheck:
    """Check that no role grants any of `targets`, each (API groups, resources, verbs)."""
    frozen = [(groups, resources, frozenset(verbs)) for groups, resources, verbs in targets]

    def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
        del settings
        yield from unknown_rules(resource)
        for grant in grants(resource):
            if named_passes and grant.named:
                continue
            answers = [allows(grant, *target) for target in frozen]
            if True in answers and not (named_passes and grant.named is None):
                yield Finding(grant.path, text, grant.obj)
            elif True in answers or None in answers:
                yield Unjudged(f"{grant.obj}: {grant.path}")

    return check


def forbid_wildcard(field: str, text: str) -> ResourceCheck:
    """Check that no item of a role's `field` holds a wildcard."""

    def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
        del settings
        yield from unknown_rules(resource)
        for grant in grants(resource):
            for path, value in grant.member_paths(field):
                if value is UNKNOWN:
                    yield Unjudged(f"{grant.obj}: {path}")
                elif isinstance(value, str) and "*" in value:
                    yield Finding(path, text, grant.obj)

    return check


@dataclass(frozen=True, slots=True)
class Binding:
    """A role binding; `subjects` may hold `UNKNOWN` members."""

    obj: Obj
    path: str
    role_kind: Plain
    role_name: Plain
    subjects: list[tuple[str, Plain]]

    @property
    def cluster_wide(self) -> bool:
        """Whether the binding holds in every namespace."""
        return self.obj.kind == "ClusterRoleBinding"


def bindings(resource: Resource) -> list[Binding]:
    """Every binding in a resource, by kind or by shape (`roleRef` beside `subjects`)."""
    found: list[Binding] | None = resource.cache.get("bindings")
    if found is None:
        found = resource.cache["bindings"] = list(_bindings(resource))
    return found


def _bindings(resource: Resource) -> Iterator[Binding]:
    for obj in resource.objects:
        if obj.kind in BINDING_KINDS and obj.group in RBAC_GROUPS:
            yield _binding(obj, obj.body, obj.path)
        elif "roleRef" in resource.outline.keys and obj.group.endswith("kyverno.io"):
            for path, body in _generated(obj.body, obj.path, BINDING_KINDS):
                yield _binding(obj, body, path)
        elif "roleRef" in resource.outline.keys and obj.group not in _BUILTIN:
            for path, body in _embedded_bindings(obj.body, obj.path):
                yield _binding(obj, body, path)


def _embedded_bindings(value: Plain, path: str) -> Iterator[tuple[str, dict[str, Plain]]]:
    if isinstance(value, dict):
        if isinstance(value.get("roleRef"), dict) and isinstance(value.get("subjects"), list):
            yield path, value
            return
        for key, member in value.items():
            if isinstance(member, dict | list):
                yield from _embedded_bindings(member, join(path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            if isinstance(member, dict | list):
                yield from _embedded_bindings(member, f"{path}[{index}]")


def _binding(obj: Obj, body: dict[str, Plain], path: str) -> Binding:
    subjects = list(items(body.get("subjects"), join(path, "subjects")))
    for field, kind in (("userNames", "User"), ("groupNames", "Group")):
        subjects += [(p, {"kind": kind, "name": name}) for p, name in items(body.get(field), join(path, field))]
    role = body.get("roleRef")
    if role is UNKNOWN:
        return Binding(obj, path, UNKNOWN, UNKNOWN, subjects)
    return Binding(obj, path, child(role, "kind"), child(role, "name"), subjects)
