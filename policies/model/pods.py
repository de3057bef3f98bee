"""Pods found by shape, whatever kind embeds them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from policies.model.objects import Obj
from policies.model.values import UNKNOWN, Plain, child, items, plain
from policies.model.yamltext import read_texts

CONTAINER_LISTS: Final = ("initContainers", "containers", "ephemeralContainers", "sidecars", "steps")
_POD_LISTS: Final = frozenset({"initContainers", "containers", "ephemeralContainers"})
_SINGULAR: Final = ("container", "script", "model")
_SERVERS: Final = frozenset({"predictor", "transformer", "explainer"})
# Engines whose templates are whole pods; elsewhere a lone `container` amends one that a controller makes.
_WORKFLOWS: Final = ("argoproj.io", "tekton.dev")

# Kinds whose pod is at a known place: there even a pod without containers (or with unknown ones) is judged.
_PLACES: Final = {
    "Pod": ("spec",),
    "PodTemplate": ("template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}
_TEMPLATE_PLACE: Final = ("spec", "template", "spec")
_TEMPLATED: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"})
_BUILTIN_GROUPS: Final = frozenset({"", "apps", "batch", "extensions"})

# Policies about pods quote pod fragments as patterns; those are no pods.
_PATTERN_GROUPS: Final = (
    "kyverno.io",
    "policies.kyverno.io",
    "wgpolicyk8s.io",
    "templates.gatekeeper.sh",
    "constraints.gatekeeper.sh",
    "mutations.gatekeeper.sh",
    "imagepolicy.k8s.io",
    "apiextensions.k8s.io",
    "admissionregistration.k8s.io",
)


@dataclass(frozen=True, slots=True)
class Container:
    """One container of any list; `partial` when the mapping only amends a container defined elsewhere."""

    path: str
    body: dict[str, Plain]
    listed: str
    partial: bool

    @property
    def name(self) -> str:
        """Container name, empty when missing or unknown."""
        found = self.body.get("name")
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class Pod:
    """A PodSpec with the metadata its pods get. `partial`: missing fields may be set elsewhere (a Patch)."""

    obj: Obj
    path: str
    spec: dict[str, Plain]
    metadata: dict[str, Plain] = field(default_factory=dict)
    metadata_path: str = "metadata"
    partial: bool = False
    parents: tuple[dict[str, Plain], ...] = ()
    singular: str = ""
    known: list[Container] = field(default_factory=list, compare=False, repr=False)

    def containers(self) -> list[Container]:
        """Containers of all lists; members that are unknown are left to `unknown_containers`."""
        if not self.known:
            self.known.extend(self._containers())
        return self.known

    def _containers(self) -> Iterator[Container]:
        amends = self.obj.group not in _BUILTIN_GROUPS
        for listed in CONTAINER_LISTS:
            for path, body in items(self.spec.get(listed), f"{self.path}.{listed}"):
                if isinstance(body, dict):
                    yield Container(path, body, listed, self.partial or (amends and "image" not in body))
        for name in _SINGULAR:
            body = self.spec.get(name)
            if self.singular and isinstance(body, dict):
                amends = "image" not in body or not self.obj.group.endswith(_WORKFLOWS)
                yield Container(f"{self.path}.{name}", body, name, self.partial or amends)

    def unknown_containers(self) -> Iterator[str]:
        """Paths of container lists or members that are not known yet."""
        for listed in CONTAINER_LISTS:
            for path, body in items(self.spec.get(listed), f"{self.path}.{listed}"):
                if body is UNKNOWN:
                    yield path

    @property
    def labels(self) -> dict[str, Plain]:
        """Labels the pods get."""
        found = self.metadata.get("labels")
        return found if isinstance(found, dict) else {}

    @property
    def security(self) -> dict[str, Plain] | None:
        """Pod-level security context; None when it is missing."""
        found = self.setting("securityContext")
        return found if isinstance(found, dict) else None

    def setting(self, key: str) -> Plain:
        """Pod-level field; workflow engines set it once above their templates, so there it is looked for upwards."""
        found = self.spec.get(key)
        if found is None and self.obj.group not in _BUILTIN_GROUPS:
            found = next((parent[key] for parent in reversed(self.parents) if key in parent), None)
        return found

    @property
    def windows(self) -> bool:
        """Whether the pod declares Windows, which has none of the Linux fields."""
        return bool(child(self.spec, "os", "name") == "windows")


def pods_of(obj: Obj, nested: frozenset[int]) -> list[Pod]:
    """Pods of one object. `nested` holds the ids of bodies that are objects of their own and are skipped."""
    if obj.group.endswith(_PATTERN_GROUPS):
        return []
    found: list[Pod] = []
    known = _PLACES.get(obj.kind) or (_TEMPLATE_PLACE if obj.kind in _TEMPLATED else None)
    spec = child(obj.body, *known) if known and obj.group in _BUILTIN_GROUPS else None
    _walk(found, obj, obj.body, obj.path, nested, [], spec if isinstance(spec, dict) else None)
    return found


def _looks_like_pod(value: dict[str, Plain]) -> bool:
    for name in _POD_LISTS:
        members = value.get(name)
        if isinstance(members, list) and any(
            isinstance(member, dict) and ("image" in member or "name" in member) for member in members
        ):
            return True
    return False


def _singular(value: dict[str, Plain]) -> str:
    """Key of a lone container (Argo templates), or of Tekton steps."""
    for name in _SINGULAR:
        member = value.get(name)
        if isinstance(member, dict) and isinstance(member.get("image"), str):
            return name
    steps = value.get("steps")
    if isinstance(steps, list) and any(isinstance(step, dict) and "image" in step for step in steps):
        return "steps"
    return ""


def _model_server(obj: Obj, path: str, value: dict[str, Plain]) -> str:
    """KServe writes a pod around `model`, without a list of containers."""
    if not obj.group.endswith("serving.kserve.io") or path.rpartition(".")[2] not in _SERVERS:
        return ""
    return "model" if isinstance(value.get("model"), dict) else "containers"


def _walk(
    found: list[Pod],
    obj: Obj,
    value: Plain,
    path: str,
    nested: frozenset[int],
    parents: list[dict[str, Plain]],
    known: dict[str, Plain] | None,
) -> None:
    if isinstance(value, list):
        for index, member in enumerate(value):
            if isinstance(member, dict | list):
                _walk(found, obj, member, f"{path}[{index}]", nested, parents, known)
        return
    if parents and id(value) in nested:
        return
    singular = _singular(value) or _model_server(obj, path, value)
    if value is known or _looks_like_pod(value) or singular:
        found.append(_pod(obj, value, path, parents, singular))
    inner = [*parents, value]
    patch = value.get("podSpecPatch")
    if isinstance(patch, str) and obj.group.endswith(_WORKFLOWS):
        found.extend(_patched(obj, patch, path, parents))
    for key, member in value.items():
        if isinstance(member, dict | list):
            _walk(found, obj, member, f"{path}.{key}" if path else key, nested, inner, known)


def _patched(obj: Obj, text: str, path: str, parents: list[dict[str, Plain]]) -> list[Pod]:
    """The pod that Argo merges into each of its own, written as a text of YAML or JSON."""
    spec = next((plain(document.value) for document in read_texts(text)), None)
    if not isinstance(spec, dict):
        return []
    pod = _pod(obj, spec, f"{path}.podSpecPatch", parents, "")
    return [replace(pod, partial=True, known=[])]


def _pod(obj: Obj, spec: dict[str, Plain], path: str, parents: list[dict[str, Plain]], singular: str) -> Pod:
    parent = parents[-1] if parents else obj.body
    metadata = parent.get("metadata")
    where = path.rpartition(".")[0]
    if not isinstance(metadata, dict):
        metadata, where = obj.metadata, obj.path
    pod = Pod(
        obj=obj,
        path=path,
        spec=spec,
        metadata=metadata,
        metadata_path=f"{where}.metadata" if where else "metadata",
        partial=obj.patch,
        parents=tuple(parents),
        singular=singular,
    )
    # Operators merge containers without an image into the pods they make: what is missing here is set there.
    merged = obj.group not in _BUILTIN_GROUPS and all(container.partial for container in pod.containers())
    return replace(pod, partial=True, known=[]) if merged else pod
