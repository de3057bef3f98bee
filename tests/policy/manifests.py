"""Small programs that the tests of the rules start from."""

import copy
from collections.abc import Callable
from typing import Any

Manifest = dict[str, Any]


def role(*rules: Manifest, kind: str = "Role", name: str = "reader") -> Manifest:
    """A role with these rules."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "team-a"},
        "rules": list(rules),
    }


def grant(
    groups: list[Any] | str = "", resources: list[Any] | str = "configmaps", verbs: list[Any] | str = "get", **more: Any
) -> Manifest:
    """One rule of a role; a single text is a list of one."""

    def listed(value: list[Any] | str) -> list[Any]:
        return [value] if isinstance(value, str) else value

    return {"apiGroups": listed(groups), "resources": listed(resources), "verbs": listed(verbs), **more}


def binding(role_name: str, *subjects: Manifest, kind: str = "RoleBinding", role_kind: str = "ClusterRole") -> Manifest:
    """A binding of a role to subjects."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "bound", "namespace": "team-a"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role_name},
        "subjects": list(subjects) or [{"kind": "ServiceAccount", "name": "worker", "namespace": "team-a"}],
    }


def container(name: str = "app", **more: Any) -> Manifest:
    """A container that keeps the restricted standard."""
    return {
        "name": name,
        "image": "registry.example.com/app@sha256:" + "0" * 64,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        **more,
    }


def pod_spec(**more: Any) -> Manifest:
    """A pod that keeps every rule about pods."""
    return {
        "serviceAccountName": "worker",
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container()],
        **more,
    }


def pod(spec: Manifest | None = None, **metadata: Any) -> Manifest:
    """A bare Pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "app", "namespace": "team-a", "labels": {"app": "app"}, **metadata},
        "spec": spec or pod_spec(),
    }


def deployment(spec: Manifest | None = None, api: str = "apps/v1", kind: str = "Deployment") -> Manifest:
    """A Deployment, or another kind with a template at the same place."""
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "app", "namespace": "team-a"},
        "spec": {
            "selector": {"matchLabels": {"app": "app"}},
            "template": {"metadata": {"labels": {"app": "app"}}, "spec": spec or pod_spec()},
        },
    }


def cron_job(spec: Manifest | None = None, api: str = "batch/v1") -> Manifest:
    """A CronJob."""
    template = {"metadata": {"labels": {"app": "app"}}, "spec": spec or pod_spec()}
    return {
        "apiVersion": api,
        "kind": "CronJob",
        "metadata": {"name": "app", "namespace": "team-a"},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template}}},
    }


def pod_template(spec: Manifest | None = None) -> Manifest:
    """A PodTemplate."""
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": "app", "namespace": "team-a"},
        "template": {"metadata": {"labels": {"app": "app"}}, "spec": spec or pod_spec()},
    }


def ray_cluster(spec: Manifest | None = None) -> Manifest:
    """A custom resource that embeds pods in two places."""
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "ray", "namespace": "team-a"},
        "spec": {
            "headGroupSpec": {"rayStartParams": {}, "template": {"spec": pod_spec()}},
            "workerGroupSpecs": [{"groupName": "w", "template": {"spec": spec or pod_spec()}}],
        },
    }


def listed(*members: Manifest) -> Manifest:
    """A List of objects."""
    return {"apiVersion": "v1", "kind": "List", "items": list(members)}


def typed_list(member: Manifest) -> Manifest:
    """A list of one kind, whose members leave out their kind."""
    inner = {key: value for key, value in member.items() if key not in ("apiVersion", "kind")}
    return {"apiVersion": member["apiVersion"], "kind": f"{member['kind']}List", "items": [inner]}


POD_HOLDERS: list[Callable[[Manifest | None], Manifest]] = [
    pod,
    deployment,
    lambda spec: deployment(spec, api="extensions/v1beta1"),
    lambda spec: deployment(spec, kind="StatefulSet"),
    lambda spec: deployment(spec, kind="DaemonSet"),
    lambda spec: deployment(spec, api="batch/v1", kind="Job"),
    cron_job,
    lambda spec: cron_job(spec, api="batch/v2alpha1"),
    pod_template,
    ray_cluster,
    lambda spec: listed(pod(), deployment(spec)),
    lambda spec: typed_list(deployment(spec)),
]


def changed(manifest: Manifest, path: str, value: Any) -> Manifest:
    """Copy of a manifest with one place set; the path is written with dots, list indexes as numbers."""
    result = copy.deepcopy(manifest)
    current: Any = result
    *way, last = path.split(".")
    for step in way:
        current = current[int(step)] if isinstance(current, list) else current.setdefault(step, {})
    if isinstance(current, list):
        current[int(last)] = value
    else:
        current[last] = value
    return result
