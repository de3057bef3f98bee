"""Least privilege: network."""
