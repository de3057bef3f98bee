"""`python -m workflow`."""

import sys

if __name__ == "__main__":
    try:
        # Within the guard, because loading takes long enough for somebody to press Ctrl-C.
        from workflow.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)
