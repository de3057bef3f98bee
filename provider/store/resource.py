"""`lantau:index:ManagedSecret`: a secret whose value only the store and its readers ever hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from pulumi.provider.experimental.provider import CheckFailure

from provider.config import ProviderConfig
from provider.errors import ProviderError
from provider.resource import Change, Claims, Differences, ResourceKind, Say, State, new_holder
from provider.store.client import CURRENT, PREVIOUS, Live, SecretStore, region_of
from provider.store.converge import Recorded, converge, epoch_of, refuse_foreign, refuse_older_epoch
from provider.store.fields import Field, make_values
from provider.store.spec import DEFAULT_RECOVERY, INPUTS, TAG_FIELD, TAG_HOLDER, SecretSpec, check_secret
from provider.values import UNKNOWN, Plain, Unknown, holds_unknown

StoreFactory = Callable[[str | None], SecretStore]

_NEW_VERSION: Final = ("epoch", "fields")


class ManagedSecret(ResourceKind):
    """Outputs: the inputs, `arn`, `region`, `versionId` (current), `previousVersionId` (valid during overlap),
    `systemTags` and `holder`. Its id is the ARN. No property ever holds a generated value.
    """

    token = "lantau:index:ManagedSecret"  # noqa: S105 - a type token, not a credential

    def __init__(self, config: ProviderConfig, stores: StoreFactory) -> None:
        self._config = config
        self._stores = stores
        self._claims = Claims()

    def check(self, urn: str, olds: Plain, news: Plain) -> tuple[Plain, list[CheckFailure]]:
        checked, failures = check_secret(self._config.stack, olds, news)
        name = checked["name"]
        if isinstance(name, str) and not failures:
            other = self._claims.other_owner(f"{self.token} {name}", urn)
            if other is not None:
                failures.append(CheckFailure("name", f"resource {other} declares secret {name} as well"))
        return checked, failures

    def diff(self, state: Plain, news: Plain) -> Differences:
        changes: dict[str, Change] = {}
        if state.get("name") != news["name"]:
            changes["name"] = Change.REPLACE
        # A region that is left to the environment must not move secrets when somebody else's environment differs.
        if self._config.region is not None and state.get("region") not in (None, self._config.region):
            changes["region"] = Change.REPLACE
        if _shape(state.get("fields")) != _shape(news["fields"]):
            changes["fields"] = Change.UPDATE
        for name in ("description", "epoch", "recoveryDays", "tags", "kmsKeyId"):
            if state.get(name) != news.get(name):
                changes[name] = Change.UPDATE
        if (
            not changes
            and not holds_unknown(news)
            and state.get("systemTags") != SecretSpec.from_plain(news).system_tags
        ):
            changes["systemTags"] = Change.UPDATE
        return Differences(changes)

    def preview_create(self, news: Plain) -> Plain:
        return {
            **news,
            "arn": UNKNOWN,
            "region": self._config.region or UNKNOWN,
            "versionId": UNKNOWN,
            "previousVersionId": UNKNOWN,
            "holder": UNKNOWN,
        }

    def preview_update(self, state: Plain, news: Plain) -> Plain:
        outputs = {**state, **news}
        if any(state.get(name) != news.get(name) for name in _NEW_VERSION):
            outputs.update(versionId=UNKNOWN, previousVersionId=UNKNOWN)
        return outputs

    def create(self, news: Plain, say: Say) -> State:
        spec = SecretSpec.from_plain(news)
        store = self._stores(self._config.region)
        live = store.describe(spec.name)
        holder = {TAG_HOLDER: new_holder()}
        if live is None:
            store.create(
                spec.name,
                spec.epoch_token(),
                make_values(spec.fields, {}, rotate=False),
                description=spec.description,
                tags={**spec.tags, **spec.system_tags, **holder},
                kms_key_id=spec.kms_key_id,
            )
            after = store.describe(spec.name)
            if after is None:
                raise ProviderError(f"secret {spec.name} was created and cannot be found; run again to adopt it")
        else:
            refuse_foreign(live, spec.stack, spec.name)
            refuse_older_epoch(live, spec)
            if live.deleted:
                store.restore(live)
                say.warning(
                    f"secret {spec.name} was scheduled for deletion and has been restored with the value it held; "
                    f"to make a new one, set epoch to {(epoch_of(live) or spec.epoch) + 1}"
                )
            else:
                say.info(f"secret {spec.name} exists already and belongs to this stack: adopted, its value is kept")
            adopted = converge(store, live, spec)
            store.tag(adopted, holder)
            after = replace(adopted, tags={**adopted.tags, **holder})
        return State(after.arn, _outputs(news, spec, after), news)

    def read(self, resource_id: str, state: Plain, inputs: Plain, say: Say) -> State | None:
        region = region_of(resource_id) if resource_id.startswith("arn:") else self._config.region
        store = self._stores(region)
        live = store.describe(resource_id)
        if live is None:
            return None
        if live.deleted:
            say.warning(f"secret {live.name} is scheduled for deletion; the next update restores it")
            return None
        if not inputs:
            return self._imported(store, live)
        seen = {
            **inputs,
            "description": live.description,
            "tags": {key: live.tags[key] for key in inputs.get("tags") or {} if key in live.tags},
        }
        spec = SecretSpec.from_plain(inputs)
        outputs = _outputs({**state, **seen}, spec, live)
        # The record's epoch and shape stay: what the store's tags say of them is told by systemTags.
        return State(live.arn, {**outputs, "epoch": state.get("epoch", spec.epoch)}, seen)

    def _imported(self, store: SecretStore, live: Live) -> State:
        parts = live.name.split("/")
        if len(parts) < 3 or parts[0] != "lantau":
            raise ProviderError(f"secret {live.name} cannot be imported: names begin with lantau/<stack>/")
        refuse_foreign(live, self._config.stack or parts[1], live.name)
        values = store.values(live)
        shapes = {name: live.tags.get(f"{TAG_FIELD}{name}", "") for name in values}
        fields = {name: Field.from_tag(tag, values[name]).to_plain() for name, tag in shapes.items()}
        inputs: Plain = {
            "name": live.name,
            "description": live.description,
            "fields": fields,
            "epoch": epoch_of(live) or 1,
            "recoveryDays": DEFAULT_RECOVERY,
            "tags": {key: value for key, value in live.tags.items() if not key.startswith(("lantau:", "aws:"))},
        }
        if live.kms_key_id:
            inputs["kmsKeyId"] = live.kms_key_id
        spec = SecretSpec.from_plain(inputs)
        # An import must find no difference; tags that are missing yet are found by the next refresh.
        return State(live.arn, {**_outputs(inputs, spec, live), "systemTags": spec.system_tags}, inputs)

    def update(self, resource_id: str, state: Plain, news: Plain, say: Say) -> Plain:
        spec = SecretSpec.from_plain(news)
        store = self._stores(region_of(resource_id))
        live = store.describe(resource_id)
        if live is None:
            raise ProviderError(f"secret {spec.name} is gone from the store; run a refresh, then update again")
        refuse_foreign(live, spec.stack, spec.name)
        if live.deleted:
            store.restore(live)
            say.warning(f"secret {spec.name} was scheduled for deletion and has been restored")
        after = converge(store, live, spec, Recorded.from_plain(state))
        return _outputs(news, spec, after)

    def delete(self, resource_id: str, state: Plain, say: Say) -> None:
        store = self._stores(region_of(resource_id))
        live = store.describe(resource_id)
        if live is None or live.deleted:
            return
        refuse_foreign(live, str(state["name"]).split("/")[1], live.name)
        if live.tags.get(TAG_HOLDER, state.get("holder")) != state.get("holder"):
            say.info(f"secret {live.name} is held by another resource now: left to it")
            return
        days = int(state.get("recoveryDays", DEFAULT_RECOVERY))
        store.delete(live, days)
        say.info(f"secret {live.name} can be restored for {days} days")


def _shape(fields: Any) -> Any:
    """What of the fields makes a new version by itself: their names, and fixed values. The rest waits for an epoch."""
    if not isinstance(fields, dict):
        return fields
    return {
        name: field if isinstance(field, Unknown) or field.get("kind") == "fixed" else "random"
        for name, field in fields.items()
    }


def _outputs(news: Plain, spec: SecretSpec, live: Live) -> Plain:
    system = spec.system_tags
    return {
        **{name: news[name] for name in INPUTS if name in news},
        "arn": live.arn,
        "region": region_of(live.arn),
        "versionId": live.labelled(CURRENT),
        # An absent output would show as unknown in every preview.
        "previousVersionId": live.labelled(PREVIOUS) or "",
        "holder": live.tags.get(TAG_HOLDER, ""),
        "systemTags": {key: live.tags[key] for key in system if key in live.tags},
    }
