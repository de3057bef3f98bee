"""The vector-database tier."""

from components.vector.store import VectorStore, VectorStoreArgs

__all__ = ["VectorStore", "VectorStoreArgs"]
