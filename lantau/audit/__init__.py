"""The API server's audit trail: what is recorded at which level, and how to judge it."""

from lantau.audit.level import AuditedRequest, effective_level
from lantau.audit.policy import render_audit_policy

__all__ = ["AuditedRequest", "effective_level", "render_audit_policy"]
