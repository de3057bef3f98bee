"""Audit logging: what the API server records, where it goes, and that nobody can erase it."""
