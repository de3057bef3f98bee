"""The backup's script: what reaches the bucket comes back, and what is not whole is no backup."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.server import ThreadedMotoServer

from components.vector import snapshots
from components.vector.backup import SCRIPT
from tests.unit.components.fake_qdrant import KEY, FakePeer, running

BUCKET = "vectors"
STAMP = "20261201T193000Z"
Env = dict[str, str]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "made-up")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        store = boto3.client("s3")
        store.create_bucket(Bucket=BUCKET)
        yield store


@pytest.fixture
def cluster() -> Iterator[list[FakePeer]]:
    """Two peers with a share of a large collection each, and one of them with an odd name beside it."""
    large = os.urandom(70_000)
    peers = [
        FakePeer({"docs": large, "häuser/alt": b"second"}, {"current": "docs"}),
        FakePeer({"docs": large[::-1]}, {"current": "docs"}),
    ]
    with running(peers):
        yield peers


def env(cluster: list[FakePeer], folder: Path, key: str = KEY) -> Env:
    (folder / "api-key").write_text(f"{key}\n", encoding="utf-8")
    urls = ",".join(peer.url for peer in cluster)
    return {"PEERS": urls, "API_KEY_FILE": str(folder / "api-key"), "BUCKET": BUCKET, "PREFIX": "lantau/x/qdrant"}


def keys(store: Any) -> list[str]:
    return [found["Key"] for found in store.list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def test_every_collection_of_every_peer_comes_back(bucket: Any, cluster: list[FakePeer], tmp_path: Path) -> None:
    where = env(cluster, tmp_path)
    before = [dict(peer.collections) for peer in cluster]
    snapshots.backup(where, bucket, STAMP)
    for peer in cluster:
        peer.collections = dict.fromkeys(peer.collections, b"spoilt")
        peer.aliases.clear()
    snapshots.restore(where, bucket, STAMP)
    assert [peer.collections for peer in cluster] == before
    assert cluster[0].aliases == {"current": "docs"}


def test_nothing_stays_on_the_volumes_of_the_store(bucket: Any, cluster: list[FakePeer], tmp_path: Path) -> None:
    snapshots.backup(env(cluster, tmp_path), bucket, STAMP)
    assert [peer.snapshots for peer in cluster] == [{}, {}]
    assert len(keys(bucket)) == 4


def test_a_snapshot_that_arrives_in_parts_is_one(
    bucket: Any, cluster: list[FakePeer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = os.urandom(11 << 20)  # S3 takes parts of 5 MiB and more
    cluster[1].collections = {"docs": content}
    monkeypatch.setattr(snapshots, "SMALLEST_PART", 5 << 20)
    snapshots.backup(env(cluster, tmp_path), bucket, STAMP)
    key = next(key for key in keys(bucket) if "/1/docs" in key)
    assert bucket.get_object(Bucket=BUCKET, Key=key)["Body"].read() == content


def test_a_torn_snapshot_makes_no_complete_backup(bucket: Any, cluster: list[FakePeer], tmp_path: Path) -> None:
    cluster[1].torn = True
    where = env(cluster, tmp_path)
    with pytest.raises(snapshots.SnapshotError, match="peer 1: the snapshot of docs did not arrive whole"):
        snapshots.backup(where, bucket, STAMP)
    assert snapshots.complete(where, bucket) == []
    assert cluster[1].snapshots == {}


def test_backups_are_listed_by_their_time(bucket: Any, cluster: list[FakePeer], tmp_path: Path) -> None:
    where = env(cluster, tmp_path)
    for stamp in ("20261202T193000Z", "20261201T193000Z"):
        snapshots.backup(where, bucket, stamp)
    assert snapshots.complete(where, bucket) == ["20261201T193000Z", "20261202T193000Z"]


@pytest.mark.parametrize(
    ("stamp", "peers", "message"),
    [
        ("20200101T000000Z", 2, f"there is no complete backup 20200101T000000Z; there are {STAMP}"),
        (STAMP, 1, "the backup is of 2 peers, and there are 1: set vector.replicas"),
    ],
)
def test_what_cannot_be_restored_is_refused_before_anything_changes(
    bucket: Any, cluster: list[FakePeer], tmp_path: Path, stamp: str, peers: int, message: str
) -> None:
    snapshots.backup(env(cluster, tmp_path), bucket, STAMP)
    cluster[0].collections = {}
    with pytest.raises(snapshots.SnapshotError, match=message):
        snapshots.restore(env(cluster[:peers], tmp_path), bucket, stamp)
    assert cluster[0].collections == {}


def test_a_refusal_repeats_no_key(bucket: Any, cluster: list[FakePeer], tmp_path: Path) -> None:
    with pytest.raises(snapshots.SnapshotError, match="peer 0: GET /collections was answered with 401") as caught:
        snapshots.backup(env(cluster, tmp_path, key="not-the-right-one"), bucket, STAMP)
    assert "not-the-right-one" not in str(caught.value)


def test_a_peer_that_is_away_is_named(bucket: Any, tmp_path: Path) -> None:
    away = FakePeer()
    with running([away]):
        where = env([away], tmp_path)
    with pytest.raises(snapshots.SnapshotError, match=r"peer 0: GET /collections: .*refused"):
        snapshots.backup(where, bucket, STAMP)


@pytest.fixture
def script(cluster: list[FakePeer], tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the script as its container does, against stand-ins of STS and S3 that know no other credentials."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    session = boto3.Session("made-up", "made-up", region_name="us-east-1")
    session.client("s3", endpoint_url=endpoint).create_bucket(Bucket=BUCKET)
    (tmp_path / "token").write_text("made.up.token", encoding="utf-8")
    given = env(cluster, tmp_path) | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/lantau-x-qdrant-backup",
        "AWS_ROLE_SESSION_NAME": "qdrant-backup",
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"),
        "HOME": str(tmp_path),
    }
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(SCRIPT), *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, env=given, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.communicate()
        server.stop()


Script = Callable[..., subprocess.Popen[str]]


def test_the_script_runs_by_itself_with_the_token_of_its_account(script: Script, cluster: list[FakePeer]) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        process = script(*arguments)
        out, error = process.communicate(timeout=60)
        return process.returncode, out, error

    assert run("backup")[::2] == (0, "")
    listed = run("list")[1].split()
    assert len(listed) == 1
    cluster[0].collections["docs"] = b"spoilt"
    assert run("restore", listed[0])[::2] == (0, "")
    assert cluster[0].collections["docs"] != b"spoilt"
    code, _, error = run("restore", "tomorrow")
    assert (code, error) == (1, f"error: there is no complete backup tomorrow; there are {listed[0]}\n")
    assert run()[::2] == (1, "error: say backup, list, or restore and the stamp of a backup\n")


def test_a_pod_that_must_go_leaves_no_snapshot_on_the_volume(script: Script, cluster: list[FakePeer]) -> None:
    cluster[0].held = threading.Event()
    process = script("backup")
    assert cluster[0].asked.wait(30)
    assert cluster[0].snapshots
    process.terminate()
    process.communicate(timeout=30)
    cluster[0].held.set()
    assert process.returncode == 128 + signal.SIGTERM
    assert cluster[0].snapshots == {}


def test_the_manifest_says_what_each_object_is(bucket: Any, cluster: list[FakePeer], tmp_path: Path) -> None:
    snapshots.backup(env(cluster, tmp_path), bucket, STAMP)
    stored = bucket.get_object(Bucket=BUCKET, Key=f"lantau/x/qdrant/{STAMP}/manifest.json")["Body"]
    manifest = json.load(stored)
    assert manifest["peers"] == 2
    assert {(each["peer"], each["collection"]) for each in manifest["snapshots"]} == {
        (0, "docs"),
        (0, "häuser/alt"),
        (1, "docs"),
    }
    assert {each["key"] for each in manifest["snapshots"]} < set(keys(bucket))
