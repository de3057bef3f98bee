"""Scanning a value or a text for keys: shapes, names, structure and encodings together."""

import configparser
import re
from collections.abc import Iterator
from typing import Any, Final

from policies.detect.argv import flag_pairs, script_credentials
from policies.detect.decode import DEPTH, base64_text, decoded
from policies.detect.names import Promise, names_only, promise
from policies.detect.shapes import header_credentials, known_shapes, url_credentials
from policies.detect.values import Kind, is_key, is_placeholder, is_reference, kind_of, random_enough
from policies.model.documents import DocumentError, yaml_documents

_PARSED: Final = 256 * 1024
"""Characters of the longest text that is parsed; longer ones are read line by line."""

_HINT: Final = re.compile(
    r"(?i)pass|pwd|secret|token|key|cred|auth|psk|jwt|identified\s{1,8}by|hashes|\bsk\b|\bpw\b|[\"']?\bd[\"']?\s*:|:\d{2,5}:"
    r"|cookie|user[ \t]{1,4}\S{1,60}[ \t]{1,4}on\b|curl|mysql|mariadb|redis-cli|mc alias|mc config|smbclient|rpcclient"
    r"|mongo|ldap|skopeo|密|口令|令牌"
)
DESCRIPTIONS: Final = frozenset({"description", "title", "summary", "message", "doc", "help"})
"""Fields of running text; only the shape of a key tells there."""

NAMES_KEYS: Final = frozenset({"remoteRef", "sourceRef", "remoteKey", "objectName"})
"""Siblings of a `secretKey` field that is the name of an entry, as in ExternalSecrets."""

_COMMENT: Final = re.compile(r"(?m)^[ \t]{0,40}#+[ \t]{0,8}([^\n]{1,400})$")
_ESCAPED: Final = re.compile(r"\\+[nrt]")
_ASSIGNED: Final = re.compile(
    r"""(?<![\w.\-$])(?P<name>[A-Za-z_][\w.\-]{1,80}+)["']?[ \t]{0,8}(?::=|=>|=|:)[ \t]{0,8}"""
    r"""(?:"(?P<double>[^"\n]{1,1000})"|'(?P<single>[^'\n]{1,1000})'|(?P<bare>[^\s"'`;,&|<>()\\]{1,1000}))"""
)
_SPACED: Final = re.compile(
    r"(?im)^[ \t]{0,20}(?:requirepass|masterauth|password|insecure-password|auth-pass|sasl_password)"
    r"[ \t]{1,8}[\"']?([^\s\"'=:;]{3,200})[\"']?;?[ \t]{0,8}$"
)
_NETRC: Final = re.compile(
    r"(?i)\bmachine\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{1,200})"
)
_SQL: Final = re.compile(
    r"(?i)\b(?:identified\s{1,4}by|with\s{1,4}(?:encrypted\s{1,4})?password|\bpassword)\s{1,4}'([^'\n]{1,200})'"
)
_WORDED: Final = re.compile(r"(?<![\w.\-$])([A-Za-z_][\w.\-]{2,60}+)[ \t]{1,4}(?=[\"']?([^\s\"'=:;|&]{3,200}))")
_PIPED: Final = re.compile(
    r"echo[ \t]{1,4}(?:-n[ \t]{1,4})?[\"']?([^\s\"'|]{3,200})[\"']?[ \t]{0,4}\|"
    r"[^\n|]{0,200}(?:--password-stdin|kinit|sudo -S)"
)
_SMB: Final = re.compile(
    r"(?:smbclient|rpcclient|winexe)[^\n]{0,200}-U[ \t]{0,4}[\"']?[^\s%\"']{1,60}%([^\s\"']{3,200})"
)
_CHPASSWD: Final = re.compile(r"[\w.-]{1,40}:([^\s\"'|:]{3,200})[\"']?\s{0,4}\|\s{0,4}(?:sudo\s{1,4})?chpasswd")
_OPENSSL: Final = re.compile(
    r"(?<![\w-])-?pass(?:in|out)?[= ]{1,4}pass:([^\s\"']{3,200})|(?<=[\s\"'])pass:([^\s\"']{3,200})"
)
_PGPASS: Final = re.compile(r"(?m)^[\w.*-]{1,200}:[\d*]{1,6}:[\w*-]{1,100}:[\w*.-]{1,100}:([^\s:]{3,200})$")
_ATTRIBUTES: Final = re.compile(
    r"(?:name|key)\s{0,4}=\s{0,4}[\"']([\w.\-]{1,80})[\"']\s{1,20}value\s{0,4}=\s{0,4}[\"']([^\"'\n]{1,400})[\"']"
)
_ACL: Final = re.compile(r"(?m)^[ \t]{0,20}user[ \t]{1,4}\S{1,60}[ \t][^\n>]{0,200}(?<=[ \t])>([^\s]{3,200})")
_TAG: Final = re.compile(r"<([A-Za-z][\w.-]{1,60})(?:\s[^<>]{0,200})?>([^<>\n]{1,400})</\1>")


def scan(name: str, text: str, depth: int = DEPTH) -> set[str]:
    """What keys `text`, known as `name`, holds; empty when none. Names are told, values never."""
    found: set[str] = set()
    if len(text) < 3:
        return found
    if name in DESCRIPTIONS:
        return set(known_shapes(text))
    if is_key(name, text):
        found.add(f"a literal value for {name}")
    # An escaped line break would glue its letter to the key behind it.
    bare = _ESCAPED.sub("\n", text) if "\\" in text else text
    if len(text) >= 12:
        found.update(known_shapes(bare))
        found.update(url_credentials(bare))
        found.update(header_credentials(bare))
    if not found:
        found.update(_structure(text, depth))
    if depth and not found:
        for inner in decoded(bare):
            found.update(_behind(name, inner, depth - 1))
            if found:
                break
    return found


def _behind(name: str, text: str, depth: int) -> set[str]:
    """Keys in a decoded text: what a short decoded value is worth is decided by its name alone."""
    return {what if "encoded" in what else f"{what}, encoded" for what in scan(name, text, depth)}


def _structure(text: str, depth: int) -> set[str]:
    """Keys in a text that has a structure of its own: JSON, YAML, INI, properties, scripts, XML, SQL."""
    if len(text) < 6 or not _HINT.search(text):
        return set()
    found = set(_registry_auth(text))
    if len(text) <= _PARSED and _has_structure(text):
        tree = _parsed(text)
        if tree is not None:
            found.update(_lines("\n".join(_COMMENT.findall(text))) if "#" in text else ())
            return found | scan_tree("", tree, depth)
    found.update(_lines(text))
    found.update(script_credentials(text, literal))
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
    """Sections of an INI file as mappings."""
    if "[" not in text or "=" not in text:
        return None
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, comment_prefixes=("#", ";", "//"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return None
    return {
        section: {k: v.strip().strip("\"'") for k, v in parser.items(section) if v} for section in parser.sections()
    }


def _registry_auth(text: str) -> Iterator[str]:
    """The `auth` field of a docker configuration: base64 of user and password."""
    for match in re.finditer(r'"auth"\s{0,8}:\s{0,8}"([A-Za-z0-9+/=]{8,1000})"', text):
        plain = base64_text(match[1])
        if plain is not None and ":" in plain and literal(plain.partition(":")[2]):
            yield "registry credentials"
            return


def literal(value: str) -> bool:
    """Whether a value in the place of a password is one."""
    stripped = value.strip().strip("\"'")
    return len(stripped) >= 3 and not is_reference(stripped) and not is_placeholder(stripped)


def _lines(text: str) -> Iterator[str]:
    for match in _ASSIGNED.finditer(text):
        name = match["name"]
        if promise(name) is Promise.NOTHING or text[max(0, match.start() - 2) : match.start()] == "${":
            continue
        value = match["double"] or match["single"] or match["bare"] or ""
        if match["bare"] and value.endswith(("[", "(", "{")):
            # An expression of a programming language.
            continue
        # In running text a word behind "password:" is part of the sentence; only whole lines are settings.
        certain = match["bare"] is None or _whole_line(text, match.start(), match.end())
        if is_key(name, value) and (certain or kind_of(value) is Kind.OPAQUE):
            yield f"a literal value for {name}"
    for pattern in (_SPACED, _NETRC, _SQL, _PGPASS):
        for match in pattern.finditer(text):
            if literal(match[1]) and (pattern is not _SPACED or _directive(match)):
                yield "a literal password"
                break
    for pattern in (_CHPASSWD, _PIPED, _SMB):
        if any(literal(match[1]) for match in pattern.finditer(text)):
            yield "a password on a command line"
    for match in _WORDED.finditer(text):
        name, value = match[1], match[2]
        # `set name value`: without a sign between them only a random value, or a directive, is sure.
        sure = random_enough(value) or name.lower() in ("requirepass", "masterauth")
        if sure and promise(name) is not Promise.NOTHING and kind_of(value) is Kind.OPAQUE:
            yield f"a literal value for {name}"
    for match in _OPENSSL.finditer(text) if "openssl" in text else ():
        if literal(match[1] or match[2]):
            yield "a password for openssl"
    if any(literal(match[1]) for match in _ACL.finditer(text)):
        yield "a password of an access list"
    for match in (*_TAG.finditer(text), *_ATTRIBUTES.finditer(text)):
        if is_key(match[1], match[2]):
            yield f"a literal value for {match[1]}"


def _directive(match: re.Match[str]) -> bool:
    """Whether `password word` is a setting; after "password" a plain word is a sentence."""
    sure = match[0].lstrip().lower().startswith(("requirepass", "masterauth"))
    return kind_of(match[1]) is Kind.OPAQUE or (sure and kind_of(match[1]) is Kind.WORD)


def _whole_line(text: str, start: int, end: int) -> bool:
    """Whether an assignment fills its line; only its near surroundings are read, so that long lines cost nothing."""
    before = text[max(0, start - 40) : start].rpartition("\n")[2].strip().strip("\"'")
    after = text[end : end + 40].partition("\n")[0].strip()
    return before in ("", "export", "set", "ENV", "-", "local", "ARG", "env") and after in ("", ",", ";", '"', "'")


def scan_tree(name: str, tree: Any, depth: int = DEPTH) -> set[str]:
    """What keys a structure holds: mappings, pairs of name and value, lists of words."""
    found: set[str] = set()
    if isinstance(tree, str):
        found.update(scan(name, tree, depth))
    elif isinstance(tree, dict):
        found.update(_mapping(name, tree, depth))
    elif isinstance(tree, list):
        words = [word for word in tree if isinstance(word, str)]
        if len(words) > 1:
            found.update(f"a literal value for {flag}" for flag, value in flag_pairs(words) if is_key(flag, value))
        for member in tree:
            found.update(scan_tree(name, member, depth))
    return found


def _mapping(name: str, tree: dict[Any, Any], depth: int) -> set[str]:
    found: set[str] = set()
    label, value = pair(tree)
    if label is not None and isinstance(value, str):
        found.update(scan(label, value, depth))
    if is_private_jwk(tree):
        found.add("a private JSON web key")
    for key, member in tree.items():
        text = str(key)
        if label is not None and text in ("value", "Value"):
            continue
        if text == "secretKey" and not NAMES_KEYS.isdisjoint(tree):
            text = ""
        found.update(known_shapes(text))
        if text == "auth" and isinstance(member, str):
            plain = base64_text(member)
            if plain is not None and ":" in plain and literal(plain.partition(":")[2]):
                found.add("registry credentials")
        # Words such as `value` and `data` say nothing; then the name above them counts.
        inherits = text in ("value", "default", "plaintext", "literal", "content", "raw", "data", "string")
        inner = "" if names_only(name) and isinstance(member, str) else text
        found.update(scan_tree(name if inherits and name else inner, member, depth))
    return found


def pair(tree: dict[Any, Any]) -> tuple[str | None, Any]:
    """(name, value) of a mapping that is a pair, as in env lists; (None, None) for others."""
    for label in ("name", "key", "Name", "Key", "ParameterKey"):
        for value in ("value", "Value", "ParameterValue"):
            if isinstance(tree.get(label), str) and value in tree:
                return tree[label], tree[value]
    return None, None


def is_private_jwk(tree: dict[Any, Any]) -> bool:
    """Whether a mapping is a JSON web key with its private part."""
    if not isinstance(tree.get("kty"), str):
        return False
    private = tree.get("k") if tree["kty"] == "oct" else tree.get("d")
    return isinstance(private, str) and len(private) >= 16 and literal(private)
