"""Runs the scanners and reads their answers. Of a finding nothing is kept that a manifest holds: no value, no line."""

from __future__ import annotations

import fnmatch
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

from tests.scanners import schemas

LIMIT_SECONDS: Final = 120
KUBERNETES: Final = "v1.36"
KUBE_SCORE_FULL: Final = 10
TRUSTED_REGISTRY: Final = "registry.example.internal"


@dataclass(frozen=True, order=True)
class Finding:
    """One failure. `resource` is `<stack>/<namespace>/<Kind>/<name>`, or a path in the repository."""

    scanner: str
    check: str
    resource: str
    title: str

    def __str__(self) -> str:
        return f"{self.scanner} {self.check} {self.resource}: {self.title}"


@dataclass(frozen=True)
class Answer:
    """Of one scanner: how many objects (or files) it judged, and what it found."""

    judged: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Acceptance:
    """Findings that are right as they are: patterns of check and resource, and why."""

    scanner: str
    check: str
    resource: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is one of these."""
        return (
            self.scanner == finding.scanner
            and fnmatch.fnmatchcase(finding.check, self.check)
            and fnmatch.fnmatchcase(finding.resource, self.resource)
        )


def accepted(path: Path) -> list[Acceptance]:
    """The accept list; an entry that lacks something, or has more, is an error."""
    return [Acceptance(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Manifests:
    """Rendered manifests below `root`, as tests.scanners.rendering lays them out."""

    root: Path
    files: tuple[Path, ...]

    def resource(self, path: str | Path) -> str:
        """How findings name the object of a file."""
        return str(Path(path).relative_to(self.root).with_suffix(""))

    def stacks(self) -> Mapping[str, list[Path]]:
        """Files by stack."""
        found: dict[str, list[Path]] = {}
        for file in self.files:
            found.setdefault(file.relative_to(self.root).parts[0], []).append(file)
        return found

    def kinds(self) -> set[tuple[str, str]]:
        """(apiVersion, kind) of all objects."""
        loaded = (yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader) for file in self.files)
        return {(document["apiVersion"], document["kind"]) for document in loaded}


class ScannerError(AssertionError):
    """A scanner did not do its work; the message is all there is to say."""


def _run(command: Sequence[str | Path], folder: Path, ok: Sequence[int]) -> str:
    """Standard output of a scanner, run in a folder where no settings of anybody's lie."""
    home = {"HOME": str(folder), "NO_COLOR": "1", "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=folder,
            env=home,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ScannerError(f"{Path(command[0]).name} did not end within {LIMIT_SECONDS} s") from None
    if done.returncode not in ok:
        raise ScannerError(f"{Path(command[0]).name} ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def checkov(program: Path, manifests: Manifests, scratch: Path) -> Answer:
    """Every check of checkov's for Kubernetes, those across objects too."""
    command: list[str | Path] = [
        program,
        "--framework",
        "kubernetes",
        "--skip-download",
        "--compact",
        "--quiet",
        "-o",
        "json",
    ]
    text = _run([*command, "-d", manifests.root], scratch, ok=(0, 1))
    document = json.loads(text)
    if document["results"].get("parsing_errors"):
        raise ScannerError(f"checkov could not read {len(document['results']['parsing_errors'])} files")
    findings = tuple(
        Finding(
            "checkov",
            failed["check_id"],
            manifests.resource(manifests.root / failed["file_path"].lstrip("/")),
            failed["check_name"],
        )
        for failed in document["results"]["failed_checks"]
    )
    return Answer(document["summary"]["resource_count"], findings)


def trivy(program: Path, manifests: Manifests, scratch: Path) -> Answer:
    """Every check that trivy carries for Kubernetes, of any severity."""
    data = scratch / "data"
    data.mkdir()
    registries = {"ksv0125": {"trusted_registries": [TRUSTED_REGISTRY]}}
    (data / "registries.yaml").write_text(yaml.safe_dump(registries), encoding="utf-8")
    command: list[str | Path] = [
        program,
        "config",
        "--skip-check-update",
        "--skip-version-check",
        "--quiet",
        "--format",
        "json",
    ]
    options: list[str | Path] = ["--cache-dir", scratch, "--misconfig-scanners", "kubernetes", "--config-data", data]
    document = json.loads(_run([*command, *options, manifests.root], scratch, ok=(0,)))
    results = [result for result in document.get("Results", []) if result.get("Type") == "kubernetes"]
    findings = tuple(
        Finding("trivy", found["ID"], manifests.resource(manifests.root / result["Target"]), found["Title"])
        for result in results
        for found in result.get("Misconfigurations", [])
        if found["Status"] == "FAIL"
    )
    return Answer(len(results), findings)


def kube_score(program: Path, manifests: Manifests, scratch: Path) -> Answer:
    """Every default check of kube-score's, warnings too; one stack at a time, as a cluster would hold it."""
    findings: list[Finding] = []
    judged: set[str] = set()
    for files in manifests.stacks().values():
        command: list[str | Path] = [
            program,
            "score",
            "--kubernetes-version",
            KUBERNETES,
            "--output-format",
            "json",
            *files,
        ]
        for scored in json.loads(_run(command, scratch, ok=(0, 1))):
            judged.add(scored["file_name"])
            findings.extend(
                Finding("kube-score", check["check"]["id"], manifests.resource(scored["file_name"]), comment["summary"])
                for check in scored["checks"] or ()
                if check["grade"] < KUBE_SCORE_FULL and not check["skipped"]
                for comment in check["comments"] or ({"summary": check["check"]["name"]},)
            )
    return Answer(len(judged), tuple(findings))


def kubeconform(program: Path, published: Path, manifests: Manifests, scratch: Path) -> Answer:
    """Every object against its schema, unknown fields and unknown kinds refused."""
    locations = schemas.write(published, manifests.kinds(), scratch / "schemas")
    options = [option for location in locations for option in ("-schema-location", location)]
    command: list[str | Path] = [program, "-strict", "-verbose", "-output", "json", *options, manifests.root]
    resources = json.loads(_run(command, scratch, ok=(0, 1)))["resources"]
    findings = tuple(
        Finding("kubeconform", _reason(found), manifests.resource(found["filename"]), _where(found))
        for found in resources
        if found["status"] != "statusValid"
    )
    return Answer(sum(found["status"] in {"statusValid", "statusInvalid"} for found in resources), findings)


def _reason(found: Mapping[str, Any]) -> str:
    return {"statusInvalid": "invalid", "statusSkipped": "skipped"}.get(found["status"], "no-schema")


def _where(found: Mapping[str, Any]) -> str:
    """The paths that are wrong: the messages themselves repeat values."""
    paths = sorted({error.get("path", "") for error in found.get("validationErrors") or ()})
    return f"wrong at {', '.join(paths) or '/'}" if found["status"] == "statusInvalid" else found["status"]


def gitleaks(program: Path, root: Path, scratch: Path) -> Answer:
    """Every rule of gitleaks' over the files below `root`; what it found is redacted before it is written."""
    report = scratch / "leaks.json"
    command: list[str | Path] = [program, "dir", root, "--no-banner", "--no-color", "--redact=100", "--exit-code", "0"]
    _run([*command, "--report-format", "json", "--report-path", report], scratch, ok=(0,))
    findings = tuple(
        Finding("gitleaks", found["RuleID"], str(Path(found["File"]).relative_to(root)), found["Description"])
        for found in json.loads(report.read_text(encoding="utf-8"))
    )
    return Answer(sum(path.is_file() for path in root.rglob("*")), findings)


def manifests_by(name: str, programs: Mapping[str, Path], manifests: Manifests, scratch: Path) -> Answer:
    """The answer of the scanner of that name, one of the four that read manifests."""
    if name == "kubeconform":
        return kubeconform(programs[name], programs["schemas"], manifests, scratch)
    scanner = {"checkov": checkov, "trivy": trivy, "kube-score": kube_score}[name]
    return scanner(programs[name], manifests, scratch)
