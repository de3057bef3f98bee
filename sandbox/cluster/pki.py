"""Certificates and keys of one sandbox: made once, kept in a folder that only its owner can read."""

import base64
import datetime as dt
import ipaddress
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.cluster.text import write_private
from sandbox.errors import SandboxError

_YEARS = 10
_BACKDATE = dt.timedelta(hours=1)


class Authority:
    """A certificate authority in `folder`, made on first use; `name` is its file name and common name."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.certificate_file = folder / f"{name}.crt"
        self._key = load_or_make_key(folder / f"{name}.key")
        if not self.certificate_file.exists():
            subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"lantau-sandbox-{name}")])
            public = self._key.public_key()
            builder = _builder(subject, subject, public).add_extension(x509.BasicConstraints(True, 0), critical=True)
            builder = builder.add_extension(_usage(authority=True), critical=True)
            builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            write_private(self.certificate_file, _pem(builder.sign(self._key, hashes.SHA256())))
        try:
            self._certificate = x509.load_pem_x509_certificate(self.certificate_file.read_bytes())
        except ValueError as error:
            raise _damaged(self.certificate_file) from error

    def issue(
        self, name: str, common_name: str, organisations: Sequence[str] = (), hosts: Sequence[str] = ()
    ) -> tuple[Path, Path]:
        """The certificate and key files called `name`, made when missing; with `hosts` (names, addresses) a server's.

        `common_name` is the user and `organisations` are the groups that Kubernetes sees.
        """
        certificate_file, key_file = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        key = load_or_make_key(key_file)
        if not certificate_file.exists():
            write_private(certificate_file, self._sign(key.public_key(), common_name, organisations, hosts))
        return certificate_file, key_file

    def issue_in_memory(self, common_name: str, organisations: Sequence[str]) -> tuple[bytes, bytes]:
        """A client certificate and its key as PEM, not kept here."""
        key = ec.generate_private_key(ec.SECP256R1())
        return self._sign(key.public_key(), common_name, organisations, ()), _key_pem(key)

    def _sign(
        self, public: ec.EllipticCurvePublicKey, common_name: str, organisations: Iterable[str], hosts: Sequence[str]
    ) -> bytes:
        subject = x509.Name(
            [
                *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organisations),
                x509.NameAttribute(NameOID.COMMON_NAME, common_name),
            ]
        )
        purposes = [ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = _builder(subject, self._certificate.subject, public)
        if hosts:
            purposes.append(ExtendedKeyUsageOID.SERVER_AUTH)
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_general_name(host) for host in hosts]), critical=False
            )
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        builder = builder.add_extension(_usage(authority=False), critical=True)
        builder = builder.add_extension(x509.BasicConstraints(False, None), critical=True)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = builder.add_extension(identifier, critical=False)
        return _pem(builder.sign(self._key, hashes.SHA256()))


def load_or_make_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """The P-256 private key in `path`, made when missing; SandboxError when the file is damaged."""
    if not path.exists():
        write_private(path, _key_pem(ec.generate_private_key(ec.SECP256R1())))
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except ValueError as error:
        raise _damaged(path) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise _damaged(path)
    return key


def write_public_key(private: Path, public: Path) -> None:
    """Write the public half of the key in `private` to `public`, unless it is there."""
    if public.exists():
        return
    key = load_or_make_key(private).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    write_private(public, key.public_bytes(serialization.Encoding.PEM, form))


def kubeconfig(server: str, authority: bytes, certificate: bytes, key: bytes, context: str, user: str) -> str:
    """A kubeconfig (JSON, which is YAML) with one context; the credentials are embedded."""

    def encode(data: bytes) -> str:
        return base64.b64encode(data).decode()

    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{"name": context, "cluster": {"server": server, "certificate-authority-data": encode(authority)}}],
        "users": [
            {"name": user, "user": {"client-certificate-data": encode(certificate), "client-key-data": encode(key)}}
        ],
        "contexts": [{"name": context, "context": {"cluster": context, "user": user}}],
    }
    return json.dumps(document, indent=1) + "\n"


def _builder(subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    begin = dt.datetime.now(dt.UTC) - _BACKDATE
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + dt.timedelta(days=365 * _YEARS))
    )


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _damaged(path: Path) -> SandboxError:
    return SandboxError(f"{path} is damaged; remove the sandbox's data with: python -m sandbox down --delete")
