"""Command lines that start the API server, read the way a shell and then the server's flag parser read them."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from policies.model.values import UNKNOWN, Plain, child, items, word_set

Word: TypeAlias = tuple[str, Plain]
"""A word with the path it is written at; the word may be `UNKNOWN`."""

SERVER: Final = re.compile(r"(?:kube-apiserver|hyperkube-apiserver)(?:-(?:amd64|arm64|s390x|ppc64le|linux))?")
_DISTRIBUTIONS: Final = frozenset({"k3s", "rke2"})
_SHELLS: Final = frozenset({"sh", "bash", "ash", "dash", "zsh", "ksh", "busybox"})
# Programs that start the one named behind their own flags.
_WRAPPERS: Final = word_set(
    """exec command nohup sudo time env nice ionice tini dumb-init catatonit go-runner setpriv su-exec gosu chroot
    timeout taskset numactl stdbuf hyperkube busybox unshare nsenter s6-setuidgid then do else if ! {"""
)
_WITH_OPERAND: Final = frozenset({"su-exec", "gosu", "chroot", "timeout", "taskset", "s6-setuidgid"})
# Programs that print, look for or fetch what they name.
_MENTIONS: Final = frozenset({"echo", "printf", "cat", "grep", "pgrep", "pkill", "pidof", "ps", "kubectl", "crictl"})
_ENDINGS: Final = frozenset({"--help", "-h", "--version", "--version=true", "--version=raw"})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w{0,80}=.{0,4000}", re.DOTALL)
_VARIABLE: Final = re.compile(r"\$(?:\{(\w{1,80})\}|\((\w{1,80})\)|(\w{1,80}))")
_REDIRECTION: Final = re.compile(r"\d?>&\d?|&>>?")
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_SEPARATORS: Final = ";&|"
_LONGEST_LINE: Final = 20_000
# Flags that only the API server has: they tell its command line from a mention of its name.
_TELLING: Final = ("--etcd-", "--audit-", "--service-cluster-ip-range", "--authorization-", "--secure-port", "--oidc-")


def base(word: str) -> str:
    """Name of a program without its folders."""
    return word.rsplit("/", 1)[-1].lstrip("({`\"'")


def image_name(image: str) -> str:
    """Last part of an image reference, without registry, tag and digest."""
    return image.partition("@")[0].rsplit("/", 1)[-1].partition(":")[0]


def server_lines(container: dict[str, Plain], path: str) -> Iterator[list[Word]]:
    """Words behind the name of the API server, for each command of a container that starts one.

    An image of the API server counts as a start when nothing else in the command does.
    """
    argv = [word for key in ("command", "args") for word in items(container.get(key), f"{path}.{key}")]
    found = False
    for command in _commands(argv, container.get("env")):
        words = _after_server(command)
        if words is not None and not _ENDINGS.intersection(w for _, w in words if isinstance(w, str)):
            found = True
            yield words
    image = container.get("image")
    if not found and isinstance(image, str) and SERVER.fullmatch(image_name(image)):
        yield argv


def script_lines(text: str, path: str) -> Iterator[list[Word]]:
    """Words behind the name of the API server, for each command of a shell script or unit that starts one."""
    for command in _in_script(text, path, [], {}):
        words = _after_server(command)
        if words is not None:
            yield words


def _commands(argv: list[Word], env: Plain) -> Iterator[list[Word]]:
    known = {
        str(child(entry, "name")): str(child(entry, "value"))
        for _, entry in items(env, "")
        if isinstance(child(entry, "value"), str)
    }
    shell = bool(argv) and isinstance(argv[0][1], str) and base(argv[0][1]) in _SHELLS
    scripts = False
    for index, (path, word) in enumerate(argv):
        if isinstance(word, str) and _names_server(word, known) and any(c.isspace() for c in word.strip()):
            scripts = True
            yield from _in_script(word, path, argv[index + 2 :], known)
    if not shell or not scripts:
        yield [expanded for word in argv for expanded in _expanded(word, known, argv[:0])]


def _names_server(text: str, known: dict[str, str]) -> bool:
    if "apiserver" in text or any(f"{name} server" in text for name in _DISTRIBUTIONS):
        return True
    return "$" in text and any("apiserver" in value for value in known.values())


def _in_script(text: str, path: str, rest: list[Word], known: dict[str, str]) -> Iterator[list[Word]]:
    """Simple commands of a script; `rest` holds what stands for "$@"."""
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        if _names_server(line, known):
            for command in _split(_COMMENT.sub("", _REDIRECTION.sub(" ", line))):
                yield [part for word in command for part in _expanded((path, word), known, rest)]


def _split(line: str) -> Iterator[list[str]]:
    words: list[str] = []
    for token in _tokens(line):
        if token and not token.strip(_SEPARATORS):
            yield words
            words = []
        else:
            words.append(token)
    yield words


def _tokens(line: str) -> list[str]:
    # The lexer is written in Python and slow; a line of this length is no command that a person wrote.
    if len(line) <= _LONGEST_LINE:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=_SEPARATORS)
        lexer.whitespace_split = True
        lexer.commenters = ""
        try:
            return list(lexer)
        except ValueError:
            pass
    return re.sub(r"([;&|]+)", r" \1 ", line).split()


def _expanded(word: Word, known: dict[str, str], rest: list[Word]) -> Iterator[Word]:
    path, text = word
    if not isinstance(text, str) or "$" not in text:
        yield word
    elif text in ("$@", "$*"):
        yield from rest
    else:
        whole = _VARIABLE.fullmatch(text)
        value = known.get(whole[1] or whole[2] or whole[3]) if whole else None
        if value is not None:
            yield from ((path, part) for part in value.split())
        else:
            yield path, _VARIABLE.sub(lambda m: known.get(m[1] or m[2] or m[3], m[0]), text)


def _after_server(command: Sequence[Word]) -> list[Word] | None:
    """Words behind the server's name when this command starts it; None when it only mentions it."""
    leading = True
    operand = False
    if command and isinstance(command[0][1], str) and base(command[0][1]) in _MENTIONS:
        return None
    for index, (_, word) in enumerate(command):
        if not isinstance(word, str):
            continue
        name = base(word)
        rest = list(command[index + 1 :])
        if SERVER.fullmatch(name):
            telling = any(isinstance(w, str) and w.startswith(_TELLING) for _, w in rest)
            if leading or telling:
                return rest
        elif name in _DISTRIBUTIONS and leading:
            return _distribution(rest)
        elif name in _WRAPPERS:
            operand = name in _WITH_OPERAND
        elif not (_ASSIGNMENT.fullmatch(word) or word.startswith("-")):
            # The value of a wrapper's flag, or a wrapper's operand; anything else is a program of its own.
            previous = command[index - 1][1] if index else None
            leading &= operand or (isinstance(previous, str) and previous.startswith("-"))
            operand = False
    return None


def _distribution(rest: list[Word]) -> list[Word] | None:
    """Flags that k3s and RKE2 hand on to the API server; None when no server is started."""
    words = [word for word in rest if word[1] is UNKNOWN or isinstance(word[1], str)]
    if not words or words[0][1] != "server":
        return None
    found: list[Word] = []
    pending = False
    for path, word in words[1:]:
        if word is UNKNOWN:
            found.append((path, word))
        elif pending:
            found.append((path, f"--{word.lstrip('-')}"))
        elif word.startswith("--kube-apiserver-arg="):
            found.append((path, f"--{word.partition('=')[2].lstrip('-')}"))
        pending = word is not UNKNOWN and not pending and word == "--kube-apiserver-arg"
    return found


def read_flags(words: Sequence[Word]) -> tuple[dict[str, Word], list[str]]:
    """Flags of a command line, name to (path, value), and the paths of words that are not known yet.

    The last of several wins, underscores are dashes, and a bare `--` ends the flags, as in the server's own parser.
    """
    flags: dict[str, Word] = {}
    unknown: list[str] = []
    pending: str | None = None
    for path, word in words:
        if word is UNKNOWN:
            unknown.append(path)
            pending = None
        elif not isinstance(word, str):
            pending = None
        elif word == "--":
            break
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = flag_name(name)
            flags[name] = (path, value)
            pending = None if equals else name
        elif pending is not None:
            flags[pending] = (path, word)
            pending = None
    return flags, unknown


def flag_name(name: str) -> str:
    """Name of a flag as the server knows it."""
    return name.lstrip("-").replace("_", "-")
