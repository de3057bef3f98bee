"""AUD-11: the audit webhook is reached over verified TLS."""

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.engine.rule import Finding, Rule, Unjudged, Verdict
from policies.model.documents import documents
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, child, items, join
from policies.settings import Settings


def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
    """Find webhook configurations without https or with verification switched off."""
    del settings
    for obj in resource.objects:
        if obj.is_a("AuditSink", "auditregistration.k8s.io"):
            url = child(obj.body, "spec", "webhook", "clientConfig", "url")
            yield from _address(obj, join(obj.path, "spec.webhook.clientConfig.url"), url)
        elif obj.kind == "Config" and "clusters" in obj.body and _about_audit(obj.path, obj.body):
            yield from _clusters(obj, obj.path, obj.body)
    for document in documents(resource):
        place = f"{document.obj.name} {document.path} {_file_name(document.obj.body, document.path)}"
        if document.body.get("kind") == "Config" and _about_audit(place, document.body):
            yield from _clusters(document.obj, document.path, document.body)


def _about_audit(place: str, body: dict[str, Plain]) -> bool:
    """Whether a client configuration is the audit webhook's, by where it stands or what it names."""
    words = [place]
    for _, cluster in items(body.get("clusters"), ""):
        words += [str(child(cluster, "name")), str(child(cluster, "cluster", "server"))]
    return "audit" in " ".join(words).lower()


def _file_name(body: dict[str, Plain], path: str) -> str:
    """Path of the file on the node that a bootstrap entry writes, which stands beside its content."""
    names: list[str] = []
    stack: list[Plain] = [body]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if isinstance(value.get("content"), str) and isinstance(value.get("path"), str):
                names.append(value["path"])
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return " ".join(names) if path.endswith("content") else ""


def _clusters(obj: Obj, path: str, body: dict[str, Plain]) -> Iterator[Verdict]:
    for where, member in items(body.get("clusters"), join(path, "clusters")):
        cluster = child(member, "cluster")
        yield from _address(obj, f"{where}.cluster.server", child(cluster, "server"))
        skip = child(cluster, "insecure-skip-tls-verify")
        if skip is UNKNOWN:
            yield Unjudged(f"{obj}: {where}")
        elif skip not in (None, False, "false"):
            text = "the webhook's certificate is not verified, so anybody may receive the trail"
            yield Finding(f"{where}.cluster.insecure-skip-tls-verify", text, obj)


def _address(obj: Obj, path: str, url: Plain) -> Iterator[Verdict]:
    if url is UNKNOWN:
        yield Unjudged(f"{obj}: {path}")
    elif isinstance(url, str) and not url.lower().startswith("https://"):
        yield Finding(path, "the trail leaves the API server without TLS", obj)


RULE: Final = Rule(
    control="AUD-11",
    name="audit-webhook-tls",
    title="The audit webhook is reached over verified TLS",
    why="Events name users, objects and sometimes bodies; inside the cluster too they need TLS.",
    fix="Use an https server with a certificate authority, and remove insecure-skip-tls-verify.",
    severity=Severity.HIGH,
    nsa="Audit logging",
    check=check,
)
