"""Whether a resource belongs to a stack that is held to the rules for production."""

import fnmatch

from policies.model.resource import Resource
from policies.settings import Settings


def is_production(resource: Resource, settings: Settings) -> bool:
    """Judge by the stack's name, which every URN carries: urn:pulumi:<stack>::<project>::<type>::<name>."""
    head = resource.urn.partition("::")[0]
    stack = head.rpartition(":")[2]
    return any(fnmatch.fnmatchcase(stack, pattern) for pattern in settings.production_stacks)
