"""The one exception whose text the user sees."""


class ProviderError(Exception):
    """Something that the user can act on; the message is all that is shown, without a traceback.

    The message never holds a secret value: it is built from names, codes and operations only.
    """
