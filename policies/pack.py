"""The pack: every rule, in the order of the documentation."""

import importlib
from typing import Final

from pulumi_policy import EnforcementLevel, Policy, PolicyPack

from policies.engine.rule import Rule
from policies.engine.sharing import share_reading

NAME: Final = "lantau-policies"

MODULES: Final = (
    "pack_rules.settings",
    "audit.policy_wired",
    "audit.sensitive_at_metadata",
    "audit.no_blinding_rule",
    "audit.catch_all",
    "audit.entering_recorded",
    "audit.omit_stages",
    "audit.no_carve_out",
    "audit.backend",
    "audit.log_age",
    "audit.log_size",
    "audit.webhook_tls",
    "audit.archive",
    "audit.no_erasing",
    "least_privilege.rbac.no_wildcard_verbs",
    "least_privilege.rbac.no_wildcard_resources",
    "least_privilege.rbac.no_wildcard_api_groups",
    "least_privilege.rbac.no_wildcard_urls",
    "least_privilege.rbac.no_secret_read",
    "least_privilege.rbac.no_escalate_bind",
    "least_privilege.rbac.no_impersonate",
    "least_privilege.rbac.no_node_proxy",
    "least_privilege.rbac.no_pod_exec",
    "least_privilege.rbac.no_token_create",
    "least_privilege.rbac.no_csr_approval",
    "least_privilege.rbac.no_webhook_write",
    "least_privilege.rbac.aggregated_roles",
    "least_privilege.rbac.no_cluster_admin",
    "least_privilege.rbac.no_system_groups",
    "least_privilege.rbac.no_default_account",
    "least_privilege.rbac.no_cluster_wide_admin",
    "least_privilege.rbac.no_cluster_wide_workloads",
    "least_privilege.rbac.no_pv_create",
    "least_privilege.rbac.no_namespace_patch",
    "least_privilege.rbac.no_binding_write",
    "least_privilege.accounts.own_account",
    "least_privilege.accounts.no_token",
    "least_privilege.accounts.no_legacy_token",
    "least_privilege.accounts.projected_token",
    "least_privilege.network.default_deny",
    "least_privilege.network.no_open_ingress",
    "least_privilege.network.no_open_egress",
    "least_privilege.network.no_world",
    "least_privilege.network.no_every_namespace",
    "least_privilege.network.no_metadata_service",
    "least_privilege.network.every_workload_selected",
    "least_privilege.pods.no_privileged",
    "least_privilege.pods.no_host_namespaces",
    "least_privilege.pods.no_host_path",
    "least_privilege.pods.no_host_ports",
    "least_privilege.pods.no_privilege_escalation",
    "least_privilege.pods.drop_capabilities",
    "least_privilege.pods.run_as_non_root",
    "least_privilege.pods.no_root_user",
    "least_privilege.pods.seccomp",
    "least_privilege.pods.apparmor",
    "least_privilege.pods.selinux",
    "least_privilege.pods.proc_mount",
    "least_privilege.pods.sysctls",
    "least_privilege.pods.volume_types",
    "least_privilege.pods.no_host_process",
    "least_privilege.pods.no_probe_host",
    "least_privilege.pods.namespace_restricted",
    "least_privilege.pods.read_only_root",
    "least_privilege.pods.no_default_namespace",
    "least_privilege.gpu.no_foreign_toleration",
    "least_privilege.gpu.no_foreign_request",
    "least_privilege.gpu.no_foreign_selector",
    "least_privilege.gpu.no_pinned_node",
    "least_privilege.gpu.no_env_devices",
    "least_privilege.gpu.offline_stays_offline",
    "keys.no_key_in_env",
    "keys.no_key_in_config_map",
    "keys.no_key_in_command",
    "keys.no_key_in_metadata",
    "keys.secret_from_store",
    "keys.no_key_in_probe",
    "keys.no_key_in_volume",
    "keys.no_key_in_image",
    "keys.no_key_elsewhere",
    "supply_chain.digest",
    "supply_chain.registry",
    "supply_chain.chart",
    "availability.replicas",
    "availability.disruption",
    "availability.spread",
    "data_protection.protect",
    "data_protection.retention",
    "data_protection.backup",
    "pack_rules.expired_exceptions",
    "pack_rules.unused_exceptions",
)


def rules() -> list[Rule]:
    """Every rule of the pack; the pack's own settings come first, because the SDK runs policies in order."""
    return [importlib.import_module(f"policies.{module}").RULE for module in MODULES]


def policies() -> list[Policy]:
    """The SDK's policies of all rules."""
    return [rule.policy() for rule in rules()]


def serve() -> None:
    """Serve the pack to the engine; returns when the engine ends it."""
    share_reading()
    PolicyPack(
        name=NAME,
        policies=policies(),
        enforcement_level=EnforcementLevel.MANDATORY,
        description="Audit logging, least privilege and no plaintext keys for programs that make Kubernetes objects.",
        display_name="Lantau policies",
        provider="kubernetes",
        tags=["kubernetes", "audit", "least-privilege", "secrets"],
    )
