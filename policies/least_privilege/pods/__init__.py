"""Least privilege: pods."""
