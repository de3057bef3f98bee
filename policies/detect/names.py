"""Names that promise a key: split into words, so that a tokenizer is no token."""

import re
import unicodedata
from enum import Enum
from functools import lru_cache
from typing import Final

from policies.model.values import word_set


class Promise(Enum):
    """What a name says of its value."""

    NOTHING = 0
    WEAK = 1
    """A credential of some kind; only a random value counts."""
    SECRET = 2
    """A token, key or secret; plain words may be references to one."""
    PASSWORD = 3
    """A password; a plain word is one too."""


_CHINESE: Final = re.compile("(?:密码|密碼|口令|密钥|密鑰|秘钥|私钥|私鑰|令牌|权杖|凭证|凭据|パスワード|비밀번호)$")
# Cyrillic and Greek letters that pass for Latin ones.
_LOOK_ALIKES: Final = str.maketrans("АВЕКМНОРСТХаеорсухѕіАΕΟΡΤΚ", "ABEKMHOPCTXaeopcyxsiAEOPTK")
_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

_PASSWORDS: Final = frozenset(
    {
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "pswd",
        "pass",
        "passcode",
        "passwort",
        "kennwort",
        "requirepass",
        "masterauth",
    }
)
_PASSWORD_ENDS: Final = ("password", "passwd", "passphrase", "passwort", "passcode")
# Words written together: dbpass, rootpwd, appsecret, bottoken. "compass" and "bypass" are none of them.
_JOINED: Final = re.compile(
    r"(?:db|pg|my|root|admin|user|ssh|smtp|mail|ldap|key|store|trust|redis|mysql|app|sql|ftp|http|proxy|auth|api|basic|service"
    r"|svc|bind|master|super|jwt|client|shared|bot|access|refresh|bearer|git|github|gitlab|slack|session|hmac|sign|signing)"
    r"(?:(pass|pwd|pw)|(secret|token))"
)
_WHOLE_NAMES: Final = {("rediscli", "auth"), ("mysql", "pwd"), ("erlang", "cookie")}
# Keys of a pager are hexadecimal; keys of a message queue are words.
PAGER_KEYS: Final = frozenset({("routing", "key"), ("integration", "key")})
_SECRETS: Final = frozenset({"secret", "token", "psk", "jwt"})
_SECRET_ENDS: Final = ("apikey", "secretkey", "accesskey", "privatekey", "authkey", "authtoken", "accesstoken")
_SECRET_ENDS_MORE: Final = (
    "refreshtoken",
    "bearertoken",
    "clientsecret",
    "sharedsecret",
    "encryptionkey",
    "signingkey",
    "keysecret",
    "masterkey",
    "sharedkey",
    "userkey",
    "hmackey",
    "licensekey",
    "accountkey",
    "storagekey",
    "servicekey",
    "authtoken",
    "sastoken",
)
_KEY_OWNERS: Final = word_set(
    """
    api auth account db database private priv client secret access encryption encrypt signing sign master
    shared storage ssh admin hmac jwt session app application webhook deploy deployment license aes rsa crypto
    cipher consumer subscription management registry write ingest ingestion service server user root license
    openai anthropic claude azure google gemini deepseek dashscope qwen moonshot zhipu mistral cohere groq
    together replicate pinecone weaviate qdrant milvus tavily serper wandb langchain langsmith langfuse
    sendgrid stripe twilio aliyun alibaba tencent ngc nvidia github gitlab hf huggingface litellm vllm minio
    s3 aws oss cos salt cookie certificate unseal recovery preshared gossip fernet datadog dd newrelic ark doubao
    baidu qianfan minimax stepfun siliconflow dify coze ragflow fastgpt jina voyage mapbox amap sentry algolia
    mailgun postmark segment confluent databricks snowflake supabase clerk okta auth0 wrapping kek dek proxy bot
    """
)
_WEAK: Final = frozenset(
    {"auth", "authorization", "cookie", "bearer", "credential", "credentials", "cred", "creds", "pw", "sk"}
)

# A last word that turns a key into something about a key.
_ABOUT: Final = word_set(
    """
    name names file files path paths url urls uri id ids endpoint endpoints header headers ttl length len
    expiry expires expiration expire age rotation policy type types enabled required mode algorithm alg
    version format prefix suffix ref refs reference arn provider store class manager mount dir directory
    location min max size count limit limits timeout interval period seconds minutes hours days hint field
    label labels selector source kind title description message text placeholder regex pattern validator
    validation generator scopes scope audience issuer role roles annotation annotations env var variable
    config options settings namespace key_name property index used usage budget price cost rate host port
    address domain server user username owner status state change reset strength complexity duration date time
    at lifetime retention
    """
)
_ENDINGS: Final = word_set("value plain plaintext raw b base encoded txt dat bin old new current previous")

# "token" as a piece of text, not as a credential.
_TEXT_TOKEN: Final = word_set(
    """
    max min num count total new per prompt completion input output stop special pad eos bos unk mask sep cls
    image audio video start end begin next last first think thinking tool decode encode draft speculative
    chunk special vocab ngram token
    """
)
_NOT_SECRET: Final = word_set(
    """
    checksum digest sha sha1 sha256 sha512 md5 hash etag commit revision fingerprint public publishable site
    existing pull tls ca allow allows enable enabled disable disabled require requires has is use show skip no forgot
    """
)
_REFERENCES: Final = frozenset({"existing", "pull", "tls", "ca", "ref", "image"})
_KEY_NOT: Final = frozenset(
    {"public", "primary", "foreign", "partition", "sort", "cache", "routing", "hash", "publishable"}
)


@lru_cache(maxsize=8192)
def words(name: str) -> tuple[str, ...]:
    """Words of a name in lower case: DB_PASSWORD, dbPassword and db-password are the same two words."""
    return tuple(word.lower() for word in _WORD.findall(name[:200]))


@lru_cache(maxsize=8192)
def promise(name: str) -> Promise:
    """What a name says of its value."""
    if len(name) > 120 or name.count(" ") > 3 or '"' in name:
        # Running text before a colon is no name.
        return Promise.NOTHING
    if not name.isascii():
        return _elsewhere(name)
    parts = words(name)
    while parts and (parts[-1].isdigit() or parts[-1] in _ENDINGS):
        parts = parts[:-1]
    if not parts or parts[-1] in _ABOUT:
        return Promise.NOTHING
    last, before = _singular(parts[-1]), parts[-2] if len(parts) > 1 else ""
    if _NOT_SECRET.intersection(parts) and not (last in _PASSWORDS and not _negated(parts)):
        return Promise.NOTHING
    if last in _PASSWORDS or last.endswith(_PASSWORD_ENDS):
        return Promise.PASSWORD
    joined = _JOINED.fullmatch(last)
    if (joined is not None and joined[1]) or parts[-2:] in _WHOLE_NAMES or (last == "pw" and before):
        return Promise.PASSWORD
    if last == "token":
        return _token(parts)
    if joined is not None:
        return Promise.SECRET
    if last == "secret" and parts[-1] == "secrets":
        # A list or the name of a component more often than a key.
        return Promise.WEAK
    if last in _SECRETS or last.endswith((*_SECRET_ENDS, *_SECRET_ENDS_MORE)):
        return Promise.SECRET
    if last == "key" and (before in _KEY_OWNERS or "apikey" in parts) and not _KEY_NOT.intersection(parts):
        return Promise.SECRET
    if last == "data" and parts[-3:-1] == ("client", "key"):
        return Promise.SECRET
    return Promise.WEAK if last in _WEAK else Promise.NOTHING


def _elsewhere(name: str) -> Promise:
    """Names in Chinese, and Latin names with letters or blanks that only look like ours."""
    if _CHINESE.search(name.strip()):
        return Promise.PASSWORD if re.search("密码|密碼|口令|パスワード|비밀번호", name) else Promise.SECRET
    plain = unicodedata.normalize("NFKC", name).translate(_LOOK_ALIKES)
    plain = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return promise(plain) if plain.isascii() else Promise.NOTHING


def speaks_about(name: str) -> bool:
    """Whether a name tells something about a key, such as its length or its file."""
    return not _ABOUT.isdisjoint(words(name)[-1:])


def names_only(name: str) -> bool:
    """Whether what stands below `name` are names of things, as in `cookieNames: {idToken: ...}`."""
    return not {"names", "name", "labels", "headers", "paths", "urls", "files"}.isdisjoint(words(name)[-2:])


def _negated(parts: tuple[str, ...]) -> bool:
    return bool({"no", "allow", "allows", "skip", "show", "enable", "disable", "hash", "has", "is"}.intersection(parts))


def _token(parts: tuple[str, ...]) -> Promise:
    if _TEXT_TOKEN.intersection(parts[:-1]):
        return Promise.NOTHING
    return Promise.WEAK if parts[-1].endswith("s") else Promise.SECRET


def _singular(word: str) -> str:
    if word.endswith("s") and word[:-1] in (*_PASSWORDS, *_SECRETS, "key"):
        return word[:-1]
    return word
