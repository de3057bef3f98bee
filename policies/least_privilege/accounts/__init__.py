"""Least privilege: accounts."""
