"""Entry of the plugin process; the engine runs this folder as a script."""

import sys
from pathlib import Path

# Run as a script, this folder itself would be the import root. Its parent is wanted: the modules are a package there.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from provider.server import main  # noqa: E402 - the path must be set first

if __name__ == "__main__":
    main(sys.argv[1:])
