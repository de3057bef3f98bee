"""The configuration of one environment: what a `Pulumi.<stack>.yaml` may say."""

from lantau.stack.identities import Identities
from lantau.stack.load import STACK_KEY, load_stack, parse_stack, read_stack_file, stack_file
from lantau.stack.model import Cluster, SecretStore, Stack
from lantau.stack.models import Canary, ServedModel
from lantau.stack.network import Audience, Network, Route
from lantau.stack.pools import Pool, Role
from lantau.stack.retention import Retention
from lantau.stack.rollout import Audiences, Rollout, Step
from lantau.stack.tiers import Backend, BatchJob, Business, Queue, Vector, VectorBackup

__all__ = [
    "STACK_KEY",
    "Audience",
    "Audiences",
    "Backend",
    "BatchJob",
    "Business",
    "Canary",
    "Cluster",
    "Identities",
    "Network",
    "Pool",
    "Queue",
    "Retention",
    "Role",
    "Rollout",
    "Route",
    "SecretStore",
    "ServedModel",
    "Stack",
    "Step",
    "Vector",
    "VectorBackup",
    "load_stack",
    "parse_stack",
    "read_stack_file",
    "stack_file",
]
