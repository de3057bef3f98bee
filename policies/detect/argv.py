"""Keys on command lines: flags and their values, whether in a list of words or in a script."""

import itertools
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from policies.detect.values import Kind, is_key, kind_of

# Programs whose short flags take a password: (flags, glued to their value).
_SHORT: Final[dict[str, tuple[tuple[str, ...], bool]]] = {
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlpump", "mycli"), (("-p",), True)),
    **dict.fromkeys(("mariadb", "mariadb-dump", "mariadb-admin", "xtrabackup", "7z", "7za"), (("-p",), True)),
    **dict.fromkeys(("mongosh", "mongo", "mongodump", "mongorestore", "mongoimport", "mongoexport"), (("-p",), False)),
    **dict.fromkeys(("docker", "nerdctl", "helm", "skopeo", "podman", "crane", "oras", "buildah"), (("-p",), False)),
    **dict.fromkeys(("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami"), (("-w",), False)),
    **dict.fromkeys(("sqlcmd", "bcp", "isql", "osql"), (("-P",), True)),
    **dict.fromkeys(("zip", "unzip", "zipcloak"), (("-P",), True)),
    "redis-cli": (("-a",), False),
    "valkey-cli": (("-a",), False),
    "keydb-cli": (("-a",), False),
    "sshpass": (("-p",), False),
    "az": (("-p",), False),
    "openssl": (("-k",), False),
    "ossutil": (("-k",), False),
    "ossutil64": (("-k",), False),
    "ipmitool": (("-P",), False),
    "cqlsh": (("-p",), False),
    "htpasswd": ((), False),
}
_LOGIN_ONLY: Final = frozenset(
    {"docker", "nerdctl", "podman", "helm", "skopeo", "crane", "oras", "buildah", "az", "ossutil", "ossutil64"}
)
_LOGINS: Final = frozenset({"login", "config", "auth", "registry"})
_USER_FLAGS: Final = frozenset(
    {"-u", "--user", "--proxy-user", "-U", "--creds", "--src-creds", "--dest-creds", "--auth", "-a", "--username"}
)
_USER_TOOLS: Final = frozenset(
    {
        "curl",
        "skopeo",
        "buildah",
        "podman",
        "wget",
        "http",
        "https",
        "xh",
        "rabbitmqadmin",
        "etcdctl",
        "lftp",
        "ab",
        "hey",
    }
)
# Programs that take a password as a word in a place of its own: words before it.
_POSITIONS: Final = {
    ("rabbitmqctl", "add_user"): 2,
    ("rabbitmqctl", "change_password"): 2,
    ("rabbitmqctl", "authenticate_user"): 2,
    ("redis-cli", "AUTH"): 1,
    ("redis-cli", "auth"): 1,
    ("vault", "login"): 1,
    ("net", "user"): 2,
}
TOOLS: Final = frozenset((*_SHORT, *_USER_TOOLS, "openssl", "chpasswd", "rabbitmqctl", "consul", "nomad", "vault"))
"""Programs whose command lines may hold a password without naming one."""

_PAIR_FLAGS: Final = re.compile(
    r"(?:basic|http|proxy|web|user|admin)[-_.]?(?:auth|creds?|credentials)|userpass|auth|creds?|credentials"
)
_SEPARATORS: Final = re.compile(r"&&|\|\||[;\n|]")
_FLAG: Final = re.compile(
    r"""(?<![\w-])(--?[A-Za-z][\w.-]{1,60})(?:=|[ \t]{1,8})"""
    r"""(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|([^\s"'`;|&()<>-][^\s"'`;|&()<>]{0,1000}))"""
)
_LONGEST_LINE: Final = 20_000


def flag_pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(name, value) of flags and assignments in a list of words; flag and value may be two words."""
    for index, word in enumerate(words):
        if word.startswith(("-", "/")) and not word.startswith("/", 1):
            name, equals, value = word.lstrip("-/").partition("=")
            if equals:
                yield name, value
                # Flags such as --set or -D carry assignments of their own.
                for part in value.split(","):
                    inner, more, last = part.partition("=")
                    if more:
                        yield inner, last
            elif word.startswith("-") and index + 1 < len(words) and not words[index + 1].startswith("--"):
                yield name, words[index + 1]
        elif "=" in word and not any(char.isspace() for char in word):
            for part in word.split(","):
                name, equals, value = part.partition("=")
                if equals and name:
                    yield name, value


def literal_flags(words: Sequence[str], literal: Callable[[str], bool]) -> Iterator[str]:
    """What keys stand behind the flags and assignments of a list of words."""
    for name, value in flag_pairs(words):
        if is_key(name, value):
            yield f"a literal value for {name}"
        elif _user_and_password(name, value, literal):
            yield f"a password behind --{name}"


def _user_and_password(name: str, value: str, literal: Callable[[str], bool]) -> bool:
    """Whether a flag for a user and a password, as in --basic-auth=ann:..., has both."""
    if ":" not in value or "://" in value or len(value) > 200 or not _PAIR_FLAGS.fullmatch(name.lower()):
        return False
    password = value.partition(":")[2]
    return literal(password) and kind_of(password) is Kind.OPAQUE


def script_credentials(text: str, literal: Callable[[str], bool]) -> Iterator[str]:
    """Passwords on command lines inside a script or a single text."""
    for match in _FLAG.finditer(text):
        value = match[2] or match[3] or match[4]
        name = match[1].lstrip("-")
        if is_key(name, value):
            yield f"a literal value for --{name}"
        elif _user_and_password(name, value, literal):
            yield f"a password behind --{name}"
    tools = [tool for tool in (*TOOLS, "mc ") if tool in text]
    for line in _SEPARATORS.split(text) if tools else ():
        if line.strip() and len(line) <= _LONGEST_LINE and any(tool in line for tool in tools):
            yield from command_credentials(_words(line), literal)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def command_credentials(words: Sequence[str], literal: Callable[[str], bool]) -> Iterator[str]:
    """Passwords behind the short flags of known programs."""
    names = [word.rsplit("/", 1)[-1] if len(word) < 200 else "" for word in words]
    for start, tool in enumerate(names):
        if tool not in TOOLS and tool != "mc":
            continue
        rest = words[start + 1 :]
        if tool in _USER_TOOLS and _has_user(tool, rest, literal):
            yield f"a password for {tool}"
        if tool in ("consul", "nomad") and any(name == "token" and literal(value) for name, value in flag_pairs(rest)):
            yield f"a token for {tool}"
        sets_alias = tool == "mc" and tuple(rest[:2]) in (("alias", "set"), ("config", "host"))
        place = 6 if sets_alias and rest[1] == "host" and len(rest) > 6 else 5
        if sets_alias and len(rest) > place and literal(rest[place]):
            yield f"a password for {tool}"
        for word, command in enumerate(rest):
            place = word + _POSITIONS.get((tool, command), -len(words) - 1)
            if word < place < len(rest) and literal(rest[place]) and not rest[place].startswith("-"):
                yield f"a password for {tool}"
        if tool in _SHORT and (tool not in _LOGIN_ONLY or not _LOGINS.isdisjoint(rest)):
            yield from _short(tool, rest, literal)


def _has_user(tool: str, rest: Sequence[str], literal: Callable[[str], bool]) -> bool:
    for flag, value in itertools.pairwise(rest):
        if flag in _USER_FLAGS and ":" in value and "://" not in value and literal(value.partition(":")[2]):
            # A number behind the colon is a group: docker -u 1000:1000.
            return not value.replace(":", "").isdecimal()
    for word in rest:
        glued = word[2:] if tool == "curl" and word.startswith("-u") else ""
        for flag in _USER_FLAGS:
            if flag.startswith("--") and word.startswith(f"{flag}="):
                glued = word[len(flag) + 1 :]
        if ":" in glued and "://" not in glued and literal(glued.partition(":")[2]):
            return True
    return False


def _short(tool: str, rest: Sequence[str], literal: Callable[[str], bool]) -> Iterator[str]:
    flags, glued = _SHORT[tool]
    if tool == "htpasswd":
        plain = [word for word in rest if not word.startswith("-")]
        batch = any(re.fullmatch(r"-[A-Za-z]*b[A-Za-z]*", word) for word in rest)
        if batch and plain and literal(plain[-1]):
            yield f"a password for {tool}"
        return
    for index, word in enumerate(rest):
        for flag in flags:
            joined = word.startswith(flag) and len(word) > len(flag)
            following = rest[index + 1] if index + 1 < len(rest) else ""
            value = ""
            if joined and (glued or tool == "sshpass"):
                value = word[len(flag) :]
            elif word == flag and not following.startswith("-") and (not glued or flag == "-P"):
                value = following
            if literal(value):
                yield f"a password for {tool}"
