"""The one error that the sandbox shows to its user."""


class SandboxError(Exception):
    """The message is all that the user sees: what is wrong and what to do about it, in one or a few lines."""
