"""Files, ports and keys of a sandbox."""

import os
import shutil
import socket
from collections import namedtuple
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from sandbox.cluster import pki, ports
from sandbox.cluster.layout import Layout, state_home
from sandbox.errors import SandboxError

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024


@pytest.mark.parametrize("name", ["", "Upper", "a/b", "..", "-a", "a-", "a b", "x" * 41])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SandboxError, match="is no name for a sandbox"):
        Layout(tmp_path, name)


def test_state_lies_where_xdg_says_and_in_the_home_folder_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/var/somewhere")
    assert state_home() == Path("/var/somewhere/lantau")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/chen")
    assert state_home() == Path("/home/chen/.local/state/lantau")


def test_a_nearly_full_disk_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100 << 30, 99 << 30, 200 << 20))
    with pytest.raises(SandboxError, match=r"has 200 MiB free, 1024 MiB are needed; .*XDG_STATE_HOME"):
        Layout(tmp_path, "full").prepare()


def test_the_block_of_ports_is_chosen_once_and_remembered(tmp_path: Path) -> None:
    layout = Layout(tmp_path, "one")
    first = layout.ports()
    with socket.create_server(("127.0.0.1", first.api)):
        assert layout.ports() == first
    assert layout.ports(first.etcd + 5000).etcd == first.etcd + 5000
    assert layout.ports().etcd == first.etcd + 5000


def test_two_sandboxes_never_get_the_same_block(tmp_path: Path) -> None:
    bases = {Layout(tmp_path, f"s{number}").ports().etcd for number in range(20)}
    assert len(bases) == 20
    taken = next(iter(bases))
    with pytest.raises(SandboxError, match=f"base port {taken + 3} belongs to the sandbox 's"):
        Layout(tmp_path, "late").ports(taken + 3)


def test_the_default_sandbox_has_its_fixed_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda _port: True)
    assert Layout(tmp_path, "sandbox").ports() == ports.Ports.from_base(36440)


def test_the_default_sandbox_moves_when_another_one_sits_on_its_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of another user, or of another XDG_STATE_HOME; it then stays where it moved to."""
    with monkeypatch.context() as patch:
        patch.setattr(ports, "is_free", lambda port: port != 36443)
        moved = Layout(tmp_path, "sandbox").ports()
    assert moved.etcd in ports.SEARCH
    assert Layout(tmp_path, "sandbox").ports() == moved


@pytest.mark.parametrize("base", [0, 80, 65530, -1])
def test_a_base_port_out_of_range_is_refused(base: int) -> None:
    with pytest.raises(SandboxError, match=f"base port {base} is out of range"):
        ports.Ports.from_base(base)


def test_a_block_with_a_taken_port_is_passed_over() -> None:
    base = ports.choose_base("other", "some folder")
    with socket.create_server(("127.0.0.1", base + 4)):
        assert ports.choose_base("other", "some folder") != base
    assert ports.choose_base("other", "some folder", taken=[base]) != base


def test_the_holder_of_a_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not ports.is_free(port)
        message = ports.taken_message(port, "etcd", "sandbox")
    assert f"port {port} (wanted for etcd) is taken by" in message
    assert f"(process {os.getpid()})" in message
    assert "--base-port" in message


def test_secrets_are_made_once_and_readable_by_their_owner_only(tmp_path: Path) -> None:
    layout = Layout(tmp_path, "one")
    layout.prepare()
    value = layout.secret("passphrase")
    assert len(value) == 64
    assert layout.secret("passphrase") == value
    assert (layout.folder / "passphrase").stat().st_mode & 0o777 == 0o600
    assert layout.folder.stat().st_mode & 0o777 == 0o700


def test_what_a_removal_left_that_was_cut_short_is_swept_away(tmp_path: Path) -> None:
    layout = Layout(tmp_path, "one")
    (tmp_path / ".one.deleted" / "etcd").mkdir(parents=True)
    layout.prepare()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]
    layout.delete()
    assert list(tmp_path.iterdir()) == []


def test_certificates_are_signed_by_the_authority_and_name_user_groups_and_hosts(tmp_path: Path) -> None:
    authority = pki.Authority(tmp_path, "ca")
    certificate_file, key_file = authority.issue("server", "chen", ["ops", "eng"], ["127.0.0.1", "kubernetes"])
    certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes()))
    subject = certificate.subject
    assert [name.value for name in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == ["ops", "eng"]
    assert [name.value for name in subject.get_attributes_for_oid(NameOID.COMMON_NAME)] == ["chen"]
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert names.get_values_for_type(x509.DNSName) == ["kubernetes"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (key_file, certificate_file, tmp_path / "ca.key"))


def test_keys_and_certificates_are_made_once(tmp_path: Path) -> None:
    before = [path.read_bytes() for path in pki.Authority(tmp_path, "ca").issue("admin", "admin")]
    assert [path.read_bytes() for path in pki.Authority(tmp_path, "ca").issue("admin", "admin")] == before


def test_a_certificate_whose_making_was_cut_short_is_made_from_the_key_that_is_there(tmp_path: Path) -> None:
    authority = pki.Authority(tmp_path, "ca")
    certificate_file, key_file = authority.issue("admin", "admin")
    key = key_file.read_bytes()
    certificate_file.unlink()
    authority.issue("admin", "admin")
    assert key_file.read_bytes() == key
    certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
    assert certificate.public_key() == pki.load_or_make_key(key_file).public_key()


@pytest.mark.parametrize("name", ["ca.key", "ca.crt"])
def test_a_damaged_key_or_certificate_is_named_with_the_way_out(tmp_path: Path, name: str) -> None:
    pki.Authority(tmp_path, "ca")
    (tmp_path / name).write_text("damaged")
    with pytest.raises(SandboxError, match=f"{name} is damaged; .*down --delete"):
        pki.Authority(tmp_path, "ca")
