"""The scanner behind the KEY rules."""

import time

import pytest

from policies.detect.decode import DEPTH
from policies.detect.names import Promise, promise
from policies.detect.scan import scan, scan_tree
from tests.policy.samples import (
    CLEAN_DOCUMENTS,
    CLEAN_NAMED,
    DOCUMENTS,
    NAMED,
    SHAPED,
    URLS,
    WORD,
    b64,
    some,
)


@pytest.mark.parametrize("value", [*SHAPED, *URLS])
def test_a_key_is_known_by_its_shape_whatever_its_name(value: str) -> None:
    assert scan("note", value)
    assert scan("note", f"some text before\n{value}\nand after")


@pytest.mark.parametrize(("name", "value"), [*NAMED, *DOCUMENTS])
def test_a_key_is_known_by_its_name(name: str, value: str) -> None:
    assert scan(name, value)


@pytest.mark.parametrize(("name", "value"), [*CLEAN_NAMED, *CLEAN_DOCUMENTS])
def test_a_look_alike_passes(name: str, value: str) -> None:
    assert not scan(name, value)


@pytest.mark.parametrize("value", [*SHAPED, *(text for _, text in DOCUMENTS)])
def test_encodings_are_taken_off(value: str) -> None:
    encoded = value
    for _ in range(DEPTH):
        encoded = b64(encoded)
        assert scan("note", encoded)
    assert scan("note", value.encode().hex())
    assert scan("note", f"echo {b64(value)} | base64 -d > /key")


def test_percent_encoding_is_taken_off() -> None:
    assert scan("note", f"https%3A%2F%2Fuser%3A{WORD}%40example.com")


@pytest.mark.parametrize(("name", "value"), [*NAMED, *DOCUMENTS, *(("note", value) for value in SHAPED)])
def test_no_finding_repeats_the_value(name: str, value: str) -> None:
    told = " ".join(scan(name, value))
    assert WORD not in told
    assert value[-12:] not in told


@pytest.mark.parametrize(
    "name", ["password", "DB_PASSWORD", "dbPassword", "admin-passwd", "mysqlpassword", "PASSWORD_1"]
)
def test_names_of_passwords(name: str) -> None:
    assert promise(name) is Promise.PASSWORD


@pytest.mark.parametrize("name", ["apiKey", "API_KEY", "client-secret", "authToken", "privateKey", "secretAccessKey"])
def test_names_of_secrets(name: str) -> None:
    assert promise(name) is Promise.SECRET


@pytest.mark.parametrize(
    "name",
    ["key", "keyspace", "primary_key", "tokenizer", "max_tokens", "passthrough", "secretName", "token_url", "compass"],
)
def test_names_of_other_things(name: str) -> None:
    assert promise(name) is Promise.NOTHING


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "$(",
        "-----BEGIN ",
        "a://b:",
        "password: ",
        "%41",
        "eyJhbGciOiJIUzI1NiJ9.",
        "--flag ",
        "[a]\nb=c\n",
        "curl -u ",
    ],
)
def test_no_text_of_a_megabyte_takes_long(unit: str) -> None:
    text = unit * (2**20 // len(unit))
    started = time.process_time()
    scan("password", text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        f'curl -u admin:{WORD} -H "X: y" https://example.com',
        f"# password: {WORD}\nserver:\n  port: 80\n",
        f"echo 'root:{WORD}' | chpasswd",
        f"openssl enc -aes-256-cbc -pass pass:{WORD}",
        f"first: a\\npassword={WORD}\\nlast: b",
        f"wget --header='X-Api-Key: {some(24)}' https://example.com",
        f"https://x.blob.core.windows.net/c?sv=2020&sig={some(43)}%3D",
        f"aws configure set aws_secret_access_key {some(40)}",
        f"redis-cli config set requirepass {WORD}",
        f"echo {WORD} | docker login -u app --password-stdin registry.example.com",
        f"smbclient //host/share -U app%{WORD}",
        f"app:{WORD}@tcp(db:3306)/app?parseTime=true",
        f"postgres://app@tenant:{WORD}@db.example.com/app",
        f"kubectl create secret generic db --from-literal=password={WORD}",
        f"java -Dspring.datasource.password={WORD} -jar app.jar",
        f"spark-submit --conf spark.hadoop.fs.s3a.secret.key={some(40)}",
        f"GET /healthz?token={some(24)}",
        f'db.createUser({{user: "app", pwd: "{WORD}"}})',
        "printf '" + "".join(f"\\x{ord(char):02x}" for char in f"password={WORD}") + "' > /key",
        f"//npm.example.org/:_authToken={some(36)}",
        f"[default]\naws_secret_access_key = {some(40)}\n",
    ],
)
def test_a_key_is_found_in_running_text(text: str) -> None:
    assert scan("note", text)


@pytest.mark.parametrize(
    "text",
    [
        "--api-key ${{ secrets.KEY }}",
        'curl --header "JOB-TOKEN: $CI_JOB_TOKEN" https://example.com',
        "run.ps1 -AccessToken $env:SYSTEM_ACCESSTOKEN",
        "password reset token flow\nsecret rotation policy",
        "https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/1",
    ],
)
def test_references_in_running_text_pass(text: str) -> None:
    assert not scan("note", text)


def test_what_stands_below_names_is_a_name() -> None:
    assert not scan_tree("cookieNames", {"idToken": "CustomIdTokenCookie"})
    assert scan_tree("auth", {"idToken": some(40)})
