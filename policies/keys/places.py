"""Walks an object once and says, for each place of the KEY rules, what keys stand there."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from policies.detect.argv import command_credentials, literal_flags
from policies.detect.decode import base64_text
from policies.detect.lines import literal
from policies.detect.names import names_only
from policies.detect.scan import NAMES_KEYS, as_text, is_private_jwk, pair, scan
from policies.detect.shapes import image_credentials, known_shapes, url_credentials
from policies.detect.values import is_listed_key
from policies.engine.rule import Finding, ResourceCheck, Unjudged, Verdict
from policies.model.objects import Obj
from policies.model.resource import Resource
from policies.model.values import UNKNOWN, Plain, join
from policies.settings import Settings


class Place(Enum):
    """Where in an object a text stands."""

    ENV = "env"
    CONFIG_MAP = "ConfigMap data"
    COMMAND = "command line"
    METADATA = "annotations and labels"
    PROBE = "probes and hooks"
    VOLUME = "volumes"
    IMAGE = "image"
    VALUES = "chart values"
    OTHER = "other fields"


@dataclass(frozen=True, slots=True)
class KeyFound:
    """A key at a path; `what` names its kind, never its value. None: the value is not known yet."""

    place: Place
    obj: Obj | None
    path: str
    what: str | None


_PROBES: Final = frozenset({"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"})
_COMMANDS: Final = frozenset({"command", "args", "script", "source", "entrypoint"})
_VOLUMES: Final = frozenset({"volumes", "volumeAttributes", "mountOptions", "flexVolume", "csi"})
_IMAGE_FIELDS: Final = frozenset({"repository", "imageName", "imageRef", "imageURL", "ociImage"})
_CHARTS: Final = frozenset(
    {
        "HelmRelease",
        "Release",
        "Chart",
        "HelmChart",
        "HelmChartConfig",
        "HelmApp",
        "Application",
        "ApplicationSet",
        "App",
    }
)
_CHART_VALUES: Final = frozenset(
    {"values", "valuesObject", "valueYamlFiles", "valuesContent", "valuesYaml", "parameters"}
)
_VOLUME_KINDS: Final = frozenset({"PersistentVolume", "StorageClass", "VolumeAttributesClass", "VolumeSnapshotClass"})


def keys_in(resource: Resource) -> list[KeyFound]:
    """Every key in a resource, found once for all KEY rules."""
    found: list[KeyFound] | None = resource.cache.get("keys")
    if found is None:
        found = resource.cache["keys"] = []
        if resource.token.startswith("pulumi:"):
            return found
        nested = frozenset(id(obj.body) for obj in resource.objects)
        for obj in resource.objects:
            found.extend(_Walk(obj, nested).run())
        if not resource.objects:
            found.extend(_Walk(None, frozenset()).fields(resource.body, "", "", Place.OTHER))
    return found


def forbid_in(place: Place) -> ResourceCheck:
    """Check that no key stands in a place."""

    def check(resource: Resource, settings: Settings) -> Iterator[Verdict]:
        del settings
        for key in keys_in(resource):
            if key.place is place:
                if key.what is None:
                    yield Unjudged(f"{key.obj}: {key.path}" if key.obj else key.path)
                else:
                    yield Finding(key.path, f"this holds {key.what}", key.obj)

    return check


class _Walk:
    def __init__(self, obj: Obj | None, nested: frozenset[int]) -> None:
        self.obj = obj
        self.nested = nested

    def run(self) -> Iterator[KeyFound]:
        """Keys of the object."""
        obj = self.obj
        if obj is None:
            return
        for key, value in obj.body.items():
            path = join(obj.path, key)
            if obj.kind == "Secret" and obj.group == "" and key in ("data", "stringData"):
                continue
            if obj.kind == "ConfigMap" and obj.group == "" and key in ("data", "binaryData"):
                yield from self.config(value, path, binary=key == "binaryData")
            elif obj.kind in _VOLUME_KINDS and key not in ("metadata", "apiVersion", "kind"):
                yield from self.fields(value, path, key, Place.VOLUME)
            elif key not in ("apiVersion", "kind"):
                yield from self.fields(value, path, key, Place.OTHER)

    def config(self, data: Plain, path: str, *, binary: bool) -> Iterator[KeyFound]:
        """Keys in the entries of a ConfigMap."""
        if data is UNKNOWN:
            yield KeyFound(Place.CONFIG_MAP, self.obj, path, None)
        elif isinstance(data, dict):
            for name, value in data.items():
                where = join(path, name)
                if len(name) >= 16:
                    yield from self.hits(Place.CONFIG_MAP, path, set(known_shapes(name)))
                if value is UNKNOWN:
                    yield KeyFound(Place.CONFIG_MAP, self.obj, where, None)
                elif isinstance(value, str):
                    text = (base64_text(value) or value) if binary else value
                    yield from self.hits(Place.CONFIG_MAP, where, scan(name, text))
                else:
                    yield from self.fields(value, where, name, Place.CONFIG_MAP)

    def hits(self, place: Place, path: str, found: set[str]) -> Iterator[KeyFound]:
        """One record for all that was found at a path."""
        if found:
            place = Place.OTHER if place is Place.VALUES else place
            yield KeyFound(place, self.obj, path, ", ".join(sorted(found)))

    def fields(self, value: Plain, path: str, name: str, place: Place) -> Iterator[KeyFound]:
        """Keys below a field; the field's name may change the place."""
        if isinstance(value, dict):
            yield from self.mapping(value, path, name, place)
        elif isinstance(value, list):
            yield from self.sequence(value, path, name, place)
        elif isinstance(value, str) and place is Place.IMAGE:
            found = {*known_shapes(value), *url_credentials(value)}
            if image_credentials(value):
                found.add("a password in an image reference")
            yield from self.hits(place, path, found)
        elif (text := as_text(name, value)) is not None:
            found = scan(name, text)
            if name in _IMAGE_FIELDS and image_credentials(text):
                found.add("a password in an image reference")
            yield from self.hits(place, path, found)
        elif value is UNKNOWN and name == "valueYamlFiles":
            # A file of chart values that cannot be read from here.
            yield KeyFound(place, self.obj, path, None)
        elif value is UNKNOWN and place in (Place.ENV, Place.COMMAND, Place.PROBE):
            yield KeyFound(place, self.obj, path, None)

    def mapping(self, value: dict[str, Plain], path: str, name: str, place: Place) -> Iterator[KeyFound]:
        """Keys in a mapping."""
        if id(value) in self.nested and (self.obj is None or value is not self.obj.body):
            return
        label, named = pair(value)
        if label is not None and (text := as_text(label, named)) is not None:
            yield from self.hits(place, join(path, next(k for k in value if value[k] is named)), scan(label, text))
        if is_private_jwk(value):
            yield from self.hits(place, path, {"a private JSON web key"})
        yield from self.across(value, path, place)
        for key, member in value.items():
            if len(key) >= 16:
                yield from self.hits(place, path, set(known_shapes(key)))
            if isinstance(member, str) and is_listed_key(name, key, member):
                yield from self.hits(place, join(path, key), {f"a literal value for one of {name}"})
                continue
            if key == "secretKey" and not NAMES_KEYS.isdisjoint(value):
                yield from self.fields(member, join(path, key), "", place)
                continue
            if self.sealed(key) or (label is not None and member is named and as_text(label, named) is not None):
                continue
            where = join(path, key)
            if name == "metadata" and key in ("annotations", "labels"):
                yield from self.metadata(member, where)
            elif key == "auth" and isinstance(member, str) and _user_and_password(member):
                yield from self.hits(place, where, {"registry credentials"})
            else:
                inherits = key in ("value", "plaintext", "literal", "stringData", "data") and isinstance(member, str)
                known = "" if names_only(name) and isinstance(member, str) else key
                yield from self.fields(member, where, name if inherits else known, self.place(place, name, key, member))

    def across(self, value: dict[str, Plain], path: str, place: Place) -> Iterator[KeyFound]:
        """Keys whose flag ends a command and whose value begins its arguments."""
        command, args = value.get("command"), value.get("args")
        if not (isinstance(command, list) and isinstance(args, list) and command and args):
            return
        words = [word if isinstance(word, str) else "" for word in (*command, *args)]
        apart = {*_on_command_line(words[: len(command)]), *_on_command_line(words[len(command) :])}
        found = _on_command_line(words) - apart
        yield from self.hits(
            place if place in (Place.PROBE, Place.VALUES) else Place.COMMAND, join(path, "args"), found
        )

    def place(self, place: Place, name: str, key: str, member: Plain) -> Place:
        """Place of what stands below `key`."""
        if place is Place.OTHER and key in _CHART_VALUES and self.obj is not None and self.obj.kind in _CHARTS:
            return Place.VALUES
        if name == "image" and key == "reference" and isinstance(member, str):
            return Place.IMAGE
        return place if place is Place.VALUES else _place(place, key, member)

    def sealed(self, key: str) -> bool:
        """Whether a field is encrypted by design, so that its random texts say nothing."""
        if self.obj is None:
            return False
        if key == "encryptedData":
            return self.obj.is_a("SealedSecret", "bitnami.com")
        return key == "sops" and "mac" in (self.obj.body.get("sops") or {})

    def metadata(self, entries: Plain, path: str) -> Iterator[KeyFound]:
        """Keys in annotations or labels."""
        if entries is UNKNOWN:
            yield KeyFound(Place.METADATA, self.obj, path, None)
        for key, value in entries.items() if isinstance(entries, dict) else ():
            if len(key) >= 16:
                yield from self.hits(Place.METADATA, path, set(known_shapes(key)))
            if isinstance(value, str):
                # A domain before the slash is the owner of the key, not part of its name.
                owner, _, own = key.rpartition("/")
                yield from self.hits(Place.METADATA, join(path, key), scan(own if "." in owner else key, value))
            elif value is UNKNOWN:
                yield KeyFound(Place.METADATA, self.obj, join(path, key), None)

    def sequence(self, value: list[Plain], path: str, name: str, place: Place) -> Iterator[KeyFound]:
        """Keys in a list; a list of words is read as a command line."""
        words = [word if isinstance(word, str) else "" for word in value]
        flagged: set[str] = set()
        if len(value) > 1 and any(words):
            flagged = _on_command_line(words)
            yield from self.hits(place, path, flagged)
        for index, member in enumerate(value):
            where = f"{path}[{index}]"
            if isinstance(member, str):
                found = scan(name if place is not Place.COMMAND else "", member)
                yield from self.hits(place, where, found - flagged)
                if not found and not flagged and len(value) == 1:
                    yield from self.hits(place, where, set(literal_flags([member], literal)))
            else:
                yield from self.fields(member, where, name, place)


def _place(place: Place, key: str, member: Plain) -> Place:
    """Place of what stands below `key`."""
    if key == "env" and isinstance(member, list):
        return Place.ENV
    if key in _PROBES:
        return Place.PROBE
    if key in _COMMANDS and (isinstance(member, list) or (isinstance(member, str) and place is Place.OTHER)):
        return place if place is Place.PROBE else Place.COMMAND
    if key in _VOLUMES and place is Place.OTHER:
        return Place.VOLUME
    if key == "image" and isinstance(member, str):
        return Place.IMAGE
    return place


def _on_command_line(words: list[str]) -> set[str]:
    """Keys in a list of words that may be a command line."""
    return {*literal_flags(words, literal), *command_credentials(words, literal)}


def _user_and_password(text: str) -> bool:
    plain = base64_text(text)
    return plain is not None and ":" in plain and literal(plain.partition(":")[2])
