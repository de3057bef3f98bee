"""`lantau rules`: what each stage demands, for people and for programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[3]


def lantau(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lantau", *arguments]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def test_rules_are_listed_with_stages_and_reason_for_programs() -> None:
    found = [json.loads(line) for line in lantau("rules", "--json").stdout.splitlines()]
    (two_nodes,) = (rule for rule in found if rule["id"] == "E4-two-nodes")
    assert two_nodes["stages"] == ["production", "growth"]
    assert two_nodes["requirement"] == "E4"
    assert two_nodes["reason"]


def test_one_rule_is_explained_by_its_id() -> None:
    shown = lantau("rules", "E5-backup").stdout
    assert shown.startswith("E5-backup (production, growth)\n")
    assert "The vector store is backed up." in shown


def test_an_unknown_rule_ends_with_the_nearest_one_and_no_traceback() -> None:
    done = lantau("rules", "E5-backups")
    assert done.returncode == 2
    assert 'Did you mean "E5-backup"?' in done.stderr
    assert "Traceback" not in done.stderr
