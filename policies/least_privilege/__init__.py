"""Least privilege: rights, accounts, network, pods and GPU nodes."""
