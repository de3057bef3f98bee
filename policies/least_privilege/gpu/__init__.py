"""Least privilege: gpu."""
