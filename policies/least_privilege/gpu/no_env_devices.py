"""GPU-05: no GPU past the scheduler."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.least_privilege.gpu.tiers import asks, matches, tier_of
from policies.model.pods import Container, Pod
from policies.model.resource import Stack
from policies.model.values import UNKNOWN, Plain, among, child, items, join
from policies.settings import Settings

_VARIABLES: Final = frozenset(
    {"NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "HABANA_VISIBLE_DEVICES"}
)
_HARMLESS: Final = ("", "void", "none")
_MOUNTS: Final = "/var/run/nvidia-container-devices"
_RUNTIMES: Final = ("nvidia", "nvidia-*", "ascend*", "habana*", "amd*")
_TEXT: Final = "this takes cards that the scheduler gave to nobody"

Maps = dict[tuple[str, str], dict[str, Plain]]


def check(stack: Stack, settings: Settings) -> Iterator[Verdict]:
    """Find containers that take GPUs by variable, mount, annotation or runtime and ask the scheduler for none."""
    maps: Maps = {}
    for _, obj in stack.objects:
        data = child(obj.body, "data")
        if obj.is_a("ConfigMap", "") and isinstance(data, dict):
            maps.setdefault((obj.namespace, obj.name), {}).update(data)
    for resource, pod in stack.pods:
        tier = tier_of(pod, settings)
        if tier is not UNKNOWN and tier in settings.gpu_system_tiers:
            continue
        for path, value in _takes(pod, maps):
            if value is UNKNOWN:
                yield Unjudged(f"{pod.obj}: {path}", resource)
            elif value not in _HARMLESS:
                yield Finding(path, _TEXT, pod.obj, resource)


def _takes(pod: Pod, maps: Maps) -> Iterator[tuple[str, Plain]]:
    """Places where a pod says which cards it takes, with what they say; None where it says nothing."""
    some = any(asks(container) for container in pod.containers())
    runtime = pod.setting("runtimeClassName")
    if not some and not pod.partial and matches(runtime, _RUNTIMES):
        # Images for GPUs carry the variable themselves, and this runtime obeys it.
        yield f"{pod.path}.runtimeClassName", runtime
    for container in pod.containers():
        if not asks(container):
            yield from _variables(pod, container, maps)
            for path, mount in items(container.body.get("volumeMounts"), f"{container.path}.volumeMounts"):
                where = child(mount, "mountPath")
                if isinstance(where, str) and where.rstrip("/").startswith(_MOUNTS):
                    yield f"{path}.mountPath", where
    notes = pod.metadata.get("annotations")
    if isinstance(notes, dict) and not some:
        for key, value in notes.items():
            if key.startswith("cdi.k8s.io/"):
                yield join(f"{pod.metadata_path}.annotations", key), value


def _variables(pod: Pod, container: Container, maps: Maps) -> Iterator[tuple[str, Plain]]:
    namespace = pod.obj.namespace
    for path, source in items(container.body.get("envFrom"), f"{container.path}.envFrom"):
        before = child(source, "prefix")
        prefix = before if isinstance(before, str) else ""
        data = maps.get((namespace, str(child(source, "configMapRef", "name"))), {})
        for key, value in data.items():
            if f"{prefix}{key}" in _VARIABLES:
                yield path, value
    for path, entry in items(container.body.get("env"), f"{container.path}.env"):
        if among(child(entry, "name"), _VARIABLES):
            value = child(entry, "value")
            if value is None and child(entry, "valueFrom") not in (None, {}):
                reference = child(entry, "valueFrom", "configMapKeyRef")
                data = maps.get((namespace, str(child(reference, "name"))), {})
                value = data.get(str(child(reference, "key")), "a value nobody can see here")
            yield path, "" if value is None else value


RULE: Final = Rule(
    control="GPU-05",
    name="gpu-not-by-variable",
    title="No container takes GPUs past the scheduler",
    why="A device variable, a device mount or a GPU runtime gives cards that belong to another pod.",
    fix="Ask for the card in resources.limits, and remove the variable, mount, annotation or runtimeClassName.",
    severity=Severity.HIGH,
    nsa="Resource policies",
    uses=("tier_label", "gpu_system_tiers", "gpu_system_namespaces", "foreign_namespaces"),
    stack_check=check,
)
