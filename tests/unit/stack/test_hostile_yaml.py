"""YAML that no person means: each is refused at once with its reason, whatever it would cost to read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lantau.problems import InvalidInput
from lantau.stack import load_stack
from lantau.yamlfile import read_yaml

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "more than 100,000 values"),
        ("a: " + "[" * 60 + "]" * 60 + "\n", "nested deeper than 50"),
        ("a: " + "[" * 5000 + "\n", "nested deeper than 50"),
        ("a: 1\nb: x\0y\n", ":2: this stack file holds the control character U+0000"),
        ("a: " + "9" * 5000 + "\n", "absurdly long"),
        ("a: 0x" + "f" * 5000 + "\n", "more than 19 digits"),
        ("a: 2026-13-45\n", "no such day"),
        ("", "config:\n      lantau:stack:"),
        ("# nothing yet\n", "is empty"),
        ("config：\n  lantau:stack: {}\n", "full-width characters (：)"),
        ("config:\n  lantau:stack:\n    stage：test\n    cluster: {}\n", "Look at line 3."),
        ("config:\n  lantau:stack:\n    stage: ｔｅｓｔ\n", "full-width characters"),
        ("config:\n  lantau:stack:\n    ｓｔａｇｅ: test\n", "full-width characters"),
    ],
)
def test_hostile_or_mistyped_yaml_is_refused_with_its_reason(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "Pulumi.x.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        load_stack(tmp_path, "x")
    assert says in str(caught.value)


def test_the_values_of_a_duplicate_key_are_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("token: correct-horse\ntoken: battery-staple\n")
    with pytest.raises(InvalidInput, match='found duplicate key "token"') as caught:
        read_yaml(path, what="file")
    assert "horse" not in str(caught.value)
    assert "staple" not in str(caught.value)


def test_an_ordinary_alias_is_read_and_a_switch_stays_a_switch(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: &on true\nb: *on\nc: &n {x: 1}\nd: *n\n")
    data = read_yaml(path, what="file").data
    assert data["b"] is True
    assert data["d"] == {"x": 1}
