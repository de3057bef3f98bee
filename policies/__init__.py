"""CrossGuard policy pack: audit logging, least privilege and no plaintext keys.

The pack judges any Pulumi program, so it imports nothing of the program it stands beside.
"""
