"""Scanning a value or a text for keys: shapes, names, structure and encodings together."""

import configparser
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from policies.detect.argv import TOOLS, literal_flags, script_credentials
from policies.detect.decode import DEPTH, base64_text, decoded
from policies.detect.lines import continued, keys_in_lines, keys_in_table, literal, users_with_passwords
from policies.detect.names import Promise, names_only, promise
from policies.detect.shapes import header_credentials, known_shapes, url_credentials
from policies.detect.values import is_key, is_listed_key
from policies.model.documents import DocumentError, yaml_documents

_PARSED: Final = 256 * 1024
"""Characters of the longest text that is parsed; longer ones are read line by line."""

# Words of which one stands in every text that holds a key by its name or its program.
_HINTS: Final = (
    *("pass", "key", "token", "secret", "auth", "pwd", "cred", "psk", "jwt", "identified", "hashes", "cookie", "login"),
    *("密", "口令", "令牌", "秘钥", "私钥", "smbclient", "rpcclient", "mc alias", "mc config"),
    *sorted(TOOLS - {"ab", "hey", "http", "https", "xh", "az", "zip", "unzip", "helm", "crane"}),
)
_HINT: Final = re.compile(
    r"(?i)(?<![a-z])(?:sk|pw)\b|[\"']?\bd[\"']?\s*:|:\d{2,5}:"
    r"|user[ \t]{0,4}=[^\n:]{1,80}:|user[ \t]{1,4}\S{1,60}[ \t]{1,4}on\b"
    r"|\b(?:zip|unzip|ab|hey|https?|xh)[ \t][^\n|;]{0,200}?-{1,2}(?:[PpakuU]|auth|user|creds)\b"
)
DESCRIPTIONS: Final = frozenset({"description", "title", "summary", "message", "doc", "help"})
"""Fields of running text; only the shape of a key tells there."""

NAMES_KEYS: Final = frozenset({"remoteRef", "sourceRef", "remoteKey", "objectName"})
"""Siblings of a `secretKey` field that is the name of an entry, as in ExternalSecrets."""

_COMMENT: Final = re.compile(r"(?m)(?:^|(?<=[ \t]))#+[ \t]{0,8}([^\n]{1,400})$")
_JSON_VALUE: Final = re.compile(r"""(?m)[=:][ \t]{0,8}["'`]?([{\[][^\n]{2,20000}[}\]])["'`]?;?[ \t\r]{0,8}$""")
_ESCAPED: Final = re.compile(r"\\+[nrt]")
_INVISIBLE: Final = dict.fromkeys((*range(0x200B, 0x2010), *range(0x2060, 0x2065), 0x00AD, 0x180E, 0xFEFF))
# Pieces of one text: 'a' + 'b', "a" "b", "a" .. "b".
_GLUED: Final = re.compile(r"[\"'][ \t]{0,8}(?:\+|\.{1,2}|\\?\n)?[ \t]{0,8}[\"']")
_FOLDED: Final = re.compile(r"[\w+/=.~:@-]{4,200}+(?:\s{1,40}[\w+/=.~:@-]{4,200}+){1,20}\s{0,4}")


def scan(name: str, text: str, depth: int = DEPTH) -> set[str]:
    """What keys `text`, known as `name`, holds; empty when none. Names are told, values never."""
    found: set[str] = set()
    if len(text) < 3:
        return found
    if name in DESCRIPTIONS:
        return set(known_shapes(text))
    if is_key(name, text):
        found.add(f"a literal value for {name}")
    if not text.isascii():
        text = text.translate(_INVISIBLE)
    # An escaped line break would glue its letter to the key behind it.
    bare = _ESCAPED.sub("\n", continued(text)) if "\\" in text else text
    if len(text) >= 12:
        found.update(known_shapes(bare))
        found.update(url_credentials(bare))
        found.update(header_credentials(bare))
    if not found:
        found.update(_structure(text, depth))
    if not found:
        found.update(_in_pieces(text))
    if depth and not found:
        for inner in decoded(bare):
            found.update(_behind(name, inner, depth - 1))
            if found:
                break
    return found


def _in_pieces(text: str) -> set[str]:
    """Keys that are cut in two: by the folding of YAML, or by the signs that put texts together in programs."""
    found: set[str] = set()
    if 16 <= len(text) <= 4000 and _FOLDED.fullmatch(text):
        found.update(known_shapes("".join(text.split())))
    if ("'" in text or '"' in text) and len(text) <= _PARSED and _GLUED.search(text):
        found.update(known_shapes(_GLUED.sub("", text)))
    return {f"{what}, in pieces" for what in found}


def _behind(name: str, text: str, depth: int) -> set[str]:
    """Keys in a decoded text: what a short decoded value is worth is decided by its name alone."""
    return {what if "encoded" in what else f"{what}, encoded" for what in scan(name, text, depth)}


def _structure(text: str, depth: int) -> set[str]:
    """Keys in a text that has a structure of its own: JSON, YAML, INI, properties, scripts, XML, SQL."""
    if len(text) < 6 or not _has_hint(text):
        return set()
    found = set(_registry_auth(text))
    if len(text) <= _PARSED and _has_structure(text):
        tree = _parsed(text)
        if tree is not None:
            found.update(keys_in_lines("\n".join(_COMMENT.findall(text))) if "#" in text else ())
            return found | scan_tree("", tree, depth)
    text = continued(text)
    found.update(keys_in_lines(text))
    found.update(keys_in_table(text))
    found.update(script_credentials(text, literal))
    found.update(_embedded(text, depth))
    return found


def _has_hint(text: str) -> bool:
    lowered = text.lower()
    return any(map(lowered.__contains__, _HINTS)) or _HINT.search(text) is not None


def _embedded(text: str, depth: int) -> set[str]:
    """Keys in JSON that stands behind a name on a line of its own: SETTINGS={"db": ...}."""
    found: set[str] = set()
    for match in _JSON_VALUE.finditer(text) if len(text) <= _PARSED else ():
        try:
            tree = json.loads(match[1])
        except (ValueError, RecursionError):
            continue
        found.update(scan_tree("", tree, depth))
    return found


def _has_structure(text: str) -> bool:
    head = text.lstrip()[:1]
    return head in ("{", "[") or "\n" in text


def _parsed(text: str) -> Any:
    """A mapping or list read out of a text; None when it is plain text. Several documents are a list."""
    try:
        trees = [document for document in yaml_documents(text) if isinstance(document, dict | list)]
    except DocumentError:
        return _ini(text)
    if not trees or any(_by_accident(tree) for tree in trees):
        return _ini(text)
    return trees[0] if len(trees) == 1 else trees


def _by_accident(tree: Any) -> bool:
    """Whether a text only happens to be YAML: a line of a script with a colon in it becomes a key with spaces."""
    return isinstance(tree, dict) and any(isinstance(key, str) and key.count(" ") > 2 for key in tree)


def _ini(text: str) -> Any:
    """Sections of a TOML or INI file as mappings."""
    if "=" not in text:
        return None
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        pass
    if "[" not in text:
        return None
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";", "//"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError, AttributeError):
        return None
    return {
        section: {k.strip("\"'"): v.strip().strip("\"'") for k, v in parser.items(section) if v}
        for section in parser.sections()
    }


def _registry_auth(text: str) -> Iterator[str]:
    """The `auth` field of a docker configuration: base64 of user and password."""
    for match in re.finditer(r'"auth"\s{0,8}:\s{0,8}"([A-Za-z0-9+/=]{8,1000})"', text):
        plain = base64_text(match[1])
        if plain is not None and ":" in plain and literal(plain.partition(":")[2]):
            yield "registry credentials"
            return


def scan_tree(name: str, tree: Any, depth: int = DEPTH) -> set[str]:
    """What keys a structure holds: mappings, pairs of name and value, lists of words."""
    found: set[str] = set()
    if (text := as_text(name, tree)) is not None:
        found.update(scan(name, text, depth))
    elif isinstance(tree, dict):
        found.update(_mapping(name, tree, depth))
    elif isinstance(tree, list):
        words = [word for word in tree if isinstance(word, str)]
        if len(words) > 1:
            found.update(literal_flags(words, literal))
        for member in tree:
            found.update(scan_tree(name, member, depth))
    return found


def _mapping(name: str, tree: dict[Any, Any], depth: int) -> set[str]:
    found: set[str] = set()
    label, value = pair(tree)
    if label is not None and (text := as_text(label, value)) is not None:
        found.update(scan(label, text, depth))
    if is_private_jwk(tree):
        found.add("a private JSON web key")
    for key, member in tree.items():
        text = str(key)
        if label is not None and member is value and isinstance(member, str):
            continue
        if text == "secretKey" and not NAMES_KEYS.isdisjoint(tree):
            text = ""
        found.update(known_shapes(text))
        if text == "auth" and isinstance(member, str):
            plain = base64_text(member)
            if plain is not None and ":" in plain and literal(plain.partition(":")[2]):
                found.add("registry credentials")
        if text == "chpasswd" and isinstance(member, dict):
            # cloud-init: one text with a line a user, or a list of such lines.
            listed = member.get("list")
            lines = "\n".join(map(str, listed)) if isinstance(listed, list) else str(listed or "")
            if users_with_passwords(lines):
                found.add("passwords of users")
        # Words such as `value` and `data` say nothing; then the name above them counts.
        inherits = text in ("value", "default", "plaintext", "literal", "content", "raw", "data", "string")
        inner = "" if names_only(name) and isinstance(member, str) else text
        if isinstance(member, str) and is_listed_key(name, text, member):
            found.add(f"a literal value for one of {name}")
        found.update(scan_tree(name if inherits and name else inner, member, depth))
    return found


_LABELS: Final = (
    *("name", "key", "Name", "Key", "ParameterKey", "ParameterName", "param", "parameter", "field", "property"),
    *("variable", "var", "header", "headerName", "option", "setting", "attribute"),
)
_VALUES: Final = ("value", "Value", "ParameterValue", "default", "defaultValue", "val", "literal", "content")


def pair(tree: dict[Any, Any]) -> tuple[str | None, Any]:
    """(name, value) of a mapping that is a pair, as in env lists; (None, None) for others."""
    for label in _LABELS:
        if isinstance(tree.get(label), str):
            for value in _VALUES:
                if value in tree:
                    return tree[label], tree[value]
    return None, None


def as_text(name: str, value: Any) -> str | None:
    """A value as text when it may be a key: a password of digits alone is a number to YAML."""
    if isinstance(value, int) and not isinstance(value, bool) and promise(name) is Promise.PASSWORD:
        return str(value)
    return value if isinstance(value, str) else None


def is_private_jwk(tree: dict[Any, Any]) -> bool:
    """Whether a mapping is a JSON web key with its private part."""
    if not isinstance(tree.get("kty"), str):
        return False
    private = tree.get("k") if tree["kty"] == "oct" else tree.get("d")
    return isinstance(private, str) and len(private) >= 16 and literal(private)
