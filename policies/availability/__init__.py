"""Availability in production: no single pod, node or maintenance window stops a service."""
