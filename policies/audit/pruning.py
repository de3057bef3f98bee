"""Commands that remove parts of the audit trail."""

import re
from collections.abc import Iterator
from typing import Final

from policies.detect.names import words
from policies.model.pods import Container, Pod
from policies.model.values import Plain, child, items

_PRUNES: Final = re.compile(
    r"""(?imx)\brm\s | \bunlink\b | \s-delete\b | \brmtree\b | \bremove\( | \btruncate\b | \bshred\b
    | \bs3\s+(?:rm|rb)\b | \bs3cmd\s+(?:del|rm|rb)\b | \bs5cmd\s+rm\b
    | delete-(?:objects?|bucket)\b | delete_objects?\b
    | \bmc\s+r[mb]\b | \boss\s+rm\b | \bossutil\w*\s+rm\b | \bcos(?:cli|cmd)\s+(?:rm|delete)\b
    | \bgsutil\s+(?:-m\s+)?rm\b
    | \bstorage\s+rm\b | \bblob\s+delete(?:-batch)?\b | \brclone\s+(?:delete|purge|deletefile)\b
    | (?:^|[;&|]\s{0,9})(?::|true|cat\s+/dev/null|echo(?:\s+-n)?(?:\s+(?:""|''))?)?\s{0,9}>\s{0,9}[\w./-]{0,200}audit"""
)
_ABOUT: Final = re.compile(r"(?i)(?<![a-z])audit(?!or)(?![a-z]*[_-]?tool)")
_ENTERS: Final = re.compile(r"(?i)\bcd\s+\S{0,200}audit")
# What is removed here is no trail: locks and leftovers of the program that ships it.
_SCRATCH: Final = re.compile(r"(?i)\brm\s+(?:-\w+\s+)*(?:/tmp|/var/tmp|/run|/dev/shm)/\S+\s*$")
_LINES: Final = re.compile(r"[\n;]|&&|\|\|")


def is_audit(*names: Plain) -> bool:
    """Whether one of the names has the word audit in it."""
    return any("audit" in words(name) for name in names if isinstance(name, str))


def pruning(pod: Pod, container: Container) -> Iterator[str]:
    """Paths of commands of a container that remove parts of the trail."""
    mounts: list[str] | None = None
    for key in ("command", "args"):
        parts = [word for _, word in items(container.body.get(key), "") if isinstance(word, str)]
        # A script stands on lines of its own, words make one line.
        text = " ".join(f"\n{word}" if any(c.isspace() for c in word) else word for word in parts)
        if _PRUNES.search(text) is None:
            continue
        if mounts is None:
            mounts = list(_audit_mounts(pod, container))
        inside = _ENTERS.search(text) is not None
        for line in _LINES.split(text):
            about = inside or _ABOUT.search(line) is not None or any(mount in line for mount in mounts)
            if about and _PRUNES.search(line) and not _SCRATCH.search(line):
                yield f"{container.path}.{key}"
                break


def _audit_mounts(pod: Pod, container: Container) -> Iterator[str]:
    """Places at which the container sees a volume of the trail."""
    volumes = {
        child(volume, "name")
        for _, volume in items(pod.setting("volumes"), "")
        if is_audit(
            child(volume, "name"),
            child(volume, "persistentVolumeClaim", "claimName"),
            child(volume, "hostPath", "path"),
        )
    }
    for _, mount in items(container.body.get("volumeMounts"), ""):
        path = child(mount, "mountPath")
        if child(mount, "name") in volumes and isinstance(path, str) and len(path) > 1:
            yield path
