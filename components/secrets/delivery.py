"""From the managed store into a Secret that pods mount as files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import pulumi
import pulumi_kubernetes as k8s

from components.base import Component
from components.custom import custom_resource
from components.secrets import kinds
from components.secrets.store import READY_WITHIN, STORE
from lantau.labels import standard_labels

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ACTION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_REFERENCE = re.compile(r"(?:^|[\s(|-])\.([A-Za-z_][A-Za-z0-9_]*)")
_RESCOPED = re.compile(r"\{\{-?\s*(range|with|define|block)\b")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


@dataclass(frozen=True)
class RemoteField:
    """One field of a secret in the store."""

    remote_name: str
    field: str


@dataclass(frozen=True)
class DeliveryArgs:
    """What is delivered where.

    `files` maps a file name to an External Secrets v2 template such as "{{ .password }}"; `values` maps each variable
    of the templates to its field in the store; `refresh` is how often the store is asked ("1h", "90s").
    Raises ValueError for a variable that has no value and for a value that no template uses.
    """

    namespace: str
    secret_name: str
    files: Mapping[str, str]
    values: Mapping[str, RemoteField]
    refresh: str = "1h"

    def __post_init__(self) -> None:
        where = f"delivery of {self.namespace}/{self.secret_name}"
        for variable in self.values:
            if not _VARIABLE.fullmatch(variable):
                raise ValueError(f'{where}: "{variable}" cannot be a template variable; use letters, digits and _')
        used = {variable for text in self.files.values() for variable in template_variables(text)}
        if unused := sorted(set(self.values) - used):
            raise ValueError(f"{where}: no file uses {', '.join(unused)}; write {{{{ .{unused[0]} }}}} or leave it out")
        plain = (text for text in self.files.values() if not _RESCOPED.search(text))
        named = {variable for text in plain for variable in template_variables(text)}
        if unknown := sorted(named - set(self.values)):
            raise ValueError(f"{where}: no value is given for {', '.join(unknown)}; known are {_listed(self.values)}")
        go_duration(self.refresh)


class Delivery(Component):
    """An ExternalSecret, and by it the Secret that pods of the namespace mount.

    The namespace needs its NamespaceStore; let the delivery depend on it and on the keys it reads.
    """

    TOKEN: ClassVar[str] = "lantau:secrets:Delivery"

    secret_name: str
    external_secret: k8s.apiextensions.CustomResource

    def __init__(self, name: str, args: DeliveryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.secret_name = args.secret_name
        self.external_secret = custom_resource(
            f"{name}-external-secret",
            kinds.ExternalSecretSpec(
                refresh_interval=go_duration(args.refresh),
                secret_store_ref=kinds.StoreRef(name=STORE),
                target=kinds.Target(
                    name=args.secret_name, template=kinds.Template(data=dict(sorted(args.files.items())))
                ),
                data=[
                    kinds.SecretData(
                        secret_key=variable,
                        remote_ref=kinds.RemoteRef(key=value.remote_name, property=value.field),
                    )
                    for variable, value in sorted(args.values.items())
                ],
            ),
            name=args.secret_name,
            namespace=args.namespace,
            labels=standard_labels(args.secret_name, instance=args.secret_name, tier="secrets"),
            # A key that cannot be fetched is told here, not by a pod that hangs on a missing volume.
            annotations={"pulumi.com/waitFor": "condition=Ready"},
            opts=self.child(timeout=READY_WITHIN),
        )
        self.finish({"secret_name": self.secret_name})


def template_variables(text: str) -> set[str]:
    """Variables that a template reads: the `.name` inside its `{{ … }}`."""
    return {variable for action in _ACTION.findall(text) for variable in _REFERENCE.findall(action)}


def go_duration(text: str) -> str:
    """A duration as the API server writes it back ("90s" is "1m30s", "1h" is "1h0m0s"), so that nothing drifts.

    Raises ValueError for anything but hours, minutes and seconds, and for less than a second.
    """
    match = _DURATION.fullmatch(text)
    seconds = (
        sum(int(part or 0) * unit for part, unit in zip(match.groups(), (3600, 60, 1), strict=True)) if match else 0
    )
    if not seconds:
        raise ValueError(f'refresh: "{text}" is no duration; write for example 1h, 30m or 90s')
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
