"""Where tables go."""

from __future__ import annotations

import shutil
import sys

from rich.console import Console

PIPED_WIDTH = 200
"""Columns where nobody looks at a terminal: lines are not cut at 80."""


def console() -> Console:
    """Standard output, as wide as the terminal; plain text when it is piped."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
    return Console(width=width, highlight=False, soft_wrap=False)
