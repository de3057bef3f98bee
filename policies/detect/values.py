"""Values that look like keys by their name but are none: references, placeholders, words, numbers, digests."""

import itertools
import math
import re
from collections import Counter
from enum import Enum
from functools import lru_cache
from typing import Final

from policies.detect.names import PAGER_KEYS, Promise, promise, speaks_about, words
from policies.model.values import word_set

LONGEST: Final = 4096
"""Characters of the longest value that is judged by its name; longer texts are documents, read as such."""

_REFERENCE: Final = re.compile(
    r"""
      \$\([^()]{1,200}\)                        # $(VAR), $(cat file)
    | \$\{[^{}]{1,200}\}                        # ${VAR}, ${file:...}
    | \$__\w{1,20}\{[^{}]{1,200}\}             # $__file{/run/x}
    | \$env:\w{1,100}
    | ^\$[a-z][A-Za-z-]{0,60}(?:[.:][A-Za-z_][\w-]{0,60}){1,4}$    # $oidc.clientSecret, $secret-name:key
    | \$(?:[A-Z][A-Z0-9_]{0,100}|[a-z_]{1,100})(?!\w)
    | ^\$?\{\{?$ | ^\$\($                       # the first word of a reference that was split at its spaces
    | %[^%\s]{1,200}%                           # %VAR%, %REQ(AUTHORIZATION)%
    | %\{[^{}]{1,200}\}                        # %{env:VAR}
    | \{\{.{1,400}?\}\}                         # templates
    | \{%.{1,400}?%\}
    | <%.{1,400}?%>
    | <[^<>]{1,200}>                            # <password>
    | \{[A-Za-z_][\w.]{0,100}\}
    """,
    re.VERBOSE | re.DOTALL,
)
_SCHEME: Final = re.compile(
    r"""
      (?:vault|ref\+\w+|secretref|secret|secrets|op|env|file|awssm|aws-sm|gcp-sm|gcpsm|sm|keyvault|azurekv|kms|awskms|gcpkms
        |hashivault|k8s|kubernetes|ssm|doppler|akeyless|bao|sops|bws|infisical)(?:://|:)(?=[\w/.$\{-])
    | arn:aws[\w-]*: | acs:\w+: | projects/[^/\s]+/(?:secrets|locations)/
    | os\.environ[/\[.] | os\.getenv | process\.env\. | env\. | ENV\[ | getenv\( | System\.getenv
    | ENC\[ | !vault | !secret | !ref | !sub | \$ANSIBLE_VAULT | @Microsoft\.KeyVault | @secret | @file | @/
    | \$\$ | alias/ | \.Values\. | Fn:: | secretKeyRef
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TRIVIAL: Final = word_set(
    """
    true false yes no on off null nil none undefined unset empty default auto automatic random generated
    generate enabled disabled enable disable required optional strict lax prompt ask plain basic bearer digest
    oauth oauth2 oidc jwt ldap iam kerberos saml scram md5 sha1 sha256 sha512 bcrypt argon2 argon2id trust
    peer cert mtls tls ssl anonymous not-needed notneeded no-key nokey unused n/a na tbd todo fixme hidden
    masked redacted secret_key_base kubernetes string text opaque file env vault internal external manual
    managed inherit inherited same allow deny any all never always session local native scram-sha-256 md4
    hs256 hs384 hs512 rs256 rs384 rs512 es256 es384 es512 eddsa ed25519 rsa ecdsa aes aescbc aesgcm secretbox
    kms ws256 sm2 sm3 sm4 identity header cookie query body unauthorized forbidden expired invalid missing
    present absent ok valid set configured
    """
)
_PLACEHOLDER: Final = re.compile(
    r"""
      change[-_ ]?(?:me|it|this) | replace[-_ ]?(?:me|it|this|with) | place[-_ ]?holder | your[-_ ]\w+
    | (?:insert|enter|put|fill|add|paste|provide)[-_ ].{0,40}(?:here|key|token|password|secret)
    | [-_ ]here$ | ^(?:todo|tbd|fixme|dummy|redacted|masked|removed|hidden|xxx) | ^example | [-_ ]example$
    | ^(?:fake|sample)[-_] | no[-_]key[-_]required
    | not[-_ ]?(?:set|used|needed|required|applicable|available|a[-_ ]real|real)
    | to[-_ ]be[-_ ](?:set|filled|replaced|defined|provided|injected)
    | (?:set|injected|provided|managed|populated|loaded|filled)[-_ ](?:at|by|from|in|via)[-_ ]
    | ^\*+$ | ^x{3,}$ | ^\.{3,} | ^-+$ | ^_+$ | ^\#+$ | EXAMPLE(?:KEY)?$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REPEATED: Final = re.compile(r"(.)\1*|(?:x{2,}+[-_.]?+)++|[*•.#_-]+", re.IGNORECASE)
_DEFAULT: Final = re.compile(r"\$\{[A-Z][A-Z0-9_]{0,80}(?::-|:=|-|=|:)([^{}]{1,400})\}")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_NUMBER: Final = re.compile(
    r"[+-]?\d[\d_,]*(?:\.\d+)?(?:e[+-]?\d+)?(?:ms|us|ns|s|m|h|d|w|y|[kmgtp]i?b?|%)?", re.IGNORECASE
)
_DURATION: Final = re.compile(r"(?:\d{1,6}(?:\.\d{1,6})?(?:ns|us|ms|s|m|h|d|w)){1,6}", re.IGNORECASE)
_PUBLIC: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9 ]{0,30})?(?:PUBLIC KEY|CERTIFICATE|PGP MESSAGE|AGE ENCRYPTED FILE|X509 CRL|[DE][HC] PARAM)"
    r"|ssh-(?:rsa|dss|ed25519)\s|ecdsa-sha2-|sk-ssh-|age1[0-9a-z]{50}|sha(?:1|224|256|384|512)[-:]|md5[-:]|RWQ?[\w+/]{50}"
)
_CALL: Final = re.compile(r"[A-Za-z_][\w.]{0,80}\([^()]{0,200}\)(?:\.[A-Za-z_]\w{0,40}(?:\([^()]{0,200}\))?){0,5}")
# What a form writes beside its field; in lower case it is a password that people do take.
_LABELS: Final = frozenset({"Password", "Passwort", "Passphrase", "Token", "Secret", "Username"})
# A user and a password in one value, as BASIC_AUTH and the like hold them.
_PAIR: Final = re.compile(r"[A-Za-z][\w.@-]{0,40}:([^\s:/@]{6,200})")
_FILE: Final = re.compile(
    r"(?:[\w@.~-]{1,80}+/){0,20}+[\w@.~-]{1,80}\.(?:txt|pem|key|crt|cer|pfx|p12|jks|json|ya?ml|env|conf|cfg|ini|toml|properties|secret|token|sh|py)"
)
_PATH: Final = re.compile(r"(?:~|\.{1,2})?/(?:[\w@.~+-]{1,80}+/?+){1,20}+")
_PLAIN_URL: Final = re.compile(r"[a-z][a-z0-9+.-]{1,20}://\S{1,2000}", re.IGNORECASE)
_LETTERS: Final = re.compile(r"[A-Za-z]+")
_NAMEY: Final = re.compile(r"[A-Za-z]+(?:[-_.:/ ](?:[A-Za-z]+|v?\d{1,3}|[a-z]+\d{1,2}))+")
# Letters alone are rarely a key; these are the passwords that programs come with, and that people take first.
_FAVOURITES: Final = re.compile(
    r"(?:postgres|root|admin|administrator|minioadmin|guest|mysql|mongo|mongodb|redis|rabbit|rabbitmq|grafana|elastic"
    r"|kibana|keycloak|letmein|welcome|prom-operator|qwerty\w{0,6}|passw0rd|scott|tiger|toor|rootroot|adminadmin|rootpassword|rootpass|adminpassword|adminpass|userpassword"
    r"|dbpassword|dbpass|sunshine|princess|football|baseball|superman|batman|shadow|starwars|whatever|freedom|monkey|dragon|iloveyou|trustno|hunter|swordfish|(?:my|super|top|very)\w*(?:secret|pass)\w*)",
    re.IGNORECASE,
)
# A variable such as POSTGRES_PASSWORD sets the password of a server: there a plain word is one.
_PRODUCTS: Final = word_set(
    """
    postgres postgresql pg mysql mariadb mongo mongodb redis rabbitmq amqp minio gf grafana keycloak elastic
    elasticsearch opensearch kibana clickhouse cassandra couchdb influxdb neo4j vault nats mqtt kafka zookeeper
    db database root initdb qdrant milvus weaviate etcd harbor registry gitlab jenkins nexus sonar airflow superset
    admin administrator user smtp mail email ftp sftp ldap bind sudo ssh backup replication repl owner sa jdbc
    datasource login account service app application proxy wifi vnc rdp
    """
)
_KEYBOARD: Final = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiop")


# Four or more small words without any that sentences are made with: a passphrase.
_PHRASE: Final = re.compile(r"[a-z]{2,20}(?: [a-z]{2,20}){3,11}")
_SENTENCE: Final = word_set(
    """
    a an the is are was must may can could should will would has have be been of for to from in on at by with and or
    not no your our my this that it its if when please password passwords token secret key user users must set get use
    using enter forgot reset reset changed login sign only any all new old we you they he she do does there then than
    """
)


_COOKIE: Final = re.compile(r"=(?=[^;\s]{0,200}\d)(?=[^;\s]{0,200}[A-Za-z])[\w%+/.=-]{20,400}")
_PAGER_KEY: Final = re.compile(r"[0-9a-f]{32}")


class Kind(Enum):
    """What a value looks like when its name promises a key."""

    NOTHING = 0
    """A reference, placeholder, number, digest, public key, path or address."""
    WORD = 1
    NAMES = 2
    """Words joined by dashes: the name of something, or a passphrase."""
    OPAQUE = 3
    PROSE = 4
    """Words with spaces between them."""
    UUID = 5
    DIGITS = 6


def entropy(text: str) -> float:
    """Shannon entropy of a text in bits a character."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if total else 0.0


def is_reference(text: str) -> bool:
    """Whether a text only refers to a value that is kept elsewhere."""
    stripped = text.strip().strip("\"'")
    if not stripped:
        return True
    if len(stripped) > LONGEST:
        return False
    if _SCHEME.match(stripped):
        return True
    rest = _REFERENCE.sub("", stripped)
    return rest != stripped and not re.search(r"\w{3}", rest)


def is_public(text: str) -> bool:
    """Whether a text is a certificate or public key and no private key stands beside it."""
    return _PUBLIC.match(text.strip()) is not None and "PRIVATE KEY" not in text


def is_placeholder(text: str) -> bool:
    """Whether a text is an obvious stand-in for a value."""
    stripped = text.strip().strip("\"'<>[]{}")
    if stripped.lower() in _TRIVIAL:
        return True
    return bool(_PLACEHOLDER.search(stripped[:200]) or _REPEATED.fullmatch(stripped[:200]))


@lru_cache(maxsize=4096)
def kind_of(text: str) -> Kind:
    """What a value is, judged without its name."""
    stripped = text.strip().strip("\"'")
    default = _DEFAULT.fullmatch(stripped[:LONGEST])
    if default is not None:
        # ${NAME:-literal} refers to a variable and carries a value of its own for when it is missing.
        return kind_of(default[1])
    if "\n" in stripped or stripped[:1] in "{[":
        # A document of its own; it is read as one.
        return Kind.NOTHING
    if not 3 <= len(stripped) <= LONGEST or is_reference(stripped) or is_placeholder(stripped):
        return Kind.NOTHING
    if stripped in _LABELS:
        return Kind.NOTHING
    if _UUID.fullmatch(stripped):
        return Kind.UUID
    if stripped.isdecimal():
        return Kind.DIGITS
    if _NUMBER.fullmatch(stripped) or _DURATION.fullmatch(stripped):
        return Kind.NOTHING
    if _PUBLIC.match(stripped) or _CALL.fullmatch(stripped) or _FILE.fullmatch(stripped):
        return Kind.NOTHING
    if _PATH.fullmatch(stripped):
        return Kind.OPAQUE if _random_path(stripped) else Kind.NOTHING
    if _PLAIN_URL.fullmatch(stripped) or _sequential(stripped):
        return Kind.NOTHING
    if _LETTERS.fullmatch(stripped):
        return Kind.OPAQUE if _random_letters(stripped) else Kind.WORD
    if _NAMEY.fullmatch(stripped):
        scrambled = any(_scrambled(part) for part in re.split(r"[-_.:/ ]", stripped))
        return Kind.OPAQUE if scrambled and not any(c.isspace() for c in stripped) else Kind.NAMES
    if not stripped.isascii() and not re.search(r"[0-9A-Za-z]", stripped):
        return Kind.PROSE
    if any(char.isspace() for char in stripped):
        return Kind.PROSE if _prose(stripped) else Kind.OPAQUE
    return Kind.OPAQUE


def _random_path(text: str) -> bool:
    """Whether a text that begins like a path is random: base64 may begin with a slash too."""
    longest = max(text.split("/"), key=len)
    mixed = (
        any(c.islower() for c in longest) and any(c.isupper() for c in longest) and any(c.isdigit() for c in longest)
    )
    return mixed and len(longest) >= 12 and entropy(longest) >= 3.3 and "." not in longest and "-" not in longest


def _random_letters(text: str) -> bool:
    """Whether a run of letters is random: capitals inside it, which words do not have."""
    if all(len(hump) >= 3 for hump in words(text)):
        # ThreeWordsTogether
        return False
    changes = sum(a.islower() != b.islower() for a, b in itertools.pairwise(text))
    return (len(text) >= 16 and changes >= len(text) / 4 and entropy(text) >= 3.5) or _scrambled(text)


def _scrambled(text: str) -> bool:
    """Whether letters change their case where no word would: most humps of the text are a letter or two."""
    humps = [hump for hump in words(text) if not hump.isdigit()]
    return len(text) >= 8 and len(humps) >= 4 and sum(len(hump) <= 2 for hump in humps) * 2 >= len(humps)


def _prose(text: str) -> bool:
    parts = text.split()
    plain = sum(bool(re.fullmatch(r"\W{0,3}[A-Za-z'-]{1,40}\W{0,3}", part)) for part in parts)
    return plain == 2 if len(parts) == 2 else len(parts) >= 3 and plain >= 0.6 * len(parts)


def _sequential(text: str) -> bool:
    lowered = text.lower()
    return len(lowered) >= 4 and any(lowered in row * 2 or lowered[::-1] in row * 2 for row in _KEYBOARD)


def random_enough(text: str) -> bool:
    """Whether a value without a strong name is random: long, mixed, and of high entropy."""
    stripped = text.strip().strip("\"'")
    if len(stripped) < 16 or any(char.isspace() for char in stripped):
        return False
    mixed = any(c.isdigit() for c in stripped) and any(c.isalpha() for c in stripped)
    return mixed and entropy(stripped) >= 3.3


def is_key(name: str, value: str) -> bool:
    """Whether `value` is a literal key, given what its name promises."""
    if words(name)[-2:] in PAGER_KEYS:
        return _PAGER_KEY.fullmatch(value.strip().strip("\"'")) is not None
    promised = promise(name)
    if promised is Promise.NOTHING:
        return False
    kind = kind_of(value)
    if kind is Kind.NOTHING:
        return False
    stripped = value.strip().strip("\"'")
    if kind is Kind.UUID:
        # Tokens and keys are named by such ids as often as they are ones; a secret or password is one.
        return promised is Promise.PASSWORD or words(name)[-1:] == ("secret",) or words(name)[0] == "consul"
    if kind is Kind.DIGITS:
        return promised is Promise.PASSWORD and len(stripped) >= 6
    if words(name)[-1:] == ("cookie",) and promised is Promise.WEAK:
        return _COOKIE.search(stripped) is not None
    if promised is Promise.WEAK:
        pair = _PAIR.fullmatch(stripped)
        with_digit = pair is not None and any(char.isdigit() for char in pair[1])
        return kind is Kind.OPAQUE and (random_enough(stripped) or (with_digit and _is_opaque_password(pair)))
    if kind is Kind.PROSE:
        phrase = promised is Promise.PASSWORD and _PHRASE.fullmatch(stripped) is not None
        return words(name)[-1:] == ("passphrase",) or (phrase and _SENTENCE.isdisjoint(stripped.split()))
    if kind is Kind.WORD:
        if promised is Promise.PASSWORD and _PRODUCTS.intersection(words(name)[:-1]):
            return True
        return _FAVOURITES.fullmatch(stripped) is not None and (promised is Promise.PASSWORD or len(words(name)) > 1)
    if kind is Kind.NAMES:
        if promised is Promise.PASSWORD and _FAVOURITES.fullmatch(stripped):
            return True
        passphrase = promised is Promise.PASSWORD and len(re.split(r"[-_.:/ ]", stripped)) >= 4
        return passphrase and not _names_a_key(stripped)
    return promised is Promise.PASSWORD or len(stripped) >= 6


def _is_opaque_password(pair: re.Match[str] | None) -> bool:
    return pair is not None and kind_of(pair[1]) is Kind.OPAQUE and not is_placeholder(pair[1])


def is_listed_key(owner: str, name: str, value: str) -> bool:
    """Whether `value` is a key in a mapping of keys by their holders: `passwords: {ann: ...}`."""
    last = words(owner)[-2:]
    if not last or last[-1] not in ("passwords", "passwds", "tokens", "secrets", "keys") or speaks_about(name):
        return False
    if last[-1].startswith("passw"):
        return kind_of(value) is Kind.OPAQUE and len(value) >= 6 and any(c.isdigit() for c in value)
    whole = re.fullmatch(r"[A-Za-z0-9+=]{20,400}", value) is not None
    return promise(owner) is not Promise.NOTHING and whole and kind_of(value) is Kind.OPAQUE and random_enough(value)


def _names_a_key(text: str) -> bool:
    """Whether words joined by dashes name a key instead of being one: redis-password, app/db-credentials."""
    things = {"password", "passwd", "pass", "secret", "secrets", "credentials", "credential", "creds", "key", "keys"}
    return bool(things.union({"token", "auth", "ref", "file", "name", "policy"}).intersection(words(text)))
