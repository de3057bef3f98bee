"""Prints, as JSON, what the environment of the Python that runs it holds.

Run with the Python of a program, so it needs nothing but the standard library.
"""

import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    """`executable`, `version` and `distributions` (name, version, whether another one requires it)."""
    required: set[str] = set()
    found: dict[str, dict[str, Any]] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if not name:
            continue
        found.setdefault(_canonical(name), {"name": name, "version": distribution.version})
        for requirement in distribution.requires or []:
            wanted = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", requirement)
            if wanted and "extra ==" not in requirement:
                required.add(_canonical(wanted.group()))
    for key, entry in found.items():
        entry["required"] = key in required
    return {
        "executable": sys.executable,
        "version": ".".join(map(str, sys.version_info[:3])),
        "distributions": [found[key] for key in sorted(found)],
    }


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    json.dump(describe(), sys.stdout)
