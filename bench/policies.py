"""`lantau policy-check` over ten thousand manifests: seconds and memory, in many files and in one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import yaml  # type: ignore[import-untyped]

from bench.manifests import Maker, write_files

MANIFESTS = 10_000


@dataclass(frozen=True)
class Check:
    """One run of the command: `peak` is the largest sum of the memory of all its processes, in MB."""

    what: str
    files: int
    wall: float
    cpu: float
    peak: float
    findings: int


def write_one(path: Path, count: int) -> None:
    """The same manifests as the documents of one file."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    with path.open("w", encoding="utf-8") as file:
        for manifest in Maker().manifests(count):
            file.write("---\n" + yaml.dump(manifest, Dumper=dumper, sort_keys=False))


def run_check(what: str, path: Path, output: Path) -> Check:
    """Judge `path` by the real command, in a process of its own."""
    before, begin = os.times(), time.perf_counter()
    with output.open("wb") as sink:
        command = [sys.executable, "-m", "lantau", "policy-check", "--json", str(path)]
        process = subprocess.Popen(command, stdout=sink)
        peak = _peak(process)
    wall, after = time.perf_counter() - begin, os.times()
    if process.returncode != 1:
        raise SystemExit(f"policy-check ended with {process.returncode}; the manifests of the bench break some rules")
    files = sum(1 for each in path.rglob("*") if each.is_file()) if path.is_dir() else 1
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Check(what, files, wall, cpu, peak, output.read_bytes().count(b"\n"))


def _peak(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end; the largest sum of resident memory of the process and its workers, in MB."""
    done = threading.Event()
    most = [0.0]

    def watch() -> None:
        while not done.wait(0.05):
            most[0] = max(most[0], _resident(process.pid) / 2**20)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    process.wait()
    done.set()
    watcher.join()
    return most[0]


def _resident(pid: int) -> int:
    try:
        parent = psutil.Process(pid)
        return sum(each.memory_info().rss for each in (parent, *parent.children(recursive=True)))
    except psutil.Error:
        return 0


def measure(folder: Path, count: int = MANIFESTS) -> list[Check]:
    """Judge `count` manifests in many files, then in one."""
    write_files(folder / "many", count)
    write_one(folder / "one.yaml", count)
    output = folder / "findings.jsonl"
    return [run_check("many files", folder / "many", output), run_check("one file", folder / "one.yaml", output)]
