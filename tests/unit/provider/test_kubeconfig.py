"""Kubeconfigs as kubectl reads them: several files, certificates, tokens, credential plugins."""

import base64
import datetime as dt
import json
import os
import ssl
import stat
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from provider.kube.client import Cluster, KubeError
from provider.kube.kubeconfig import KubeconfigError, load_access


def write(
    path: Path, *, user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, name: str = "a"
) -> Path:
    document = {
        "clusters": [{"name": name, "cluster": {"server": "https://127.0.0.1:1", **(cluster or {})}}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    path.write_text(json.dumps(document))
    return path


def test_several_files_are_one_and_the_first_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "one", user={"token": "first"}, name="a")
    second = write(tmp_path / "two", user={"token": "second"}, name="a")
    third = write(tmp_path / "three", user={"token": "third"}, name="b")
    environment = {"KUBECONFIG": os.pathsep.join(map(str, [first, second, tmp_path / "none", third]))}

    assert load_access("a", environment).headers == {"Authorization": "Bearer first"}
    assert load_access("b", environment).headers == {"Authorization": "Bearer third"}


def test_without_kubeconfig_the_file_in_the_home_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube/config", user={"token": "x"})

    assert load_access("a", {"HOME": str(tmp_path)}).context == "a"


def test_a_token_file_is_found_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from file\n")
    path = write(tmp_path / "config", user={"tokenFile": "token"})

    assert load_access("a", {"KUBECONFIG": str(path)}).headers == {"Authorization": "Bearer from file"}


def test_a_credential_never_shows_when_an_access_is_printed(tmp_path: Path) -> None:
    path = write(tmp_path / "config", user={"token": "hunter2"})

    assert "hunter2" not in repr(load_access("a", {"KUBECONFIG": str(path)}))


def plugin(folder: Path, script: str) -> dict[str, Any]:
    (folder / "login").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "login").chmod(0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login", "args": ["--now"]}}


def test_a_credential_plugin_is_asked(tmp_path: Path) -> None:
    script = """test "$1" = --now && echo "$KUBERNETES_EXEC_INFO" | grep -q ExecCredential || exit 3
echo '{"kind": "ExecCredential", "status": {"token": "from plugin"}}'"""
    path = write(tmp_path / "config", user=plugin(tmp_path, script))

    access = load_access("a", {"KUBECONFIG": str(path), "PATH": os.environ["PATH"]})

    assert access.headers == {"Authorization": "Bearer from plugin"}
    assert access.renewable


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo hunter2; exit 3", "failed with exit code 3"),
        ("echo hunter2", "gave no credential"),
        (None, "was not found"),
    ],
)
def test_a_failing_credential_plugin_is_told_without_its_output(tmp_path: Path, script: str | None, words: str) -> None:
    user = plugin(tmp_path, script or "")
    if script is None:
        (tmp_path / "login").unlink()
    path = write(tmp_path / "config", user=user)

    with pytest.raises(KubeconfigError) as refused:
        load_access("a", {"KUBECONFIG": str(path), "PATH": os.environ["PATH"]})
    assert refused.value.code == "credential-plugin-failed"
    assert words in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("user", "cluster", "words"),
    [
        ({"auth-provider": {"name": "oidc"}}, {}, "signs in by auth-provider"),
        ({"username": "x", "password": "y"}, {}, "signs in by username"),
        ({"client-certificate-data": "***"}, {}, "client-certificate-data is not base64"),
        ({"client-certificate": "none.pem"}, {}, "none.pem, which cannot be read"),
        ({"tokenFile": "none"}, {}, "cannot be read"),
        ({}, {"certificate-authority-data": base64.b64encode(b"nonsense").decode()}, "damaged or does not match"),
        ({}, {"server": ""}, "has no server"),
        ({}, {"proxy-url": "socks5://x:1"}, "only http and https proxies"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any], words: str) -> None:
    path = write(tmp_path / "config", user=user, cluster=cluster)

    with pytest.raises(KubeconfigError) as refused:
        load_access("a", {"KUBECONFIG": str(path)})
    assert refused.value.code == "kubeconfig-invalid"
    assert words in refused.value.problem


@pytest.mark.parametrize(
    ("server", "cluster", "environment", "proxy"),
    [
        (
            "https://api.hk:6443",
            {"proxy-url": "http://own:3128"},
            {"HTTPS_PROXY": "http://theirs:3128"},
            "http://own:3128",
        ),
        ("https://api.hk:6443", {}, {"HTTPS_PROXY": "http://theirs:3128"}, "http://theirs:3128"),
        ("https://api.hk:6443", {}, {"https_proxy": "http://theirs:3128", "NO_PROXY": ".hk"}, None),
        ("https://127.0.0.1:6443", {}, {"HTTPS_PROXY": "http://theirs:3128"}, None),
        ("https://api.hk:6443", {}, {}, None),
    ],
)
def test_the_proxy_is_the_one_that_kubectl_would_take(
    tmp_path: Path, server: str, cluster: dict[str, str], environment: dict[str, str], proxy: str | None
) -> None:
    path = write(tmp_path / "config", cluster={"server": server, **cluster})

    assert load_access("a", {"KUBECONFIG": str(path), **environment}).proxy == proxy


class Authority:
    """Issues certificates that live for a day."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.pem = self._sign(self._name, self._key, authority=True)

    def _sign(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, authority: bool) -> str:
        now = dt.datetime.now(dt.UTC)
        alternative = x509.SubjectAlternativeName([x509.DNSName("kubernetes")])
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(alternative, critical=False)
        )
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, name: str) -> tuple[str, str]:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        text = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return self._sign(subject, key, authority=False), text.decode()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def authority() -> Authority:
    return Authority("cluster")


@pytest.fixture
def server(authority: Authority, tmp_path: Path) -> Iterator[str]:
    """An https server that asks for a client certificate of the authority and answers with its subject."""
    (tmp_path / "server.pem").write_text("".join(authority.issue("server")))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server.pem")
    tls.load_verify_locations(cadata=authority.pem)
    tls.verify_mode = ssl.CERT_REQUIRED

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = json.dumps({"subject": self.connection.getpeercert()["subject"][0][0][1]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    class Quiet(HTTPServer):
        def handle_error(self, *_: Any) -> None:
            pass

    with Quiet(("127.0.0.1", 0), Handler) as http:
        http.socket = tls.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=lambda: http.serve_forever(poll_interval=0.02))
        thread.start()
        yield f"https://127.0.0.1:{http.server_address[1]}"
        http.shutdown()
        thread.join()


def test_a_client_certificate_is_shown_and_leaves_no_file(
    tmp_path: Path, authority: Authority, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    modes: list[int] = []
    load = ssl.SSLContext.load_cert_chain

    def recorded(tls: ssl.SSLContext, path: Path) -> None:
        modes.append(stat.S_IMODE(path.stat().st_mode))
        load(tls, path)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", recorded)
    certificate, key = authority.issue("operator")
    path = write(
        tmp_path / "config",
        user={"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)},
        cluster={
            "server": server,
            "certificate-authority-data": encoded(authority.pem),
            "tls-server-name": "kubernetes",
        },
    )

    assert Cluster(load_access("a", {"KUBECONFIG": str(path)})).get("/") == {"subject": "operator"}
    assert modes == [0o600]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_server_of_another_authority_is_not_trusted(tmp_path: Path, server: str) -> None:
    path = write(
        tmp_path / "config",
        cluster={"server": server, "certificate-authority-data": encoded(Authority("another").pem)},
    )

    with pytest.raises(KubeError) as refused:
        Cluster(load_access("a", {"KUBECONFIG": str(path)})).get("/")
    assert refused.value.code == "tls-refused"
