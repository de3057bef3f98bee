"""Keys in plain text, read line by line: settings, programs, scripts, access lists, SQL, XML and running text."""

import re
from collections.abc import Iterator
from typing import Final

from policies.detect.names import Promise, promise
from policies.detect.values import Kind, is_key, is_placeholder, is_reference, kind_of, random_enough

_ASSIGNED: Final = re.compile(
    r"""(?<![\w.\-$/@])(?P<name>[^\W\d][\w.\-]{0,80}+)["']?\]?[ \t\u3000]{0,8}"""
    r"""(?::=|=>|[!=~]==?|~=|=|:|：|＝)[ \t\u3000]{0,8}"""
    r"""(?:"(?P<double>[^"\n]{1,1000})"|'(?P<single>[^'\n]{1,1000})'|(?P<bare>[^\s"'`;,&|<>()\\，。；]{1,1000}))"""
)
# A variable of a program, a header of a proxy: $db_pass = '...', set $key "...", $http_x_api_key != "...".
_VARIABLE: Final = re.compile(
    r"""[$@%](?:env:|ENV\{["']?)?(\w{2,80})\}?[ \t]{0,8}(?:[!=~]==?|=~?|:=|[ \t])[ \t]{0,8}"""
    r"""(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})')"""
)
_NGINX_SET: Final = re.compile(r"(?m)^[ \t]{0,40}set[ \t]{1,8}\$(\w{2,80})[ \t]{1,8}[\"']?([^\s\"';]{3,400})")
# A function that takes a name and its value: define('DB_PASSWORD', '...'), os.putenv("TOKEN", "...").
_CALLED: Final = re.compile(
    r"""\w[ \t]{0,4}\([ \t]{0,4}["']([\w.\-]{2,80})["'][ \t]{0,4},[ \t]{0,4}["']([^"'\n]{3,400})["']"""
)
_AUTH_CALL: Final = re.compile(r"""(?i)\bauth\(\s{0,4}["'][^"'\n]{1,80}["']\s{0,4},\s{0,4}["']([^"'\n]{3,200})["']""")
_SPACED: Final = re.compile(
    r"(?im)^[ \t]{0,20}(?:requirepass|masterauth|password|insecure-password|auth-pass|sasl_password)"
    r"[ \t]{1,8}(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})'|([^\s\"'=:;]{3,200}));?[ \t]{0,8}$"
)
# Two words alone on a line: the setting and its value.
_TWO_WORDS: Final = re.compile(
    r"(?m)^[ \t]{0,40}([A-Za-z_][\w.\-]{2,60})[ \t]{1,40}[\"']?([^\s\"'=:;|&(){}<>]{6,400})[\"']?;?[ \t]{0,8}\r?$"
)
_USER_LINES: Final = re.compile(
    r"(?im)^[ \t]{0,20}(?:sentinel[ \t]{1,8}auth-pass[ \t]{1,8}\S{1,80}"
    r"|user[ \t]{1,8}\S{1,80}[ \t]{1,8}(?:insecure-)?password)[ \t]{1,8}(\S{3,200})"
)
_CURLRC: Final = re.compile(
    r"(?m)^[ \t]{0,20}-{0,2}(?:proxy-)?user[ \t]{0,4}[= ][ \t]{0,4}\"?[^\s:\"]{1,80}:([^\s\"]{3,200})\"?\r?$"
)
_NETRC: Final = re.compile(
    r"(?i)\bmachine\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{1,200})"
)
_SQL: Final = re.compile(
    r"(?i)\b(?:identified\s{1,4}(?:with\s{1,4}\w{1,40}\s{1,4})?by|with\s{1,4}(?:encrypted\s{1,4})?password"
    r"|\bpassword(?:\s{0,4}=)?)\s{0,4}(?:password\s{1,4})?'([^'\n]{1,200})'"
)
_WORDED: Final = re.compile(r"(?<![\w.\-$])([A-Za-z_][\w.\-]{2,60}+)[ \t]{1,4}(?=[\"']?([^\s\"'=:;|&]{3,200}))")
_FROM_STDIN: Final = r"(?:--pass(?:word)?-stdin|kinit|sudo -S|--passphrase-fd|-pass stdin|cryptsetup|passwd --stdin)"
_PIPED: Final = re.compile(
    r"(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4}|[\"']?%s(?:\\n)?[\"']?[ \t]{1,4})?"
    r"[\"']?([^\s\"'|]{3,200})[\"']?[ \t]{0,4}\|"
    rf"[^\n|]{{0,200}}{_FROM_STDIN}"
)
_HERE_WORD: Final = re.compile(rf"{_FROM_STDIN}[^\n]{{0,200}}<<<[ \t]{{0,4}}[\"']?([^\s\"']{{3,200}})")
_SMB: Final = re.compile(
    r"(?:smbclient|rpcclient|winexe)[^\n]{0,200}-U[ \t]{0,4}[\"']?[^\s%\"']{1,60}%([^\s\"']{3,200})"
)
_CHPASSWD: Final = re.compile(r"[\w.-]{1,40}:([^\s\"'|:]{3,200})[\"']?\s{0,4}\|\s{0,4}(?:sudo\s{1,4})?chpasswd")
_USER_LINE: Final = re.compile(r"(?m)^[ \t]{0,8}[\w.-]{1,32}:([^\s:]{3,200})[ \t]{0,8}\r?$")
_OPENSSL: Final = re.compile(
    r"(?<![\w-])-?pass(?:in|out)?[= ]{1,4}pass:([^\s\"']{3,200})|(?<=[\s\"'])pass:([^\s\"']{3,200})"
    r"|openssl[^\n|;&]{1,200}[ \t]-k[ \t]{1,4}[\"']?([^\s\"']{3,200})"
)
_PGPASS: Final = re.compile(r"(?m)^[\w.*-]{1,200}:[\d*]{1,6}:[\w*-]{1,100}:[\w*.-]{1,100}:([^\s:]{3,200})\r?$")
_ATTRIBUTES: Final = re.compile(
    r"(?:name|key)\s{0,4}=\s{0,4}[\"']([\w.\-]{1,80})[\"']\s{1,20}value\s{0,4}=\s{0,4}[\"']([^\"'\n]{1,400})[\"']"
)
_PROPERTY: Final = re.compile(
    r"<(?:name|key)>\s{0,20}([\w.\-]{1,120})\s{0,20}</(?:name|key)>\s{0,80}<(?:value|string)>([^<>]{1,2000})<"
)
_ACL: Final = re.compile(r"(?m)^[ \t]{0,20}user[ \t]{1,4}\S{1,60}[ \t][^\n>]{0,200}(?<=[ \t])>([^\s]{3,200})")
_TAG: Final = re.compile(r"<([A-Za-z][\w.-]{1,60})(?:\s[^<>]{0,200})?>([^<>\n]{1,400})</\1>")
# Running text: "the password is ...", and the same in Chinese.
_SENTENCE: Final = re.compile(
    r"(?i)\b(?:password|passwd|passphrase|pwd|token|api key|secret key)\s{1,4}(?:is|was|are)\s{1,4}[\"'`]{0,3}"
    r"([^\s\"'`]{6,200})"
)
_CHINESE: Final = re.compile(
    r"(?:密码|密碼|口令|密钥|密鑰|秘钥|私钥|令牌)[ \t]{0,4}(?:[为是=:：＝]|设为|改为|就是){1,3}[ \t]{0,4}"
    r"[\"'“「`]{0,2}([!-~]{5,200})"
)
_CONTINUED: Final = re.compile(r"\\\r?\n[ \t]{0,200}")
_OPENINGS: Final = frozenset(
    {"", "export", "set", "ENV", "-", "local", "ARG", "env", "declare -x", "readonly", "setenv", "let", "var"}
)
_LONGEST_TABLE: Final = 64 * 1024


def literal(value: str) -> bool:
    """Whether a value in the place of a password is one."""
    stripped = value.strip().strip("\"'")
    return len(stripped) >= 3 and not is_reference(stripped) and not is_placeholder(stripped)


def continued(text: str) -> str:
    """Text with its continued lines (a backslash at their end) put together."""
    return _CONTINUED.sub("", text) if "\\" in text else text


def keys_in_lines(text: str) -> Iterator[str]:
    """What kinds of key stand in a plain text."""
    yield from _assignments(text)
    yield from _programs(text)
    yield from _settings(text)
    yield from _shell(text)
    yield from _sentences(text)


def _assignments(text: str) -> Iterator[str]:
    start = 0
    while match := _ASSIGNED.search(text, start):
        name, quoted = match["name"], match["double"] or match["single"]
        start = match.end()
        if promise(name) is Promise.NOTHING or text[max(0, match.start() - 2) : match.start()] == "${":
            # What is quoted may hold assignments of its own: DSN='host=db password=...'.
            start = match.start("double" if match["double"] else "single") if quoted else start
            continue
        value = quoted or match["bare"]
        compared = any(sign in match[0][len(name) : len(name) + 12] for sign in ("==", "!=", "~="))
        called = text[match.end() : match.end() + 1] == "("
        if not quoted and (compared or called or value.endswith(("[", "(", "{"))):
            # An expression of a programming language.
            continue
        # In running text a word behind "password:" is part of the sentence; only whole lines are settings.
        variable = name.isupper() and match[0] == f"{name}={value}"
        certain = quoted or variable or _whole_line(text, match.start(), match.end())
        surely = certain or kind_of(value) in (Kind.OPAQUE, Kind.UUID)
        if (surely and is_key(name, value)) or (not quoted and _is_phrase(text, match, name)):
            yield f"a literal value for {name}"


def _is_phrase(text: str, match: re.Match[str], name: str) -> bool:
    """Whether the rest of a line of settings is a passphrase of several words."""
    start, end = match.start(), match.end()
    if "=" not in match[0] or not _whole_line(text, start, start) or text[end : end + 1] != " ":
        return False
    return is_key(name, text[match.start("bare") : end + 200].partition("\n")[0])


def _programs(text: str) -> Iterator[str]:
    if "$" in text or "@" in text:
        for match in _VARIABLE.finditer(text):
            if is_key(match[1], match[2] or match[3]):
                yield f"a literal value for {match[1]}"
        for match in _NGINX_SET.finditer(text):
            if is_key(match[1], match[2]):
                yield f"a literal value for {match[1]}"
    for match in _CALLED.finditer(text):
        if is_key(match[1], match[2]) and kind_of(match[2]) in (Kind.OPAQUE, Kind.UUID):
            yield f"a literal value for {match[1]}"
    if any(literal(match[1]) and kind_of(match[1]) is Kind.OPAQUE for match in _AUTH_CALL.finditer(text)):
        yield "a literal password"


def _settings(text: str) -> Iterator[str]:
    for match in _SPACED.finditer(text):
        value = match[1] or match[2] or match[3]
        if literal(value) and _directive(match[0], value):
            yield "a literal password"
            break
    for pattern in (_USER_LINES, _CURLRC, _NETRC, _SQL, _PGPASS):
        if any(literal(match[1]) for match in pattern.finditer(text)):
            yield "a literal password"
    for match in _TWO_WORDS.finditer(text):
        if promise(match[1]) is not Promise.NOTHING and _no_word(match[2], digit=True) and is_key(match[1], match[2]):
            yield f"a literal value for {match[1]}"
    for match in _WORDED.finditer(text):
        name, value = match[1], match[2]
        # `set name value`: without a sign between them only a random value, or a directive, is sure.
        sure = random_enough(value) or name.lower() in ("requirepass", "masterauth")
        if sure and promise(name) is not Promise.NOTHING and kind_of(value) is Kind.OPAQUE:
            yield f"a literal value for {name}"
    if any(literal(match[1]) for match in _ACL.finditer(text)):
        yield "a password of an access list"
    if "<" in text:
        for match in (*_TAG.finditer(text), *_ATTRIBUTES.finditer(text), *_PROPERTY.finditer(text)):
            if is_key(match[1], match[2]):
                yield f"a literal value for {match[1]}"


def _directive(line: str, value: str) -> bool:
    """Whether `password word` is a setting; after "password" a plain word is a sentence."""
    sure = line.lstrip().lower().startswith(("requirepass", "masterauth"))
    return _no_word(value) or (sure and kind_of(value) is not Kind.NOTHING)


def _no_word(value: str, *, digit: bool = False) -> bool:
    """Whether a value behind a word is no word of a sentence, whose signs end it: "Password forgotten?"."""
    bare = value.rstrip(".,;:!?)")
    sure = any(c.isdigit() for c in bare) or (bare == value and not digit)
    return sure and bare[:1] not in "*[$" and kind_of(bare) is Kind.OPAQUE


def _shell(text: str) -> Iterator[str]:
    for pattern in (_CHPASSWD, _PIPED, _HERE_WORD, _SMB):
        if any(literal(match[1]) for match in pattern.finditer(text)):
            yield "a password on a command line"
    for match in _OPENSSL.finditer(text) if "openssl" in text else ():
        if literal(match[1] or match[2] or match[3]):
            yield "a password for openssl"


def _sentences(text: str) -> Iterator[str]:
    for match in (*_SENTENCE.finditer(text), *_CHINESE.finditer(text)):
        value = match[1].rstrip(".,;!?)。，；！")
        if len(value) >= 5 and any(c.isdigit() for c in value) and kind_of(value) is Kind.OPAQUE:
            yield "a password in running text"
            return


def keys_in_table(text: str) -> Iterator[str]:
    """Keys in a table whose first line names its columns."""
    head, _, rest = text.partition("\n")
    separator = next((mark for mark in (",", "\t", ";", "|") if mark in head), "")
    if not separator or not rest or len(text) > _LONGEST_TABLE or len(head) > 1000:
        return
    columns = [column.strip().strip("\"'") for column in head.split(separator)]
    wanted = [n for n, column in enumerate(columns) if " " not in column and promise(column) is not Promise.NOTHING]
    for line in rest.splitlines() if wanted else ():
        cells = line.split(separator)
        if len(cells) == len(columns) and any(is_key(columns[n], cells[n]) for n in wanted):
            yield "a literal value in a table"
            return


def users_with_passwords(text: str) -> bool:
    """Whether lines of user and password, as chpasswd reads them, hold a password; R and RANDOM have one made."""
    return any(literal(match[1]) and match[1] not in ("RANDOM", "R") for match in _USER_LINE.finditer(text))


def _whole_line(text: str, start: int, end: int) -> bool:
    """Whether an assignment fills its line; only its near surroundings are read, so that long lines cost nothing."""
    before = text[max(0, start - 40) : start].rpartition("\n")[2].strip().strip("\"'#/; \t")
    after = text[end : end + 40].partition("\n")[0].strip() if end > start else ""
    return before in _OPENINGS and after in ("", ",", ";", '"', "'")
