"""Writes docs/policies: one page a rule and an index, from the rules themselves.

`python -m policies.docs` writes them; a test holds them current.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from policies.engine.rule import CIS, Rule
from policies.pack import rules
from policies.settings import DEFAULTS, camel, schema

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "docs" / "policies"

_INTRO: Final = """# Policies

Every rule of the pack in `policies/`, by control. The pack runs with `pulumi preview|up --policy-pack policies`, and
without an engine with `lantau policy-check PATH…`. All rules are mandatory unless the table says otherwise.

A value that is unknown during preview never switches a rule off: what is known is judged, and the rule says which
place it judges at update. Settings that all rules share, and exceptions, are properties of `pack-settings`:

```json
{
  "pack-settings": {
    "registries": ["registry.example.com"],
    "exceptions": [
      {
        "rule": "SA-02",
        "resource": "Deployment/ops/reloader",
        "reason": "watches ConfigMaps, ticket OPS-12",
        "expires": "2027-03-31"
      }
    ]
  }
}
```

An exception names a rule (or its control) and a resource, by URN, by name, or as `Kind/namespace/name`, with `*` where
any text may stand. Past its date it excuses nothing and is itself a finding; one that excuses nothing is reported.

## What counts as a key

A value counts by its own shape (tokens of some fifty issuers, private keys, passwords in addresses, password hashes),
or by its name together with what it looks like. Names are split into words, so a tokenizer is no token and `max_tokens`
no secret. Texts are read by their structure (JSON, YAML, INI, properties, shell, SQL, XML, command lines), and base64,
hexadecimal and percent encodings are taken off up to five deep.

These pass: references of every kind (`$(VAR)`, `${VAR}`, `{{ … }}`, `vault:…`, `ENC[…]`, `os.environ/…`), names that
end in file, path, name, url, id, ttl and the like, placeholders and masks, numbers, UUIDs, digests, public keys,
certificates, file paths, plain addresses, and plain words. A plain word is a key only where it sets the password of a
server (`POSTGRES_PASSWORD`) or is a favourite one (`admin`). Messages tell the name and the kind of a key, never its
value.

## Rules


"""


def pages() -> Iterator[tuple[str, str]]:
    """(file name, text) of every page."""
    yield "README.md", _index(rules())
    for rule in rules():
        yield f"{rule.name}.md", _page(rule)


def _index(listed: list[Rule]) -> str:
    lines = [_INTRO, "| control | rule | severity | level | judged |", "|---|---|---|---|---|"]
    for rule in listed:
        scope = "whole program" if rule.stack_check is not None else "each resource"
        link = f"[{rule.title}]({rule.name}.md)"
        lines.append(f"| {rule.control} | {link} | {rule.severity.value} | {rule.level.value} | {scope} |")
    lines += ["", "## Settings", "", "| key | default | meaning |", "|---|---|---|"]
    settings = next(rule for rule in listed if rule.name == "pack-settings").uses
    for name in settings:
        about = schema([name])[camel(name)]["description"]
        lines.append(f"| `{camel(name)}` | {_default(name)} | {about} |")
    return "\n".join(lines) + "\n"


def _default(name: str) -> str:
    value = getattr(DEFAULTS, name)
    if isinstance(value, tuple):
        return ", ".join(f"`{member}`" for member in value) or "none"
    return f"`{value}`"


def _page(rule: Rule) -> str:
    lines = [
        f"# {rule.control}: {rule.title}",
        "",
        f"`{rule.name}` · {rule.severity.value} · {rule.level.value} · "
        + ("judged on the whole program" if rule.stack_check is not None else "judged on each resource"),
        "",
        f"**Why.** {rule.why}",
        "",
        f"**What to do.** {rule.fix}",
        "",
    ]
    references = []
    if rule.cis:
        references.append(f"{CIS[0]} {CIS[1]}: {rule.cis}")
    if rule.nsa:
        references.append(f"NSA/CISA Kubernetes Hardening Guide: {rule.nsa}")
    references += rule.tags
    if references:
        lines += ["**Held by.** " + "; ".join(references), ""]
    if rule.uses and rule.name != "pack-settings":
        lines += ["**Settings.** " + ", ".join(f"`{camel(name)}`" for name in rule.uses), ""]
    return "\n".join(lines)


def write() -> None:
    """Write all pages and remove those of rules that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    current = dict(pages())
    for old in FOLDER.glob("*.md"):
        if old.name not in current:
            old.unlink()
    for name, text in current.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
