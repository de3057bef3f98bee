"""`lantau policy-check`: what is read, what is skipped, and what is told of input that cannot be judged."""

import json
import os
import time
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from policies.check import files
from policies.model.yamltext import DEEPEST
from tests.policy.checking import BAD, CLEAN, check, text, write
from tests.policy.samples import WORD

BAD_TEXT = yaml.safe_dump(BAD)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(BAD),
        json.dumps(BAD, indent="\t"),
        json.dumps([BAD]),
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [BAD]}),
        json.dumps(BAD) + "\n" + json.dumps(CLEAN),
        "---\n" + BAD_TEXT,
        "# remark\n---\n# remark\n" + BAD_TEXT + "...\n",
        "%YAML 1.1\n---\n" + BAD_TEXT,
        BAD_TEXT.replace("\n", "\r\n"),
        "\ufeff" + BAD_TEXT,
        BAD_TEXT.encode("utf-16"),
        BAD_TEXT.encode("utf-32"),
        yaml.safe_dump_all([CLEAN, None, CLEAN]) + "---\r\n" + BAD_TEXT,
        yaml.safe_dump({**BAD, "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": {}}),
        BAD_TEXT.replace("secrets", "!anything secrets"),
        BAD_TEXT.replace("- secrets", "- !!binary c2VjcmV0cw=="),
    ],
    ids=lambda content: repr(content[:14]),
)
def test_manifests_are_read_however_they_are_written(tmp_path: Path, content: str | bytes) -> None:
    found = check(text(tmp_path / "a.yaml", content))
    assert (found.code, found.controls, found.err) == (1, ["RBAC-05"], "")


def test_anchors_and_merges_are_followed(tmp_path: Path) -> None:
    manifest = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: team-a}
rules:
- &base {apiGroups: [""], resources: [configmaps], verbs: [get]}
- {<<: *base, resources: [secrets]}
- {<<: [*base, {resources: [secrets]}]}
"""
    assert [line["path"] for line in check(text(tmp_path / "a.yaml", manifest)).lines] == ["rules[1]"]


def test_standard_input_is_read() -> None:
    found = check("-", stdin=BAD_TEXT.encode())
    assert (found.code, [line["file"] for line in found.lines]) == (1, ["-"])
    assert check("-", "-", stdin=BAD_TEXT.encode()) == found


def test_empty_documents_keep_their_number(tmp_path: Path) -> None:
    found = check(text(tmp_path / "a.yaml", f"# head\n---\n---\n{BAD_TEXT}---\n# nothing\n---\n{BAD_TEXT}"))
    assert [line["document"] for line in found.lines] == [2, 4]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("# only a remark\n", "is empty"),
        ("---\n---\n", "is empty"),
        ("just text", "document 1 is no manifest"),
        ("[a, b]", "document 1 is no manifest: a list must hold mappings"),
        (f"a: 1\npassword: [{WORD}\n", "in line 3"),
        (f"a: 1\n---\npassword: {WORD}: x\n", "document 2 is no YAML or JSON"),
        (f"a: 1\n---\npassword: {WORD}: x\n", "in line 3"),
        (f"{{{{ .Values.{WORD} }}}}: [\n", "helm template"),
        (f'{{"password": "{WORD}" "{WORD}"}}', "in line 1"),
        ("a: &a [*a]", "an alias contains itself in line 1"),
        ("a: *b", "undefined alias in line 1"),
        ("? [a]\n: b", "a key is a list or a mapping in line 1"),
        ("a: {<<: 3}", "what << merges is no mapping in line 1"),
        (f"a: b\nc: {WORD}\0", "the control character U+0000"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "the control character U+007F"),
        (b"a: b\nc: \xff\xfe", "is no UTF-8 text: a byte in line 2"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), f"nested deeper than {DEEPEST} levels"),
        ("[" * 100_000, f"nested deeper than {DEEPEST} levels"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, f"nested deeper than {DEEPEST} levels"),
        ("\n".join(" " * n + "a:" for n in range(DEEPEST + 2)), f"nested deeper than {DEEPEST} levels"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_input_that_cannot_be_judged_is_told_without_its_text(tmp_path: Path, content: str | bytes, told: str) -> None:
    found = check(text(tmp_path / "a.yaml", content))
    assert (found.code, found.out) == (2, "")
    assert f"error: {tmp_path / 'a.yaml'}: " in found.err
    assert told in found.err
    assert WORD not in found.err


def bomb(line: str) -> str:
    rows = ["a0: &a0 {k: v}"]
    rows += [f"a{n}: &a{n} " + line.format(f"*a{n - 1}") for n in range(1, 40)]
    return "\n".join(rows)


@pytest.mark.parametrize(
    "content",
    [bomb("[{0}, {0}, {0}, {0}]"), bomb("{{x: {0}, y: {0}, z: {0}}}"), bomb("{{<<: [{0}, {0}, {0}], n: {0}}}")],
    ids=["lists", "mappings", "merges"],
)
def test_aliases_that_multiply_are_refused_at_once(tmp_path: Path, content: str) -> None:
    begin = time.process_time()
    found = check(text(tmp_path / "a.yaml", content))
    assert time.process_time() - begin < 5
    assert (found.code, found.out) == (2, "")
    assert "once its aliases are written out" in found.err


def test_aliases_that_people_write_are_no_bomb(tmp_path: Path) -> None:
    rules = ["- &r {apiGroups: [''], resources: [configmaps], verbs: [get]}", *["- *r"] * 2000]
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a, namespace: b}\nrules:\n"
    assert check(text(tmp_path / "a.yaml", head + "\n".join(rules))).code == 0


def test_a_long_document_without_aliases_is_no_bomb(tmp_path: Path) -> None:
    items = [{"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{n}"}, "reason": "a"} for n in range(40_000)]
    file = text(
        tmp_path / "a.yaml", "apiVersion: v1\nkind: List\nitems:\n" + "\n".join(f"- {json.dumps(i)}" for i in items)
    )
    config = text(tmp_path / "config.yaml", "all: disabled\nrbac-no-secret-read: mandatory\n")
    assert check(file, "--config", config).err == ""


def test_a_key_that_stands_twice_is_told_and_both_values_are_judged(tmp_path: Path) -> None:
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n"
    first = check(text(tmp_path / "a.yaml", f"{head}  password: {WORD}\n  password: a\n"))
    last = check(text(tmp_path / "a.yaml", f"{head}  password: a\n  password: {WORD}\n"))
    for found in (first, last):
        assert (found.code, found.controls) == (2, ["KEY-02"])
        assert "document 1: the key password stands twice in a mapping, again in line 6" in found.err
        assert WORD not in found.err
    once = check(text(tmp_path / "a.json", '{"apiVersion": "v1", "kind": "A", "kind": "B"}'))
    assert (once.code, "the key kind stands twice" in once.err) == (2, True)


def test_a_broken_document_does_not_hide_the_others(tmp_path: Path) -> None:
    found = check(text(tmp_path / "a.yaml", f"a: [\n---\n{BAD_TEXT}---\nb: ]\n"))
    assert (found.code, [line["document"] for line in found.lines]) == (2, [2])
    assert found.err.count("error: ") == 2


def test_a_bad_file_does_not_hide_the_findings_of_others(tmp_path: Path) -> None:
    write(tmp_path / "b.yaml", BAD)
    text(tmp_path / "a.yaml", "a: [")
    found = check(tmp_path, tmp_path / "none.yaml")
    assert (found.code, found.controls) == (2, ["RBAC-05"])
    assert "a.yaml: is no YAML or JSON" in found.err
    assert "none.yaml: there is no such file or folder" in found.err


def test_a_folder_is_searched_for_manifests_like_kubectl_does(tmp_path: Path) -> None:
    for name in ("a.yaml", "deep/er/b.yml", "c.json", "D.YAML", ".hidden/e.yaml"):
        write(tmp_path / name, BAD)
    for name in ("f.txt", "g.yaml.bak", ".git/h.yaml", "node_modules/i.yaml"):
        write(tmp_path / name, BAD)
    names = [Path(line["file"]).name for line in check(tmp_path).lines]
    assert sorted(names) == ["D.YAML", "a.yaml", "b.yml", "c.json", "e.yaml"]


def test_files_of_a_folder_without_a_manifest_are_skipped_and_named(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", CLEAN)
    write(tmp_path / "Pulumi.prod.yaml", {"config": {"password": WORD}})
    write(tmp_path / "values.yaml", {"password": WORD})
    write(tmp_path / "Chart.yaml", {"apiVersion": "v2", "name": "a", "version": "1.0.0"})
    text(tmp_path / "package.json", "{}")
    text(tmp_path / "notes.yaml", "text")
    text(tmp_path / "empty.yaml", "")
    found = check(tmp_path)
    assert (found.code, found.out) == (0, "")
    (told,) = found.err.splitlines()
    assert told.startswith("skipped: 6 files without a manifest: ")
    assert told.endswith("and 1 more")


def test_a_file_that_a_person_names_is_judged_whatever_it_is(tmp_path: Path) -> None:
    assert check(write(tmp_path / "values.yaml", {"db": {"password": WORD}})).controls == ["KEY-09"]


def test_a_kustomization_is_judged_even_without_its_kind(tmp_path: Path) -> None:
    generator = {"name": "keys", "literals": [f"password={WORD}"]}
    write(tmp_path / "kustomization.yaml", {"secretGenerator": [generator]})
    found = check(tmp_path)
    assert found.code == 1
    assert {control.partition("-")[0] for control in found.controls} == {"KEY"}


def test_templates_of_a_chart_are_left_to_helm(tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    write(chart / "Chart.yaml", {"apiVersion": "v2", "name": "a", "version": "1.0.0"})
    template = text(chart / "templates/sub/a.yaml", "kind: Role\n{{- if .Values.x }}\na: [\n{{- end }}\n")
    text(chart / "templates/b.yaml", "kind: Role\nname: {{ .Values.name }}\n")
    write(chart / "templates/c.yaml", BAD)
    found = check(chart)
    assert (found.code, found.controls) == (1, ["RBAC-05"])
    assert found.err.count(f"helm template {chart} | lantau policy-check -") == 1
    named = check(template)
    assert (named.code, named.out) == (2, "")
    assert f"helm template {chart} | lantau policy-check -" in named.err


@pytest.mark.parametrize("content", [None, "text", "", '{"a": 1}'])
def test_a_folder_without_manifests_is_bad_input(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        text(tmp_path / "a.yaml", content)
    found = check(tmp_path)
    assert (found.code, found.out) == (2, "")
    assert f"error: {tmp_path}: there is no manifest in this folder" in found.err


def test_what_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = write(tmp_path / "a.yaml", BAD)
    write(tmp_path / "b.yaml", BAD)
    opened = Path.open

    def refusing(path: Path, *rest: object, **named: object) -> object:
        if path == locked:
            raise PermissionError(13, "Permission denied")
        return opened(path, *rest, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refusing)
    found = check(tmp_path)
    assert (found.code, len(found.lines)) == (2, 1)
    assert "a.yaml: cannot be read: Permission denied" in found.err


def test_a_folder_that_may_not_be_entered_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.yaml", BAD)
    write(tmp_path / "locked/b.yaml", BAD)
    listed = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = check(tmp_path)
    assert (found.code, len(found.lines)) == (2, 1)
    assert "locked: cannot be read: Permission denied" in found.err


def test_a_link_to_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to(tmp_path / "gone.yaml")
    found = check(tmp_path)
    assert found.code == 2
    assert "a.yaml: cannot be read: No such file or directory" in found.err


def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 2**20)
    found = check("/dev/zero")
    assert (found.code, "is larger than 1 MiB" in found.err) == (2, True)


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, BAD_TEXT.encode())
    os.close(writer)
    try:
        assert check(f"/dev/fd/{reader}").controls == ["RBAC-05"]
    finally:
        os.close(reader)


def test_odd_names_of_files_are_printed(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff\n\x1b[31m.yaml"
    with open(odd, "wb") as file:  # noqa: PTH123  (a name that is no text)
        file.write(BAD_TEXT.encode())
    found = check(tmp_path)
    assert (found.code, len(found.lines)) == (1, 1)
    text(tmp_path / "\x1b[31m.yaml", "a: [")
    assert "\x1b" not in check(tmp_path).err


@pytest.mark.parametrize(
    "content",
    [
        '{"apiVersion": 1, "kind": ["a"], "metadata": []}',
        '{"apiVersion": "v1", "kind": "Pod", "metadata": null, "spec": null}',
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 3, "labels": 3}, "spec": {"containers": 3}}',
        '{"apiVersion": "v1", "kind": "List", "items": null}',
        '{"apiVersion": "v1", "kind": "List", "items": [null, 3, []]}',
        '{"apiVersion": "v1", "kind": "\\ud800", "metadata": {"name": "\\u0000\\u001b"}}',
        '{"apiVersion": "a/b/c:d", "kind": ":", "spec": {"x": 1e999, "y": NaN, "z": ' + "9" * 5000 + "}}",
        "{}",
        "[]",
    ],
)
def test_odd_manifests_end_with_a_verdict(tmp_path: Path, content: str) -> None:
    found = check(text(tmp_path / "a.json", content))
    assert found.code in (0, 1, 2)
    assert "the rule itself failed" not in found.out
