"""No plaintext keys: every place a key can hide in an object, each with a rule of its own."""
