"""The `lantau` provider as a program sees it: one provider, two resources, one function.

The provider is always made explicitly. A default provider would read the `lantau:` configuration, which is the
project's own.
"""

from components.provider_sdk.preflight import (
    Node,
    Preflight,
    Problem,
    RequiredKind,
    Server,
    Taint,
    preflight,
)
from components.provider_sdk.resources import (
    FixedField,
    LantauProvider,
    ManagedSecret,
    NodeTaint,
    RandomField,
    SecretField,
)

__all__ = [
    "FixedField",
    "LantauProvider",
    "ManagedSecret",
    "Node",
    "NodeTaint",
    "Preflight",
    "Problem",
    "RandomField",
    "RequiredKind",
    "SecretField",
    "Server",
    "Taint",
    "preflight",
]
