"""Writes a scenario at a stage as a stack file with its releases: all of them or none, and never over what is there."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from lantau.problems import InvalidInput, Problem
from lantau.release import release_path
from lantau.scenarios.model import ReleaseStart, Scenario, StageStart, starts
from lantau.stack.load import check_stack_name, stack_file
from lantau.stack.model import ScenarioName, Stage
from lantau.stack.pools import Role

REGISTRY: Final = "registry.example.internal"
DIGEST: Final = "sha256:" + "0" * 64
"""Stands for a digest: no image has it, so that nothing runs before it is replaced."""
ENGINES: Final = {"vllm": ("0.19.0", "engines/vllm-openai"), "comfyui": ("0.3.60", "engines/comfyui")}
"""Version and image of the engines that scenarios start with."""
FIRST_RELEASE: Final = "r1"
EXCEPTION_DAYS: Final = 180
"""Days until the exception of a live stage ends and has to be decided again."""
ONE_QUEUE: Final = {
    "rule": "AVL-01",
    "resource": "StatefulSet/lantau-business/queue",
    "reason": "One Redis keeps the tasks on a protected volume: while its pod or machine is away, queued work waits. "
    "A second pod needs a fail-over that the backend's client knows (Sentinel); decide it by the date below.",
}
"""What a new live stack asks the policy pack to excuse."""
REPLACE_DIGEST: Final = "replace: name and digest of your image"


@dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    stack: str
    files: tuple[Path, ...]
    """New files, relative to the project's folder."""
    kept: tuple[Path, ...]
    """Release files that were there already with the same content."""


def write_scenario(root: Path, scenario: ScenarioName, stage: Stage, name: str) -> Written:
    """Write the files of a scenario below `root`.

    Raises InvalidInput when a name is none, when a file is there already with other content, or when one cannot be
    written.
    """
    check_stack_name(root, name)
    files = {stack_file(Path(), name): stack_text(scenario, stage, name)}
    if stage.live:
        files[Path(f"Policies.{name}.json")] = _policies_text()
    start = starts().scenarios[scenario].stages[stage]
    for model, of in start.models.items():
        files[release_path(Path(), model, release_name(of.release))] = release_text(of.release)
    kept = tuple(path for path, text in files.items() if _content(root / path) == text)
    taken = [path for path in files if path not in kept and (root / path).exists()]
    if taken or stack_file(Path(), name) in kept:
        raise InvalidInput(_taken(taken or [stack_file(Path(), name)], name))
    new = {path: text for path, text in files.items() if path not in kept}
    _write_all(root, new)
    return Written(name, tuple(new), kept)


def _taken(taken: list[Path], name: str) -> list[Problem]:
    fix = f"lantau new … --name {name}-2   # or move the file away; nothing is overwritten"
    return [Problem("", "is there already", fix=fix, file=str(path)) for path in taken]


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _write_all(root: Path, files: Mapping[Path, str]) -> None:
    """Every file is complete beside its place before the first one takes it; a failure takes all of them back."""
    ready: list[tuple[Path, Path]] = []
    placed: list[Path] = []
    try:
        for relative, text in files.items():
            path = root / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            ready.append((Path(temporary), path))
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).chmod(0o644)
        for temporary_path, path in ready:
            # Unlike a rename, a link refuses a name that somebody took in the meantime.
            path.hardlink_to(temporary_path)
            placed.append(path)
    except OSError as error:
        for path in placed:
            path.unlink(missing_ok=True)
        where = str(error.filename2 or error.filename or root)
        raise InvalidInput([Problem("", f"cannot be written: {error.strerror}", file=where)]) from None
    finally:
        for temporary_path, _ in ready:
            temporary_path.unlink(missing_ok=True)


def _policies_text() -> str:
    end = datetime.now(UTC).date() + timedelta(days=EXCEPTION_DAYS)
    content = {"pack-settings": {"exceptions": [{**ONE_QUEUE, "expires": end.isoformat()}]}}
    return json.dumps(content, indent=2) + "\n"


def release_name(key: str) -> str:
    """Name of the first release of a start, which names no dots."""
    return f"{key.replace('.', '-')}-{FIRST_RELEASE}"


def release_text(key: str) -> str:
    """A release file."""
    start = starts().releases[key]
    version, engine_image = ENGINES[start.engine]
    content = CommentedMap()
    content["model"] = CommentedMap(
        name=start.model,
        image=f"{REGISTRY}/models/{key.replace('.', '-')}@{DIGEST}",
        signature="awskms:///alias/lantau-models",
    )
    content["model"].yaml_add_eol_comment("replace: weights as an OCI image of yours, by digest", "image")
    content["model"].yaml_add_eol_comment("replace: the key that it is signed with", "signature")
    content["engine"] = CommentedMap(kind=start.engine, version=version, image=f"{REGISTRY}/{engine_image}@{DIGEST}")
    content["engine"].yaml_add_eol_comment(REPLACE_DIGEST, "image")
    _describe(content, start)
    content["resources"] = CommentedMap(cpu=8, memory_gib=start.memory_gib, shared_memory_gib=2)
    content["limits"] = CommentedMap(start.limits)
    measured = next(key for key in ("tokens_per_second", "answer_seconds") if key in start.limits)
    content["limits"].yaml_add_eol_comment("measure it in the test stage at full batch", measured)
    content.yaml_set_start_comment("yaml-language-server: $schema=../../schemas/release.schema.json")
    return _dumped(content)


def _describe(content: CommentedMap, start: ReleaseStart) -> None:
    if start.parameters:
        content["parameters"] = CommentedMap(start.parameters)
    if start.workflow:
        content["workflow"] = CommentedMap(start.workflow)
        content["workflow"].yaml_add_eol_comment(
            "measure it in the test stage with the workflow that ships", "memory_gib"
        )


def stack_text(scenario: ScenarioName, stage: Stage, name: str) -> str:
    """A stack file."""
    told = starts().scenarios[scenario]
    start = told.stages[stage]
    stack = CommentedMap(stage=stage.value, scenario=scenario.value)
    stack["cluster"] = CommentedMap(context=name, storage_class="local-nvme")
    stack["cluster"].yaml_add_eol_comment("replace: the cluster's context in your kubeconfig", "context")
    stack["cluster"].yaml_add_eol_comment(
        "replace: your StorageClass, or away for the cluster's default", "storage_class"
    )
    stack["pools"] = _pools(start)
    stack["secrets"] = CommentedMap(region="ap-east-1", account=DoubleQuotedScalarString("123456789012"))
    stack["secrets"].yaml_add_eol_comment("replace: your AWS account", "account")
    stack["business"] = _business(start, stage, name)
    stack["vector"] = _vector(told, start, stage, name)
    if stage is not Stage.TEST:
        stack["network"] = _flow(told.network.model_dump(mode="json"))
        stack["identities"] = _identities(stage)
        stack["rollout"] = _rollout(stage)
    if stage.live:
        stack["retention"] = _flow({"audit_days": 90, "archive_days": 365})
    stack["models"] = CommentedMap(
        {model: _model(of.release, of.pool, of.replicas, stage) for model, of in start.models.items()}
    )
    if start.batch:
        stack["batch"] = CommentedMap(
            {job: _job(job, of.pool, of.parallelism, of.completions) for job, of in start.batch.items()}
        )
    content = CommentedMap(config=CommentedMap({"lantau:stack": stack}))
    content.yaml_set_start_comment(
        f"yaml-language-server: $schema=schemas/stack.schema.json\n{told.title}, stage {stage}. {told.about}\n"
        f"{start.why}\n"
        "What is marked with `replace` is made up: nothing runs before it is yours."
    )
    return _dumped(content)


def _pools(start: StageStart) -> CommentedMap:
    pools = CommentedMap()
    models = {of.pool for of in start.models.values()}
    for pool, of in start.pools.items():
        nodes = CommentedSeq([f"{pool}-{number}" for number in range(1, of.nodes + 1)])
        nodes.fa.set_flow_style()
        pools[pool] = _flow({"role": of.role.value, "machine": of.machine, "nodes": nodes})
        if of.role is Role.OFFLINE and models:
            pools[pool]["shared_with_online"] = True
        pools.yaml_add_eol_comment("replace: names of your nodes", pool)
    return pools


def _business(start: StageStart, stage: Stage, name: str) -> CommentedMap:
    business = CommentedMap(pool=_pool_of(start, Role.BUSINESS), host=f"{name.replace('_', '-').lower()}.example.hk")
    business["tls_secret"] = "edge-tls"  # noqa: S105 - the name of a Secret
    business.yaml_add_eol_comment("replace: the name that users call", "host")
    business.yaml_add_eol_comment("made by cert-manager or External Secrets", "tls_secret")
    business["clients"] = CommentedSeq(["default", "platform-team", "office"])
    business["clients"].fa.set_flow_style()
    business["backend"] = CommentedMap(
        image=f"{REGISTRY}/business/backend@{DIGEST}", replicas=1 if stage is Stage.TEST else 2
    )
    business["backend"].yaml_add_eol_comment(REPLACE_DIGEST, "image")
    business["queue"] = CommentedMap(image=f"{REGISTRY}/library/redis@{DIGEST}", storage_gib=20, memory_gib=4)
    business["queue"].yaml_add_eol_comment(REPLACE_DIGEST, "image")
    return business


def _vector(told: Scenario, start: StageStart, stage: Stage, name: str) -> CommentedMap:
    vector = CommentedMap(
        pool=_pool_of(start, Role.DATA),
        image=f"{REGISTRY}/qdrant/qdrant@{DIGEST}",
        replicas=3 if stage.live else 1,
        storage_gib=told.vector_gib,
        memory_gib=64 if stage.live else 16,
    )
    vector.yaml_add_eol_comment(REPLACE_DIGEST, "image")
    if stage.live:
        addresses = CommentedSeq(["10.20.30.0/28"])
        addresses.fa.set_flow_style()
        vector["backup"] = CommentedMap(
            image=f"{REGISTRY}/vector/backup@{DIGEST}",
            bucket=f"{name.replace('_', '-').lower()}-vectors",
            addresses=addresses,
        )
        vector["backup"].yaml_add_eol_comment(REPLACE_DIGEST, "image")
        vector["backup"].yaml_add_eol_comment("replace: your bucket", "bucket")
        vector["backup"].yaml_add_eol_comment("replace: where S3 and STS are reached", "addresses")
    return vector


def _identities(stage: Stage) -> CommentedMap:
    groups = {
        "platform_admin": "ai-platform",
        "model_engineer": "ai-models",
        "release_manager": "ai-release",
        "auditor": "audit",
    }
    if not stage.live:
        del groups["auditor"]
    identities = CommentedMap()
    for role, group in {**groups, "on_call": "ai-on-call"}.items():
        identities[role] = CommentedSeq([DoubleQuotedScalarString(f"oidc:{group}")])
        identities[role].fa.set_flow_style()
    identities.yaml_add_eol_comment("replace: groups of your identity provider", "platform_admin")
    return identities


def _rollout(stage: Stage) -> CommentedMap:
    step = {Stage.GRAY: "team", Stage.PRODUCTION: "team", Stage.GROWTH: "growth"}[stage]
    team, internal = CommentedSeq(["platform-team"]), CommentedSeq(["office"])
    audiences = _flow({"team": team, "internal": internal})
    return _line(
        {"step": step, "since": DoubleQuotedScalarString(datetime.now(UTC).date().isoformat()), "audiences": audiences},
        "replace: the day it began",
        "since",
    )


def _model(release: str, pool: str, replicas: int, stage: Stage) -> CommentedMap:
    model = CommentedMap(pool=pool, replicas=replicas, stable=release_name(release))
    if stage.live:
        model["first"] = True
        model.yaml_add_eol_comment("away with the first promotion", "first")
    return model


def _job(job: str, pool: str, parallelism: int, completions: int) -> CommentedMap:
    command = CommentedSeq(["python", "-m", job.replace("-", "_")])
    command.fa.set_flow_style()
    content = CommentedMap(
        pool=pool,
        image=f"{REGISTRY}/batch/{job}@{DIGEST}",
        command=command,
        gpus=1,
        parallelism=parallelism,
        completions=completions,
    )
    content.yaml_add_eol_comment(REPLACE_DIGEST, "image")
    return content


def _pool_of(start: StageStart, role: Role) -> str:
    return next(pool for pool, of in start.pools.items() if of.role is role)


def _flow(values: Mapping[str, Any]) -> CommentedMap:
    content = CommentedMap(values)
    content.fa.set_flow_style()
    return content


def _line(values: Mapping[str, Any], comment: str, key: str) -> CommentedMap:
    content = CommentedMap(values)
    content.yaml_add_eol_comment(comment, key)
    return content


def _dumped(content: CommentedMap) -> str:
    writer = YAML()
    writer.width = 4096
    text = io.StringIO()
    writer.dump(content, text)
    return text.getvalue()
