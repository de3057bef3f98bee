"""Keys on command lines: flags and their values, whether in a list of words or in a script."""

import itertools
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Final

# Programs whose short flags take a password: (flag, glued to its value).
_SHORT: Final = {
    "mysql": ("-p", True),
    "mysqldump": ("-p", True),
    "mysqladmin": ("-p", True),
    "mariadb": ("-p", True),
    "mariadb-dump": ("-p", True),
    "mongosh": ("-p", False),
    "mongo": ("-p", False),
    "mongodump": ("-p", False),
    "mongorestore": ("-p", False),
    "redis-cli": ("-a", False),
    "sshpass": ("-p", False),
    "docker": ("-p", False),
    "nerdctl": ("-p", False),
    "helm": ("-p", False),
    "skopeo": ("-p", False),
    "podman": ("-p", False),
    "crane": ("-p", False),
    "oras": ("-p", False),
    "ldapsearch": ("-w", False),
    "ldapadd": ("-w", False),
    "ldapmodify": ("-w", False),
    "7z": ("-p", True),
    "htpasswd": ("", False),
}
_LOGIN_ONLY: Final = frozenset({"docker", "nerdctl", "podman", "helm", "skopeo", "crane", "oras"})
_USER_FLAGS: Final = frozenset(
    {"-u", "--user", "--proxy-user", "-U", "--creds", "--src-creds", "--dest-creds", "--auth"}
)
_USER_TOOLS: Final = frozenset({"curl", "skopeo", "buildah", "podman", "wget", "http", "rabbitmqadmin"})
_SEPARATORS: Final = re.compile(r"&&|\|\||[;\n|]")
_FLAG: Final = re.compile(
    r"""(?<![\w-])(--?[A-Za-z][\w.-]{1,60})(?:=|[ \t]{1,8})"""
    r"""(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|([^\s"'`;|&()<>-][^\s"'`;|&()<>]{0,1000}))"""
)
_LONGEST_LINE: Final = 20_000


def flag_pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(name, value) of flags and assignments in a list of words; flag and value may be two words."""
    for index, word in enumerate(words):
        if word.startswith("-"):
            name, equals, value = word.lstrip("-").partition("=")
            if equals:
                yield name, value
                # Flags such as --set or -D carry an assignment of their own.
                inner, more, last = value.partition("=")
                if more:
                    yield inner, last
            elif index + 1 < len(words) and not words[index + 1].startswith("--"):
                yield name, words[index + 1]
        elif "=" in word and not any(char.isspace() for char in word):
            for part in word.split(","):
                name, equals, value = part.partition("=")
                if equals and name:
                    yield name, value


def script_credentials(text: str, literal: Callable[[str], bool]) -> Iterator[str]:
    """Passwords on command lines inside a script or a single text."""
    from policies.detect.values import is_key

    for match in _FLAG.finditer(text):
        value = match[2] or match[3] or match[4]
        name = match[1].lstrip("-")
        if is_key(name, value):
            yield f"a literal value for --{name}"
    for line in _SEPARATORS.split(text):
        if line.strip() and len(line) <= _LONGEST_LINE and _may_hold(line):
            yield from command_credentials(_words(line), literal)


def _may_hold(line: str) -> bool:
    return "mc " in line or any(tool in line for tool in _SHORT) or any(tool in line for tool in _USER_TOOLS)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def command_credentials(words: Sequence[str], literal: Callable[[str], bool]) -> Iterator[str]:
    """Passwords behind the short flags of known programs."""
    names = [word.rsplit("/", 1)[-1] for word in words]
    for start, tool in enumerate(names):
        rest = words[start + 1 :]
        if tool in _USER_TOOLS:
            for flag, value in itertools.pairwise(rest):
                if flag in _USER_FLAGS and ":" in value and literal(value.partition(":")[2]):
                    yield f"a password for {tool}"
            for word in rest:
                if tool == "curl" and word.startswith("-u") and ":" in word and literal(word.partition(":")[2]):
                    yield f"a password for {tool}"
        sets_alias = tool == "mc" and tuple(rest[:2]) in (("alias", "set"), ("config", "host"))
        if sets_alias and len(rest) >= 6 and literal(rest[5]):
            yield f"a password for {tool}"
        if tool in _SHORT and (tool not in _LOGIN_ONLY or "login" in rest):
            yield from _short(tool, rest, literal)


def _short(tool: str, rest: Sequence[str], literal: Callable[[str], bool]) -> Iterator[str]:
    flag, glued = _SHORT[tool]
    if tool == "htpasswd":
        plain = [word for word in rest if not word.startswith("-")]
        batch = any(re.fullmatch(r"-[A-Za-z]*b[A-Za-z]*", word) for word in rest)
        if batch and plain and literal(plain[-1]):
            yield f"a password for {tool}"
        return
    for index, word in enumerate(rest):
        joined = word.startswith(flag) and len(word) > len(flag)
        value = ""
        if joined and (glued or tool == "sshpass"):
            value = word[len(flag) :]
        elif not glued and word == flag and index + 1 < len(rest):
            value = rest[index + 1]
        if literal(value):
            yield f"a password for {tool}"
