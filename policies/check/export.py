"""Resources out of files made by `pulumi stack export`, and out of a backend's own state files."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from policies.check.items import SIGNATURE, Item

_ASSETS: Final = frozenset({"c44067f5952c0a294b673a41bacd8c17", "0def7320c3a5731c473e5ecbe6d01bc7"})
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  (the engine's marker of secrets, not one itself)


def exported_resources(document: Any) -> list[Any] | None:
    """Resources of an exported stack; None for every other document."""
    if not isinstance(document, dict) or "kind" in document:
        return None
    state = document.get("deployment", document.get("checkpoint"))
    if not isinstance(state, dict) or "version" not in document:
        return None
    latest = state.get("latest", state)
    resources = latest.get("resources") if isinstance(latest, dict) else None
    return resources if isinstance(resources, list) else []


@dataclass
class Export:
    """Reads the resources of one export; `sealed` counts the secrets that are encrypted."""

    sealed: int = 0

    def items(self, resources: list[Any]) -> Iterator[Item]:
        """Resources that exist; `document` is the place in the export, from 1."""
        for index, resource in enumerate(resources, start=1):
            if not isinstance(resource, dict) or resource.get("delete") or not isinstance(resource.get("type"), str):
                continue
            urn = str(resource.get("urn", ""))
            inputs, outputs = resource.get("inputs"), resource.get("outputs")
            before = self.sealed
            props = self.opened(inputs) if isinstance(inputs, dict) else {}
            counted = self.sealed
            results = self.opened(outputs) if isinstance(outputs, dict) else None
            # The same secret stands in inputs and outputs; it is counted once.
            self.sealed = max(counted, before + self.sealed - counted)
            yield Item(
                index, resource["type"], urn.rpartition("::")[2], urn, props, results, bool(resource.get("protect"))
            )

    def opened(self, value: Any) -> Any:
        """Secrets by their plaintext when exported with --show-secrets, otherwise unknown."""
        if isinstance(value, list):
            return [self.opened(member) for member in value]
        if not isinstance(value, dict):
            return value
        signature = value.get(SIGNATURE)
        if signature == _SECRET:
            return self.secret(value)
        if signature is not None and str(signature) not in _ASSETS:
            # References to resources, and outputs with their dependencies; an output without a value is unknown.
            return self.opened(value["value"]) if "value" in value else UNKNOWN_STRING_VALUE
        return {str(key): self.opened(member) for key, member in value.items()}

    def secret(self, value: dict[str, Any]) -> Any:
        """Value of a secret, unknown when it is encrypted."""
        plaintext = value.get("plaintext")
        if isinstance(plaintext, str):
            try:
                return self.opened(json.loads(plaintext))
            except (ValueError, RecursionError):
                return plaintext
        if "value" in value:
            return self.opened(value["value"])
        self.sealed += 1
        return UNKNOWN_STRING_VALUE
