"""The program behind `pulumi up`: load the stack, ask whether it can be deployed, wire the tiers, export."""

from __future__ import annotations

from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

from components.audit import AuditTrail, AuditTrailArgs
from components.business import BusinessTier, BusinessTierArgs
from components.cluster import (
    ADDON_KINDS,
    Baseline,
    BaselineArgs,
    Installation,
    InstallationArgs,
    NodePools,
    NodePoolsArgs,
    gpu_quotas,
)
from components.inference import (
    BatchJob,
    BatchJobArgs,
    InferenceGateway,
    InferenceGatewayArgs,
    ServedModel,
    ServedModelArgs,
)
from components.provider_sdk import LantauProvider, preflight
from components.vector import VectorStore, VectorStoreArgs
from lantau.platform import Platform, load_platform
from lantau.problems import InvalidInput

OLDEST_KUBERNETES = "1.35"
"""Weights are mounted as image volumes: on by default from 1.35, stable in 1.36."""


def load() -> Platform:
    """The stack as Pulumi's configuration gives it, checked together with its releases."""
    platform = load_platform(Path(__file__).parent, pulumi.get_stack(), pulumi.Config().get_object("stack") or {})
    for warning in platform.warnings:
        pulumi.log.warn(warning.render())
    return platform


def refuse_what_cannot_be_deployed(platform: Platform, provider: LantauProvider) -> None:
    """Ask cluster and store before anything is registered; everything in the way is said at once."""
    stack = platform.stack
    found = preflight(
        provider,
        cluster_uid=str(stack.cluster.uid) if stack.cluster.uid else None,
        min_server_version=OLDEST_KUBERNETES,
        required_kinds=ADDON_KINDS,
        required_nodes=[node for pool in stack.pools.values() for node in pool.nodes],
        required_secrets=stack.secrets.third_party,
        check_store=True,
    )
    if not found.ok:
        raise pulumi.RunError(f"stack {platform.name} cannot be deployed:\n{found.text()}")


def deploy(platform: Platform) -> None:
    """Declare the tiers. Everything but the node pools waits for the namespaces and their baseline."""
    stack = platform.stack
    store = LantauProvider("lantau", context=stack.cluster.context, region=stack.secrets.region, stack=platform.name)
    refuse_what_cannot_be_deployed(platform, store)
    cluster = k8s.Provider(
        "cluster",
        context=stack.cluster.context,
        cluster_identifier=f"lantau-{platform.name}",
        # Said here, because the SDK would take them from the environment of whoever runs it.
        delete_unreachable=False,
        skip_update_unreachable=False,
    )

    def tier(*depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(providers=[cluster, store], depends_on=list(depends_on))

    pools = NodePools("pools", NodePoolsArgs(stack.pools), tier())
    baseline = Baseline("baseline", BaselineArgs(gpu_quotas(stack), stack.protect_data, stack.identities), tier())
    ready = tier(baseline, pools)
    installation = Installation("installation", InstallationArgs(platform.name, stack.stage.value), tier(baseline))
    kept = stack.retention
    audit = AuditTrail("audit", AuditTrailArgs(kept.audit_days, kept.archive_days), tier(baseline))
    vector = VectorStore("vector", VectorStoreArgs(platform), ready)
    gateway = InferenceGateway("inference", InferenceGatewayArgs(platform), ready)
    for name in stack.models:
        ServedModel(name, ServedModelArgs(platform, name), tier(baseline, pools, gateway))
    for name in stack.batch:
        BatchJob(name, BatchJobArgs(platform, name), ready)
    BusinessTier("business", BusinessTierArgs(platform), tier(baseline, pools, vector))

    pulumi.export("installation", installation.identity)
    pulumi.export("stage", stack.stage.value)
    pulumi.export("fingerprint", platform.fingerprint)
    pulumi.export("releases", {"/".join(key): release.digest for key, release in platform.releases.items()})
    pulumi.export("weights", {name: model.weights() for name, model in stack.models.items()})
    pulumi.export("edge", f"https://{stack.business.host}")
    pulumi.export("audit_policy_sha256", audit.policy_sha256)


try:
    deploy(load())
except InvalidInput as error:
    raise pulumi.RunError(f"the stack is refused:\n{error}") from None
