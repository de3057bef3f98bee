"""The audit trail of the cluster."""

from components.audit.trail import AuditTrail, AuditTrailArgs

__all__ = ["AuditTrail", "AuditTrailArgs"]
