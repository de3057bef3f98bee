"""The policy pack in the real engine: every rule fires there on its own violation."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from policies.pack import rules
from sandbox.engine import build_engine
from tests.policy.violations import SETTINGS, VIOLATIONS, token

PACK = Path(__file__).resolve().parents[2] / "policies"
ROOT = "urn:pulumi:prod::trial::pulumi:pulumi:Stack::trial-prod"


def state() -> dict[str, Any]:
    """The state of a stack that breaks every rule, as `pulumi stack export` writes it."""
    resources: list[dict[str, Any]] = [{"urn": ROOT, "type": "pulumi:pulumi:Stack", "custom": False}]
    for control, manifest in VIOLATIONS.items():
        kind = token(control)
        urn = f"urn:pulumi:prod::trial::{kind}::{control.lower()}"
        resources.append(
            {
                "urn": urn,
                "type": kind,
                "custom": True,
                "id": control,
                "parent": ROOT,
                "inputs": manifest,
                "outputs": manifest,
            }
        )
    manifest = {"time": "2026-01-01T00:00:00Z", "magic": "", "version": ""}
    return {"version": 3, "deployment": {"manifest": manifest, "resources": resources}}


@pytest.fixture(scope="module")
def analyzed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the engine reports of that stack with the pack at its defaults and the settings of the violations."""
    return analyze(tmp_path_factory.mktemp("analyze"), SETTINGS)


def analyze(folder: Path, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Policy events of `pulumi policy analyze`."""
    (folder / "state.json").write_text(json.dumps(state()), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"pack-settings": settings}), encoding="utf-8")
    engine = build_engine()
    command = [str(engine.pulumi), "policy", "analyze", "--json", "--non-interactive"]
    command += ["--file", str(folder / "state.json"), "--policy-pack", str(PACK)]
    command += ["--policy-pack-config", str(folder / "config.json")]
    environment = engine.environment() | {"PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_HOME": str(folder / "home")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [event["policyEvent"] for event in events if "policyEvent" in event]


@pytest.mark.parametrize(
    "rule", [rule for rule in rules() if rule.control != "PACK-01"], ids=lambda rule: str(rule.control)
)
def test_the_rule_fires_in_the_engine(rule: Any, analyzed: list[dict[str, Any]]) -> None:
    own = [event for event in analyzed if event["policyName"] == rule.name]
    assert own, f"{rule.name} said nothing"
    assert {event["enforcementLevel"] for event in own} == {rule.level.value}
    assert {event["severity"] for event in own} == {rule.severity.value}
    if rule.control in VIOLATIONS:
        assert any(event["resourceUrn"].endswith(f"::{rule.control.lower()}") for event in own)


def test_settings_that_cannot_be_used_are_a_mandatory_finding(tmp_path: Path) -> None:
    exception = {"rule": "SA-01", "resource": "*", "reason": "tests", "expires": "soon"}
    events = analyze(tmp_path, {"exceptions": [exception]})
    told = [event for event in events if event["policyName"] == "pack-settings"]
    assert told
    assert all(event["enforcementLevel"] == "mandatory" for event in told)
    assert "exceptions[0].expires must be a date like" in told[0]["message"]
