"""Pulumi components of the platform, one tier a package."""
