"""The file behind `--config`: levels, settings and exceptions, as `pulumi --policy-pack-config` takes them."""

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pulumi_policy import EnforcementLevel

from policies.check.files import InputError, Source
from policies.model.yamltext import read_texts
from policies.pack import rules
from policies.settings import DEFAULTS, SettingsError, overlay

_LEVELS: Final = {level.value: level for level in EnforcementLevel}
_SETTINGS: Final = "pack-settings"


@dataclass
class Configuration:
    """Levels and settings by policy; `file` is where they come from."""

    file: str = ""
    levels: dict[str, EnforcementLevel] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_configuration(path: str | None) -> Configuration:
    """Configuration out of a JSON or YAML file; raises InputError."""
    if path is None:
        return Configuration()
    if Path(path).is_dir():
        raise InputError(f"{path}: is a folder; --config takes one JSON or YAML file")
    documents = list(read_texts(Source(path).read()))
    for document in documents:
        if document.error is not None:
            raise InputError(f"{path}: is no YAML or JSON: {document.error}")
        if document.repeated:
            raise InputError(f"{path}: {document.repeated[0]}")
    bodies = [document.value for document in documents if document.value is not None]
    if len(bodies) != 1 or not isinstance(bodies[0], dict):
        example = "rbac-no-secret-read: advisory"
        raise InputError(f"{path}: must be one mapping from policies to levels or settings, such as\n    {example}")
    return _configuration(path, bodies[0])


def _configuration(path: str, body: Mapping[str, Any]) -> Configuration:
    names = {rule.name for rule in rules()}
    controls = {rule.control: rule.name for rule in rules()}
    found = Configuration(path)
    for name, value in body.items():
        if name != "all" and name not in names:
            meant = controls.get(name.upper()) or _nearest(name, names)
            hint = (
                f"; did you mean {meant}? Write\n    {meant}: advisory" if meant else "; docs/policies lists them all"
            )
            raise InputError(f"{path}: {_shown(name)} is no policy of this pack{hint}")
        entry = {"enforcementLevel": value} if isinstance(value, str) else value
        if not isinstance(entry, dict):
            advice = f"Write\n    {name}: disabled"
            raise InputError(f"{path}: {name} must be a level ({', '.join(_LEVELS)}) or a mapping. {advice}")
        own = {key: member for key, member in entry.items() if key != "enforcementLevel"}
        if "enforcementLevel" in entry:
            level = _level(path, name, entry["enforcementLevel"])
            for each in names if name == "all" else (name,):
                if name != "all" or each not in body:
                    found.levels[each] = level
                elif isinstance(body[each], dict):
                    found.levels.setdefault(each, level)
        if own:
            _check_settings(path, name, own, {*names, *controls})
            found.settings[name] = json.loads(json.dumps(own))
    return found


def _level(path: str, name: str, level: Any) -> EnforcementLevel:
    known = _LEVELS.get(level) if isinstance(level, str) else None
    if known is None:
        meant = _nearest(level.lower(), _LEVELS) if isinstance(level, str) else ""
        advice = f"{name}: {meant or 'advisory'}"
        raise InputError(f"{path}: {name}.enforcementLevel must be one of {', '.join(_LEVELS)}. Write\n    {advice}")
    return known


def _check_settings(path: str, name: str, own: dict[str, Any], known: set[str]) -> None:
    if name == "all":
        key = next(iter(own))
        raise InputError(
            f"{path}: all.{_shown(key)}: settings for every policy belong to {_SETTINGS}. Write\n"
            f"    {_SETTINGS}:\n      {_shown(key)}: …"
        )
    try:
        settings = overlay(DEFAULTS, own)
    except SettingsError as error:
        raise InputError(f"{path}: {name}: {error}") from None
    for index, exemption in enumerate(settings.exceptions):
        if exemption.rule not in known:
            meant = _nearest(exemption.rule, known)
            where = f"{path}: {name}: exceptions[{index}].rule: {_shown(exemption.rule)} is no policy or control"
            raise InputError(f"{where} of this pack{f'; did you mean {meant}?' if meant else ''}")


def _nearest(word: str, known: Iterable[str]) -> str:
    return next(iter(difflib.get_close_matches(word, list(known), 1)), "")


def _shown(name: str) -> str:
    """A name of a file, if it is short and plain: a key may stand at a wrong place."""
    plain = name.replace("-", "").replace("_", "")
    short = len(name) <= 40 and plain.isalnum() and plain.isascii() and sum(c.isdigit() for c in plain) <= 4
    return name if short else f"a name of {len(name)} characters"
