"""What a self-built engine lacks to run Python: a language host, and a provider of random values.

Neither is served by a package registry. A user's own `pulumi` brings the real ones and never sees these.
"""
