"""The managed store of keys and their delivery to pods."""

from components.secrets.delivery import Delivery, DeliveryArgs, RemoteField
from components.secrets.managed import ManagedKey, ManagedKeyArgs, remote_name
from components.secrets.store import NamespaceStore, NamespaceStoreArgs, role_arn

__all__ = [
    "Delivery",
    "DeliveryArgs",
    "ManagedKey",
    "ManagedKeyArgs",
    "NamespaceStore",
    "NamespaceStoreArgs",
    "RemoteField",
    "remote_name",
    "role_arn",
]
