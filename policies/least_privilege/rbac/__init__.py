"""Least privilege: rbac."""
