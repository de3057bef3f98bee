"""Kubeconfigs as people have them: without a current context, several, broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from lantau.platform import load_platform
from workflow.cluster import contexts
from workflow.errors import WorkflowError
from workflow.target import require_context

PROJECT = Path(__file__).parents[3]


def written(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_a_context_is_found_without_any_current_context(tmp_path: Path) -> None:
    only = written(tmp_path / "a", "contexts: [{name: hk-prod, context: {cluster: c, user: u}}]\n")
    assert contexts(only) == ["hk-prod"]


def test_several_files_are_read_together(tmp_path: Path) -> None:
    first = written(tmp_path / "a", "contexts: [{name: hk-prod}]\n")
    second = written(tmp_path / "b", "contexts: [{name: hk-test}]\n")
    assert contexts(f"{first}:{second}") == ["hk-prod", "hk-test"]


def test_no_kubeconfig_and_an_empty_one_have_no_contexts() -> None:
    assert contexts(None) == []
    assert contexts("/dev/null") == []


@pytest.mark.parametrize(
    "text", ["x: [broken", "just text", b"\xff\xfe\x00", "contexts: {a: b}", "contexts: [{}]", "[1]"]
)
def test_what_is_no_kubeconfig_is_named_and_never_a_traceback(tmp_path: Path, text: str | bytes) -> None:
    path = written(tmp_path / "broken", text)
    with pytest.raises(WorkflowError, match="is no kubeconfig") as caught:
        contexts(path)
    assert path in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match="there is no kubeconfig"):
        contexts(str(tmp_path / "missing"))
    with pytest.raises(WorkflowError, match="cannot be read"):
        contexts(str(tmp_path))


def test_a_context_that_is_not_there_is_told_with_the_nearest_one() -> None:
    platform = load_platform(PROJECT, "hk-prod")
    require_context(platform, ["hk-prod"])
    with pytest.raises(WorkflowError, match='Did you mean "hk-prd"'):
        require_context(platform, ["hk-prd", "other"])
    with pytest.raises(WorkflowError, match="It has none"):
        require_context(platform, [])
