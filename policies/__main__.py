"""Entry point of the pack: the engine runs this folder with `python -m pulumi.policy`."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The engine puts this folder on the path, where `model` or `keys` would shadow other packages; the pack
# is imported as `policies` from its parent instead, under the name the tests use.
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]
sys.path.insert(0, str(HERE.parent))

from policies.pack import serve  # noqa: E402

serve()
