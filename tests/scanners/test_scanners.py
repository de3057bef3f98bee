"""Scanners that others wrote find nothing in what the program declares, above a short list with reasons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from lantau.stack.model import ScenarioName
from tests.scanners import rendering, scan

ACCEPTED = scan.accepted(Path(__file__).with_name("accepted.yaml"))
MANIFEST_SCANNERS = ["checkov", "trivy", "kube-score", "kubeconform"]
SCANNERS = [*MANIFEST_SCANNERS, "gitleaks"]
LONGEST_LIST = 12
KUBE_SCORE_KINDS = {"Deployment", "StatefulSet", "Job", "CronJob", "Service", "NetworkPolicy", "PodDisruptionBudget"}

Scan = Callable[[str], scan.Answer]


@pytest.mark.parametrize("scanner", SCANNERS)
def test_a_scanner_finds_nothing_that_is_not_accepted(scanner: str, scanned: Scan) -> None:
    found = sorted(
        finding for finding in set(scanned(scanner).findings) if not any(each.covers(finding) for each in ACCEPTED)
    )
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize("scanner", SCANNERS)
def test_every_acceptance_of_a_scanner_is_needed(scanner: str, scanned: Scan) -> None:
    findings = scanned(scanner).findings
    unused = [each for each in ACCEPTED if each.scanner == scanner and not any(map(each.covers, findings))]
    assert not unused, f"these entries of accepted.yaml match nothing: {unused}"


@pytest.mark.parametrize("scanner", MANIFEST_SCANNERS)
def test_a_scanner_judges_every_object_that_it_knows(scanner: str, scanned: Scan, manifests: scan.Manifests) -> None:
    assert set(manifests.stacks()) == {*rendering.stacks(), *(f"{scenario}-new" for scenario in ScenarioName)}
    known = KUBE_SCORE_KINDS if scanner == "kube-score" else {file.parent.name for file in manifests.files}
    assert scanned(scanner).judged >= sum(file.parent.name in known for file in manifests.files)


def test_gitleaks_reads_the_whole_repository(tracked: Path, scanned: Scan) -> None:
    assert (tracked / "__main__.py").is_file()
    assert scanned("gitleaks").judged > len(list((rendering.ROOT / "policies").rglob("*.py")))


@pytest.mark.parametrize(
    ("scanner", "check"),
    [
        ("checkov", "CKV_K8S_16"),
        ("trivy", "KSV-0017"),
        ("kube-score", "container-security-context-privileged"),
        ("kubeconform", "invalid"),
    ],
)
def test_a_scanner_finds_a_planted_fault(scanner: str, check: str, programs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "plant" / "default" / "Deployment" / "poor.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(poor_deployment()), encoding="utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    answer = scan.manifests_by(scanner, programs, scan.Manifests(tmp_path / "plant", (path,)), scratch)
    assert (check, "default/Deployment/poor") in {(found.check, found.resource) for found in answer.findings}


def poor_deployment() -> dict[str, Any]:
    container = {"name": "c", "image": "busybox", "securityContext": {"privileged": True}, "comand": ["sh"]}
    template = {"metadata": {"labels": {"app": "poor"}}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "poor", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "poor"}}, "template": template},
    }


def test_a_kind_without_a_schema_fails(programs: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "plant" / "default" / "Gizmo" / "odd.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: odd}\n", encoding="utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    answer = scan.manifests_by("kubeconform", programs, scan.Manifests(tmp_path / "plant", (path,)), scratch)
    assert [found.check for found in answer.findings] == ["no-schema"]


def test_a_planted_key_is_found_and_not_repeated(programs: dict[str, Path], tmp_path: Path) -> None:
    # In two parts, or the scan of the repository would find it here.
    key = "ghp_" + "A7kQ2mZx9LpW4vTn8RbY3cHs6JdF1gEu5oXi"
    (tmp_path / "plant").mkdir()
    (tmp_path / "plant" / "settings.yaml").write_text(f"token: {key}\n", encoding="utf-8")
    answer = scan.gitleaks(programs["gitleaks"], tmp_path / "plant", tmp_path)
    assert [(found.check, found.resource) for found in answer.findings] == [("github-pat", "settings.yaml")]
    assert key not in str(answer)
    assert key not in (tmp_path / "leaks.json").read_text(encoding="utf-8")


def test_an_acceptance_that_matches_nothing_is_noticed() -> None:
    entry = scan.Acceptance("trivy", "KSV-0040", "hk-*/x/*", "a reason")
    assert entry.covers(scan.Finding("trivy", "KSV-0040", "hk-prod/x/Service/a", "title"))
    for other in (
        scan.Finding("checkov", "KSV-0040", "hk-prod/x/Service/a", "title"),
        scan.Finding("trivy", "KSV-0041", "hk-prod/x/Service/a", "title"),
        scan.Finding("trivy", "KSV-0040", "sandbox/x/Service/a", "title"),
    ):
        assert not entry.covers(other)


def test_the_list_of_accepted_findings_is_short_and_explained() -> None:
    assert len(ACCEPTED) <= LONGEST_LIST
    for each in ACCEPTED:
        assert each.scanner in SCANNERS, each
        assert len(each.reason.split()) >= 6, f"no reason that a reader could weigh: {each}"
