"""Manifests as a cluster's repository has them: many small ones, workloads, configuration, a few very long ones."""

from __future__ import annotations

import itertools
import json
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

Manifest = dict[str, Any]
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
DOCUMENTS_A_FILE = 20
"""Documents of a file that holds one application; the other files hold one document each."""


class Maker:
    """Manifests of made-up applications, the same ones in every run. About one in twenty breaks a rule."""

    def __init__(self, seed: int = 20261201) -> None:
        self.random = random.Random(seed)  # noqa: S311  (nothing here guards anything)
        self.kinds: list[tuple[Callable[[str, str], Manifest], int]] = [
            (self.deployment, 22),
            (self.service, 16),
            (self.config_map, 15),
            (self.role, 8),
            (self.binding, 8),
            (self.account, 7),
            (self.network_policy, 8),
            (self.stateful_set, 4),
            (self.cron_job, 4),
            (self.budget, 3),
            (self.external_secret, 3),
            (self.definition, 1),
            (self.dashboard, 1),
        ]

    def manifests(self, count: int) -> Iterator[Manifest]:
        """`count` manifests of applications `DOCUMENTS_A_FILE` documents long."""
        makers, weights = zip(*self.kinds, strict=True)
        for number in range(count):
            name = f"{self.word()}-{number}"
            make = self.random.choices(makers, weights)[0]
            yield make(name, f"team-{number // DOCUMENTS_A_FILE % 100}")

    def word(self) -> str:
        """A word as people name things."""
        first = ("order", "search", "billing", "chat", "vector", "edge", "report", "audit", "user", "queue", "image")
        return f"{self.random.choice(first)}-{self.random.choice(('api', 'worker', 'cache', 'web', 'sync', 'db'))}"

    def text(self, length: int) -> str:
        """Words without meaning."""
        return " ".join(
            "".join(self.random.choices(string.ascii_lowercase, k=self.random.randint(3, 9)))
            for _ in range(length // 7 + 1)
        )

    def rarely(self) -> bool:
        """True one time in twenty."""
        return self.random.random() < 0.05

    def head(self, version: str, kind: str, name: str, namespace: str) -> Manifest:
        """What every manifest begins with."""
        labels = {
            "app.kubernetes.io/name": name,
            "app.kubernetes.io/instance": f"{name}-prod",
            "app.kubernetes.io/version": f"1.{self.random.randint(0, 40)}.0",
            "app.kubernetes.io/part-of": "shop",
        }
        metadata = {"name": name, "namespace": namespace, "labels": labels, "annotations": {"owner": self.text(20)}}
        return {"apiVersion": version, "kind": kind, "metadata": metadata}

    def container(self, name: str) -> Manifest:
        """A container with all that a careful person writes."""
        digest = "".join(self.random.choices("0123456789abcdef", k=64))
        variables: list[Manifest] = [
            {"name": f"SETTING_{index}", "value": self.text(self.random.randint(4, 60))} for index in range(12)
        ]
        reference = {"secretKeyRef": {"name": f"{name}-keys", "key": "password"}}
        variables.append({"name": "DB_PASSWORD", "valueFrom": reference})
        variables.append({"name": "DATABASE_URL", "value": "postgres://app@db.shop.svc:5432/app?sslmode=verify-full"})
        if self.rarely():
            variables.append({"name": "API_TOKEN", "value": "".join(self.random.choices(string.ascii_letters, k=32))})
        probe = {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10}
        return {
            "name": name,
            "image": f"registry.example.com/shop/{name}@sha256:{digest}",
            "command": ["/usr/bin/server"],
            "args": ["--listen=0.0.0.0:8080", "--config=/etc/server/config.yaml", f"--workers={len(name)}"],
            "env": variables,
            "ports": [{"name": "http", "containerPort": 8080}],
            "readinessProbe": probe,
            "livenessProbe": probe,
            "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "256Mi"}},
            "securityContext": {
                "allowPrivilegeEscalation": self.rarely(),
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [{"name": "config", "mountPath": "/etc/server"}],
        }

    def template(self, name: str) -> Manifest:
        """A pod template of one to three containers."""
        spec = {
            "serviceAccountName": name,
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [self.container(f"{name}-{index}") for index in range(self.random.choice((1, 1, 2, 3)))],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": name}},
                }
            ],
            "volumes": [{"name": "config", "configMap": {"name": name}}],
        }
        return {"metadata": {"labels": {"app": name}}, "spec": spec}

    def deployment(self, name: str, namespace: str, kind: str = "Deployment") -> Manifest:
        """A Deployment."""
        spec = {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": self.template(name)}
        return {**self.head("apps/v1", kind, name, namespace), "spec": spec}

    def stateful_set(self, name: str, namespace: str) -> Manifest:
        """A StatefulSet."""
        made = self.deployment(name, namespace, "StatefulSet")
        made["spec"]["serviceName"] = name
        return made

    def cron_job(self, name: str, namespace: str) -> Manifest:
        """A CronJob."""
        spec = {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": self.template(name)}}}
        return {**self.head("batch/v1", "CronJob", name, namespace), "spec": spec}

    def service(self, name: str, namespace: str) -> Manifest:
        """A Service."""
        spec = {"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]}
        return {**self.head("v1", "Service", name, namespace), "spec": spec}

    def config_map(self, name: str, namespace: str) -> Manifest:
        """A ConfigMap with files of several formats."""
        server = {"listen": "0.0.0.0:8080", "log": {"level": "info"}, "routes": [self.text(30) for _ in range(15)]}
        lines = "\n".join(f"  location /{self.word()} {{ proxy_pass http://{self.word()}:8080; }}" for _ in range(20))
        properties = "\n".join(f"app.{self.word()}.timeout={index}s" for index in range(20))
        data = {
            "config.yaml": yaml.dump(server, Dumper=_DUMPER),
            "nginx.conf": f"server {{\n  listen 8080;\n{lines}\n}}\n",
            "application.properties": properties,
            "LOG_LEVEL": "info",
        }
        if self.rarely():
            data["settings.ini"] = "[db]\npassword = " + "".join(self.random.choices(string.ascii_letters, k=20))
        return {**self.head("v1", "ConfigMap", name, namespace), "data": data}

    def role(self, name: str, namespace: str) -> Manifest:
        """A Role."""
        rules = [{"apiGroups": [""], "resources": ["configmaps", "services"], "verbs": ["get", "list", "watch"]}]
        if self.rarely():
            rules.append({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]})
        return {**self.head("rbac.authorization.k8s.io/v1", "Role", name, namespace), "rules": rules}

    def binding(self, name: str, namespace: str) -> Manifest:
        """A RoleBinding."""
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
        subjects = [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]
        head = self.head("rbac.authorization.k8s.io/v1", "RoleBinding", name, namespace)
        return {**head, "roleRef": reference, "subjects": subjects}

    def account(self, name: str, namespace: str) -> Manifest:
        """A ServiceAccount."""
        return {**self.head("v1", "ServiceAccount", name, namespace), "automountServiceAccountToken": False}

    def network_policy(self, name: str, namespace: str) -> Manifest:
        """A NetworkPolicy."""
        peer = {"podSelector": {"matchLabels": {"app": self.word()}}}
        spec = {
            "podSelector": {"matchLabels": {"app": name}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [peer], "ports": [{"port": 8080, "protocol": "TCP"}]}],
            "egress": [{"to": [peer], "ports": [{"port": 5432, "protocol": "TCP"}]}],
        }
        return {**self.head("networking.k8s.io/v1", "NetworkPolicy", name, namespace), "spec": spec}

    def budget(self, name: str, namespace: str) -> Manifest:
        """A PodDisruptionBudget."""
        spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}}
        return {**self.head("policy/v1", "PodDisruptionBudget", name, namespace), "spec": spec}

    def external_secret(self, name: str, namespace: str) -> Manifest:
        """An ExternalSecret."""
        data = [
            {"secretKey": key, "remoteRef": {"key": f"shop/{name}", "property": key}}
            for key in ("username", "password")
        ]
        spec = {"refreshInterval": "1h", "secretStoreRef": {"name": "managed", "kind": "SecretStore"}, "data": data}
        return {**self.head("external-secrets.io/v1", "ExternalSecret", name, namespace), "spec": spec}

    def definition(self, name: str, namespace: str) -> Manifest:
        """A CustomResourceDefinition of a few hundred fields."""
        fields = {
            f"{self.word()}-{index}": {"type": "string", "description": self.text(120), "default": self.word()}
            for index in range(300)
        }
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        spec = {"group": "shop.example.com", "scope": "Namespaced", "names": {"kind": "Shop"}, "versions": [version]}
        return {**self.head("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, namespace), "spec": spec}

    def dashboard(self, name: str, namespace: str) -> Manifest:
        """A ConfigMap with a Grafana dashboard of about 40 kB."""
        panels = [
            {
                "id": index,
                "title": self.text(30),
                "type": "timeseries",
                "gridPos": {"h": 8, "w": 12, "x": 0, "y": index},
                "targets": [{"expr": f'sum(rate(http_requests_total{{app="{name}"}}[5m]))', "refId": "A"}] * 3,
            }
            for index in range(80)
        ]
        data = {"dashboard.json": json.dumps({"title": name, "panels": panels}, indent=1)}
        return {**self.head("v1", "ConfigMap", name, namespace), "data": data}


def write_files(folder: Path, count: int) -> int:
    """Write `count` manifests, half of them one a file, half one application a file; the number of bytes."""
    made = Maker().manifests(count)
    total = number = 0
    while chunk := list(itertools.islice(made, DOCUMENTS_A_FILE)):
        texts = [yaml.dump(document, Dumper=_DUMPER, sort_keys=False) for document in chunk]
        number += 1
        place = folder / f"app-{number:04}"
        place.mkdir(parents=True)
        files = {"all.yaml": "---\n".join(texts)} if number % 2 else {f"{i:02}.yaml": t for i, t in enumerate(texts)}
        for name, text in files.items():
            (place / name).write_text(text, encoding="utf-8")
            total += len(text)
    return total
