"""Brings a secret that exists to what is declared, so that any interrupted run can simply be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from provider.errors import ProviderError
from provider.store.client import CURRENT, PREVIOUS, Live, SecretStore
from provider.store.fields import make_values
from provider.store.spec import OWNER, TAG_EPOCH, TAG_FIELD, TAG_OWNER, TAG_STACK, SecretSpec
from provider.values import Plain

DEFAULT_KMS_KEY = "alias/aws/secretsmanager"


def refuse_foreign(live: Live, stack: str, name: str) -> None:
    """Raise ProviderError unless the tags say that the secret belongs to this stack."""
    owner, owner_stack = live.tags.get(TAG_OWNER), live.tags.get(TAG_STACK)
    if owner == OWNER and owner_stack == stack:
        return
    found = f"{TAG_OWNER}={owner or '(none)'}, {TAG_STACK}={owner_stack or '(none)'}"
    raise ProviderError(
        f"secret {name} exists and does not belong to stack {stack} ({found}). Choose another name, or hand it over: "
        f"aws secretsmanager tag-resource --secret-id {name} "
        f"--tags Key={TAG_OWNER},Value={OWNER} Key={TAG_STACK},Value={stack}"
    )


def epoch_of(live: Live) -> int | None:
    """The epoch that the store's tag tells; None when there is none."""
    text = live.tags.get(TAG_EPOCH, "")
    return int(text) if text.isdecimal() else None


@dataclass(frozen=True)
class Recorded:
    """What the last completed run wrote down of a secret."""

    version: str | None = None
    previous: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    kms_key_id: str | None = None
    epoch: int = 0

    @classmethod
    def from_plain(cls, state: Plain) -> Recorded:
        """From recorded outputs."""
        return cls(
            version=state.get("versionId"),
            previous=state.get("previousVersionId") or None,
            tags=state.get("tags") or {},
            kms_key_id=state.get("kmsKeyId"),
            epoch=int(state.get("epoch") or 0),
        )


def refuse_older_epoch(live: Live, spec: SecretSpec, recorded: int = 0) -> int:
    """The epoch that the secret is at, 0 if nobody knows. Raises ProviderError when it is ahead of the declared."""
    # Either may be missing: the tag on a secret made by hand, the record when one is adopted.
    epoch = max(epoch_of(live) or 0, recorded)
    if epoch > spec.epoch:
        raise ProviderError(
            f"secret {spec.name} is at epoch {epoch} in the store, and {spec.epoch} is declared; epochs only go up: "
            f"set {epoch} to keep its value or {epoch + 1} to rotate"
        )
    return epoch


def converge(store: SecretStore, live: Live, spec: SecretSpec, recorded: Recorded | None = None) -> Live:
    """Make values, description, key and tags as declared; gives the secret as it then stands.

    `recorded` is None when a secret is adopted. Raises ProviderError; whatever was done before stays, and calling
    again carries on from there.
    """
    epoch = refuse_older_epoch(live, spec, recorded.epoch if recorded else 0)
    _settings(store, live, spec, recorded)
    token = spec.epoch_token()
    # A second new version for the same epoch would push the values that are in use out of reach.
    if 0 < epoch < spec.epoch and token not in live.versions:
        store.put(live, token, make_values(spec.fields, store.values(live), rotate=True))
    else:
        _reshape(store, live, spec, recorded or Recorded())
    _tags(store, live, spec, recorded or Recorded())
    after = store.describe(live.arn)
    if after is None:
        raise ProviderError(f"secret {spec.name} vanished while it was being changed; run again")
    return after


def _settings(store: SecretStore, live: Live, spec: SecretSpec, recorded: Recorded | None) -> None:
    # The store answers with a key's ARN where an alias was given, so a recorded secret is compared with the record.
    last_key = live.kms_key_id if recorded is None else recorded.kms_key_id
    key_changes = (last_key or DEFAULT_KMS_KEY) != (spec.kms_key_id or DEFAULT_KMS_KEY)
    if live.description != spec.description or key_changes:
        key = (spec.kms_key_id or DEFAULT_KMS_KEY) if key_changes else None
        store.describe_as(live, spec.description, key)


def _reshape(store: SecretStore, live: Live, spec: SecretSpec, recorded: Recorded) -> None:
    """Fields added, removed or fixed anew within the epoch; the previous epoch's values keep their label."""
    old = store.values(live)
    new = make_values(spec.fields, old, rotate=False)
    previous = live.labelled(PREVIOUS)
    if new != old:
        current = live.labelled(CURRENT)
        store.put(live, spec.reshaped_token(current), new)
        if previous is not None and current is not None:
            store.move_previous(live, previous, away_from=current)
    elif recorded.previous not in (None, previous) and previous == recorded.version:
        # An earlier run was interrupted between the new version and the label's way back.
        store.move_previous(live, str(recorded.previous), away_from=previous)


def _tags(store: SecretStore, live: Live, spec: SecretSpec, recorded: Recorded) -> None:
    wanted = {**spec.tags, **spec.system_tags}
    stale = [key for key in live.tags if key not in wanted and (key.startswith(TAG_FIELD) or key in recorded.tags)]
    if stale:
        store.untag(live, stale)
    missing = {key: value for key, value in wanted.items() if live.tags.get(key) != value}
    if missing:
        store.tag(live, missing)
