"""The vector-database tier."""

from components.vector.backup import VectorBackup, VectorBackupArgs
from components.vector.store import VectorStore, VectorStoreArgs

__all__ = ["VectorBackup", "VectorBackupArgs", "VectorStore", "VectorStoreArgs"]
