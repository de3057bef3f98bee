"""Secrets made inside AWS Secrets Manager: the value is born here, goes to the store, and is never given back."""
