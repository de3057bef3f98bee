"""Text of Pulumi assets and archives, so that a key inside a file is seen like any other."""

import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Final

import pulumi

LIMIT: Final = 8 * 2**20
"""Bytes read of one file; Kubernetes refuses objects far below this."""


def asset_value(value: pulumi.Asset | pulumi.Archive) -> Any:
    """Text of an asset, or a mapping from member name to text for an archive; None if it cannot be read here."""
    try:
        if isinstance(value, pulumi.StringAsset):
            return value.text
        if isinstance(value, pulumi.FileAsset):
            return _file_text(_located(str(value.path)))
        if isinstance(value, pulumi.AssetArchive):
            return {name: asset_value(member) for name, member in value.assets.items()}
        if isinstance(value, pulumi.FileArchive):
            return _archive(_located(str(value.path)))
    except (OSError, ValueError, tarfile.TarError, zipfile.BadZipFile):
        return None
    return None


def _located(path: str) -> Path:
    """Path as the program meant it: the engine runs the pack in the pack's folder, not in the program's."""
    candidate = Path(path)
    if candidate.is_absolute() or candidate.exists():
        return candidate
    for variable in ("PULUMI_PROJECT_ROOT", "PWD", "OLDPWD"):
        root = os.environ.get(variable)
        if root and (Path(root) / path).exists():
            return Path(root) / path
    return candidate


def _file_text(path: Path) -> str:
    with path.open("rb") as handle:
        return handle.read(LIMIT).decode("utf-8", "replace")


def _archive(path: Path) -> dict[str, str]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        return {str(file.relative_to(path)): _file_text(file) for file in files}
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.file_size <= LIMIT and not info.is_dir()]
            return {info.filename: archive.read(info).decode("utf-8", "replace") for info in members}
    found: dict[str, str] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            handle = archive.extractfile(member) if member.isfile() and member.size <= LIMIT else None
            if handle is not None:
                found[member.name] = handle.read().decode("utf-8", "replace")
    return found
