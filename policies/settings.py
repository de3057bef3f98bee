"""Vocabulary of the judged program and the exceptions granted to it: every default of the pack, in one place."""

import datetime as dt
import difflib
import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Exemption:
    """One finding that is accepted, by whom it may be found (`rule`), where, why and until when."""

    rule: str
    resource: str
    reason: str
    expires: dt.date

    def covers(self, rule: str, control: str, names: Iterable[str]) -> bool:
        """Whether this exemption is about `rule` (or its control) and one of the resource's names."""
        return self.rule in (rule, control) and any(fnmatch.fnmatchcase(name, self.resource) for name in names)


def _setting(default: tuple[str, ...] | str | int, about: str) -> Any:
    return field(default=default, metadata={"about": about})


# AWS, Alibaba, Tencent, Google and Azure write the card into the name of the machine.
_GPU_MACHINES: Final = (
    "p[2-9]*.*",
    "g[2-9]*.*",
    "trn[1-9]*.*",
    "inf[1-9]*.*",
    "ecs.gn*",
    "ecs.ebmgn*",
    "ecs.vgn*",
    "ecs.sgn*",
    "GN*.*",
    "GT*.*",
    "PNV*.*",
    "a[234]-*",
    "g[24]-*",
    "ct[456]*-*",
    "Standard_N[CDVG]*",
)

# Nodes and pools are mostly named after their cards.
_CARDS: Final = ("*a100*", "*a800*", "*h100*", "*h20-*", "*h200*", "*h800*", "*b200*", "*l40*", "*4090*", "*5090*")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the rules must know of the program they judge. Field names are the keys of the pack's config."""

    tier_label: str = _setting("lantau.internal/tier", "Label on pods that names their tier.")
    pool_label: str = _setting("lantau.internal/pool", "Label on nodes that names their pool.")
    role_label: str = _setting("lantau.internal/role", "Label on nodes that names the role of their pool.")
    gpu_tiers: tuple[str, ...] = _setting(("inference", "batch"), "Tiers whose pods may use GPUs.")
    offline_tiers: tuple[str, ...] = _setting(("batch", "offline"), "GPU tiers that must stay off the online pool.")
    gpu_system_tiers: tuple[str, ...] = _setting(
        ("gpu-system",), "Tiers that may run on GPU nodes without using GPUs: device plugin, exporters."
    )
    gpu_namespaces: tuple[str, ...] = _setting(
        ("lantau-inference", "lantau-batch"), "Namespaces whose pods count as a GPU tier when they carry no tier label."
    )
    foreign_namespaces: tuple[str, ...] = _setting(
        ("lantau-business", "lantau-vector", "lantau-system", "*business*", "*-vector", "vector*"),
        "Namespaces whose pods are of no GPU tier, whatever their labels say (patterns).",
    )
    gpu_system_namespaces: tuple[str, ...] = _setting(
        ("gpu-operator", "nvidia-*", "kube-system"),
        "Namespaces whose DaemonSets count as part of the GPU nodes when they carry no tier label (patterns).",
    )
    offline_namespaces: tuple[str, ...] = _setting(
        ("lantau-batch",), "GPU namespaces whose pods count as offline, whatever GPU tier their labels name (patterns)."
    )
    gpu_roles: tuple[str, ...] = _setting(("online", "offline"), "Roles of pools that hold GPU nodes.")
    other_roles: tuple[str, ...] = _setting(("business", "data"), "Roles of pools that hold no GPU nodes.")
    online_roles: tuple[str, ...] = _setting(("online",), "Roles of pools that serve online traffic.")
    gpu_pools: tuple[str, ...] = _setting(
        ("online*", "offline*", "gpu*", "*-gpu*", *_CARDS), "Names of GPU pools (patterns)."
    )
    online_pools: tuple[str, ...] = _setting(("online*",), "Names of online GPU pools (patterns).")
    gpu_nodes: tuple[str, ...] = _setting(("gpu*", "*-gpu*", *_CARDS), "Names of GPU nodes (patterns).")
    gpu_machines: tuple[str, ...] = _setting(_GPU_MACHINES, "Types of machines that hold GPUs (patterns).")
    gpu_taints: tuple[str, ...] = _setting(
        ("nvidia.com/*", "amd.com/gpu*", "*gpu*", "accelerator", "*/accelerator"),
        "Taint keys found on GPU nodes only (patterns).",
    )
    gpu_node_labels: tuple[str, ...] = _setting(
        (
            "nvidia.com/*",
            "amd.com/gpu*",
            "feature.node.kubernetes.io/pci-*10de*",
            "feature.node.kubernetes.io/pci-*1002*",
            "*gpu*",
            "accelerator",
            "*/accelerator",
            "*/gke-accelerator",
            "*/gke-tpu-accelerator",
            "aliyun.accelerator/*",
        ),
        "Node labels found on GPU nodes only (patterns).",
    )
    network_protected_elsewhere: tuple[str, ...] = _setting(
        (), "Namespaces whose default-deny policies belong to another program (patterns)."
    )
    accounts_without_token: tuple[str, ...] = _setting(
        (), "Service accounts of other programs that are known not to mount a token (namespace/name patterns)."
    )
    token_accounts: tuple[str, ...] = _setting(
        (), "Service accounts that need a token of the API server (namespace/name patterns)."
    )
    system_namespaces: tuple[str, ...] = _setting(
        ("kube-system", "kube-public", "kube-node-lease"), "Namespaces that belong to the cluster."
    )
    registries: tuple[str, ...] = _setting((), "Image prefixes that may be pulled; empty allows any registry.")
    min_audit_days: int = _setting(30, "Days of audit log kept at hand.")
    min_archive_days: int = _setting(365, "Days of audit log kept in the archive.")
    production_stacks: tuple[str, ...] = _setting(
        ("*prod*", "manifest"), "Stacks held to the rules for production; `manifest` stands for policy-check."
    )
    exceptions: tuple[Exemption, ...] = field(default=(), metadata={"about": "Accepted findings."})


DEFAULTS: Final = Settings()


class SettingsError(ValueError):
    """A configuration that cannot be used; the message names the key and what would be right."""


def camel(name: str) -> str:
    """Key of a setting in the pack's config: `gpu_tiers` is written `gpuTiers`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


_BY_KEY: Final = {camel(setting.name): setting for setting in fields(Settings)}


def overlay(settings: Settings, config: Mapping[str, Any]) -> Settings:
    """Settings with the values of a config mapping laid over them; raises SettingsError."""
    changes: dict[str, Any] = {}
    for key, value in config.items():
        setting = _BY_KEY.get(key)
        if setting is None:
            near = difflib.get_close_matches(str(key), _BY_KEY, 1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(_BY_KEY))}"
            raise SettingsError(f"{key} is no setting of this pack; {hint}")
        changes[setting.name] = _converted(key, getattr(DEFAULTS, setting.name), value)
    return replace(settings, **changes) if changes else settings


def _converted(key: str, default: Any, value: Any) -> Any:
    if key == "exceptions":
        if not isinstance(value, list | tuple):
            raise SettingsError(f"exceptions must be a list, such as\n    exceptions:\n    - {_EXAMPLE}")
        return tuple(_exemption(index, entry) for index, entry in enumerate(value))
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise SettingsError(f"{key} must be true or false")
    if isinstance(default, int):
        # The engine's messages carry whole numbers as floats.
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if whole and not isinstance(value, bool) and value >= 0:
            return int(value)
        raise SettingsError(f"{key} must be a whole number of at least 0, such as {key}: {default}")
    if isinstance(default, str):
        if isinstance(value, str) and value:
            return value
        raise SettingsError(f"{key} must be a text that is not empty, such as {key}: {default}")
    if not isinstance(value, list | tuple) or not all(isinstance(member, str) for member in value):
        example = ", ".join(default[:2]) if all(member.isalpha() for member in default[:2]) and default else "a"
        raise SettingsError(f"{key} must be a list of texts, such as {key}: [{example}]")
    return tuple(value)


_EXAMPLE: Final = "{rule: pod-seccomp, resource: Pod/team-a/old, reason: ticket 12, expires: 2027-03-31}"


def _exemption(index: int, entry: Any) -> Exemption:
    where = f"exceptions[{index}]"
    wanted = ("rule", "resource", "reason", "expires")
    if not isinstance(entry, Mapping) or set(entry) != set(wanted):
        raise SettingsError(f"{where} must have exactly the keys {', '.join(wanted)}, such as\n    - {_EXAMPLE}")
    for key in wanted:
        if not isinstance(entry[key], str) or not entry[key].strip():
            raise SettingsError(f"{where}.{key} must be a text that is not empty")
    try:
        expires = dt.date.fromisoformat(entry["expires"])
    except ValueError:
        raise SettingsError(f"{where}.expires must be a date like 2027-03-31") from None
    return Exemption(entry["rule"], entry["resource"], entry["reason"], expires)


def schema(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """JSON schema of settings by their config keys, as the SDK's PolicyConfigSchema wants it."""
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        setting = _BY_KEY[camel(name)]
        default = getattr(DEFAULTS, name)
        found[camel(name)] = {"description": setting.metadata["about"], **_schema_of(name, default)}
    return found


def _schema_of(name: str, default: Any) -> dict[str, Any]:
    if name == "exceptions":
        texts = {key: {"type": "string"} for key in ("rule", "resource", "reason", "expires")}
        member = {"type": "object", "properties": texts, "required": sorted(texts), "additionalProperties": False}
        return {"type": "array", "items": member}
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(default, int):
        return {"type": "integer", "minimum": 0}
    if isinstance(default, str):
        return {"type": "string"}
    return {"type": "array", "items": {"type": "string"}}
