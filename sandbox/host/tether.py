"""Becomes another program that the kernel ends with its parent: `tether.py PARENT PROGRAM ARGUMENTS…`.

Run with the Python of the program to be started, so it needs nothing but the standard library. The link is made here,
after the fork, because a host with threads must not run Python between fork and exec. Only Linux has such a link; on
other systems a child outlives a host that was killed outright until it notices that its connection is gone.
"""

import contextlib
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Replace this process by `command`, whose first word is a path."""
    if sys.platform == "linux":
        with contextlib.suppress(ImportError):  # a Python without it runs the program all the same
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died before the link was made
        sys.exit(1)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
