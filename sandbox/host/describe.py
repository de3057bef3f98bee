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
    """`executable`, `version`, `distributions` (name, version, whether another one requires it) and `plugins`."""
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
        "plugins": _plugins(),
    }


def _plugins() -> list[dict[str, str]]:
    """The providers that SDKs on the path say they belong to: name, version and server."""
    plugins: dict[str, dict[str, str]] = {}
    for entry in sys.path:
        for path in sorted(Path(entry).glob("*/pulumi-plugin.json")) if entry else []:
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if not isinstance(content, dict) or not content.get("resource"):
                continue
            name = str(content.get("name") or path.parent.name.removeprefix("pulumi_").replace("_", "-"))
            plugins.setdefault(
                name,
                {"name": name, "version": str(content.get("version", "")), "server": str(content.get("server", ""))},
            )
    return [plugins[name] for name in sorted(plugins)]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    here = str(Path(__file__).resolve().parent)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    json.dump(describe(), sys.stdout)
