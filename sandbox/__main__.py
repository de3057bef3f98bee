"""`python -m sandbox`."""

import sys

if __name__ == "__main__":
    try:
        # Within the guard, because loading takes long enough for somebody to press Ctrl-C.
        from sandbox.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)
