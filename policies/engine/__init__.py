"""How a rule becomes a policy of the SDK."""
