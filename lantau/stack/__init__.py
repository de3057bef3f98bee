"""The configuration of one environment: what a `Pulumi.<stack>.yaml` may say."""

from lantau.stack.load import STACK_KEY, load_stack, parse_stack, read_stack_file, stack_file
from lantau.stack.model import Cluster, SecretStore, Stack
from lantau.stack.models import Canary, ServedModel
from lantau.stack.pools import Pool, Role
from lantau.stack.tiers import Backend, BatchJob, Business, Queue, Vector, VectorBackup

__all__ = [
    "STACK_KEY",
    "Backend",
    "BatchJob",
    "Business",
    "Canary",
    "Cluster",
    "Pool",
    "Queue",
    "Role",
    "SecretStore",
    "ServedModel",
    "Stack",
    "Vector",
    "VectorBackup",
    "load_stack",
    "parse_stack",
    "read_stack_file",
    "stack_file",
]
