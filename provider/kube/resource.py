"""`lantau:index:NodeTaint`: one taint of one node."""

from __future__ import annotations

import re
import threading
from typing import Final

from pulumi.provider.experimental.provider import CheckFailure

from provider.config import ProviderConfig
from provider.errors import ProviderError
from provider.inputs import Inputs
from provider.kube.client import Cluster
from provider.kube.kubeconfig import load_access
from provider.kube.nodes import Nodes, NodeTaints
from provider.kube.taints import EFFECTS, Taint, find, put, without
from provider.resource import Change, Claims, Differences, ResourceKind, Say, State, new_holder
from provider.values import UNKNOWN, Plain

INPUTS: Final = ("node", "key", "value", "effect")
NODE_NAME: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WORD: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
KEY: Final = rf"({NODE_NAME}/)?{_WORD}"
VALUE: Final = rf"({_WORD})?"
_ID: Final = re.compile(r"(?P<node>[^/]+)/(?P<key>.+):(?P<effect>[A-Za-z]+)")


class NodeTaint(ResourceKind):
    """Outputs: the inputs, `clusterUid`, `holder`, and `found` (the taint was there before; delete leaves it there).

    Its id is `<node>/<key>:<effect>`.
    """

    token = "lantau:index:NodeTaint"  # noqa: S105 - a type token, not a credential

    def __init__(self, config: ProviderConfig) -> None:
        self._config = config
        self._claims = Claims()
        self._lock = threading.Lock()
        self._made: Nodes | None = None

    def check(self, urn: str, olds: Plain, news: Plain) -> tuple[Plain, list[CheckFailure]]:  # noqa: ARG002
        inputs = Inputs(news)
        inputs.only(INPUTS)
        rule = "letters, digits, - _ and ., at most 63, begun and ended by a letter or digit"
        checked: Plain = {
            "node": inputs.text("node", pattern=NODE_NAME, longest=253, rule="the name of a node, in lower case"),
            "key": inputs.text("key", pattern=KEY, longest=317, rule=f"<DNS name>/<word>, the word of {rule}"),
            "value": inputs.text("value", default="", pattern=VALUE, rule=rule),
            "effect": inputs.choice("effect", EFFECTS),
        }
        if self._config.context is None:
            inputs.fail("node", "the provider has no context; give the lantau provider the stack's kubeconfig context")
        if not inputs.failures and UNKNOWN not in checked.values():
            slot = f"{checked['node']} {checked['key']}:{checked['effect']}"
            other = self._claims.other_owner(slot, urn)
            if other is not None:
                inputs.fail("key", f"resource {other} declares the same taint of node {checked['node']}")
        return checked, inputs.failures

    def diff(self, state: Plain, news: Plain) -> Differences:
        changes = {name: Change.REPLACE for name in ("node", "key", "effect") if state.get(name) != news[name]}
        if state.get("value", "") != news["value"]:
            changes["value"] = Change.UPDATE
        return Differences(changes)

    def preview_create(self, news: Plain) -> Plain:
        return {**news, "clusterUid": UNKNOWN, "found": UNKNOWN, "holder": UNKNOWN}

    def preview_update(self, state: Plain, news: Plain) -> Plain:
        return {**state, **news}

    def create(self, news: Plain, say: Say) -> State:
        taint, node = _taint(news), news["node"]
        nodes = self._nodes()
        uid = nodes.uid()
        holder = new_holder()
        found_before = False

        def change(now: NodeTaints) -> NodeTaints | None:
            nonlocal found_before
            self._refuse_other_owner(now, taint, node)
            old = find(now.taints, taint)
            ours = taint.slot in now.owners
            if old is not None and not ours:
                if (old.get("value") or "") != taint.value:
                    raise ProviderError(
                        f"node {node} has taint {taint.slot} with value {old.get('value') or '(none)'}, which is not "
                        f"ours to change; remove it (kubectl taint node {node} {taint.slot}-), or declare another"
                    )
                found_before = True
                return None
            return NodeTaints(put(now.taints, taint), {**now.owners, taint.slot: f"{self._owner}/{holder}"})

        if not nodes.change(node, change):
            raise ProviderError(
                f"there is no node {node} in context {self._config.context}; join it to the cluster, or take it from "
                "the pool"
            )
        if found_before:
            say.info(f"node {node} had taint {taint} before; it will be left there on delete")
        outputs = {**news, "clusterUid": uid, "found": found_before, "holder": "" if found_before else holder}
        return State(f"{node}/{taint.slot}", outputs, news)

    def read(self, resource_id: str, state: Plain, inputs: Plain, say: Say) -> State | None:
        match = _ID.fullmatch(resource_id)
        if match is None or match["effect"] not in EFFECTS:
            raise ProviderError(f"{resource_id!r} is not the id of a taint: <node>/<key>:<effect>")
        nodes = self._nodes()
        uid = nodes.uid()
        if state.get("clusterUid") not in (None, uid):
            say.warning(f"the taint was put on another cluster than context {self._config.context} is now: forgotten")
            return None
        now = nodes.read(match["node"])
        slot = Taint(match["key"], "", match["effect"])
        live = None if now is None else find(now.taints, slot)
        if now is None or live is None:
            return None
        seen: Plain = {**match.groupdict(), "value": live.get("value") or ""}
        found = state.get("found", slot.slot not in now.owners)
        holder = _holder(now, slot.slot) or ""
        return State(resource_id, {**seen, "clusterUid": uid, "found": found, "holder": holder}, {**inputs, **seen})

    def update(self, resource_id: str, state: Plain, news: Plain, say: Say) -> Plain:  # noqa: ARG002
        taint, node = _taint(news), news["node"]
        nodes = self._same_cluster(state)
        holder = state.get("holder") or new_holder()

        def change(now: NodeTaints) -> NodeTaints | None:
            self._refuse_other_owner(now, taint, node)
            return NodeTaints(put(now.taints, taint), {**now.owners, taint.slot: f"{self._owner}/{holder}"})

        if not nodes.change(node, change):
            raise ProviderError(f"there is no node {node} any more; run a refresh, then update again")
        return {**news, "clusterUid": nodes.uid(), "found": False, "holder": holder}

    def delete(self, resource_id: str, state: Plain, say: Say) -> None:  # noqa: ARG002
        taint, node = _taint(state), state["node"]
        if state.get("found"):
            say.info(f"node {node} had taint {taint} before; left there")
            return

        def change(now: NodeTaints) -> NodeTaints | None:
            live = find(now.taints, taint)
            if _holder(now, taint.slot) not in (None, state.get("holder")):
                say.info(f"taint {taint.slot} of node {node} is held by another resource now: left to it")
                return None
            rest = {slot: owner for slot, owner in now.owners.items() if slot != taint.slot}
            if live is not None and (live.get("value") or "") != taint.value:
                say.warning(f"node {node}: somebody gave taint {taint.slot} another value; left there")
                return NodeTaints(now.taints, rest)
            if live is None and taint.slot not in now.owners:
                return None
            return NodeTaints(without(now.taints, taint), rest)

        self._same_cluster(state).change(node, change)

    @property
    def _owner(self) -> str:
        return self._config.stack or "lantau"

    def _refuse_other_owner(self, now: NodeTaints, taint: Taint, node: str) -> None:
        owner = now.owners.get(taint.slot, self._owner).partition("/")[0]
        if owner != self._owner and find(now.taints, taint) is not None:
            raise ProviderError(f"taint {taint.slot} of node {node} belongs to stack {owner}; remove it there first")

    def _nodes(self) -> Nodes:
        context = self._config.context
        if context is None:
            raise ProviderError("the lantau provider has no context, so it knows no cluster")
        with self._lock:
            if self._made is None:
                access = load_access(context)
                self._made = Nodes(Cluster(access, renew=lambda: load_access(context)))
            return self._made

    def _same_cluster(self, state: Plain) -> Nodes:
        nodes = self._nodes()
        if state.get("clusterUid") not in (None, nodes.uid()):
            raise ProviderError(
                f"the taint of node {state.get('node')} was put on another cluster than context "
                f"{self._config.context} is now; check the context, or, if that cluster was rebuilt, run a refresh"
            )
        return nodes


def _holder(now: NodeTaints, slot: str) -> str | None:
    """Who holds a slot by the node's annotation; None when nobody does."""
    owner = now.owners.get(slot)
    return None if owner is None else owner.partition("/")[2]


def _taint(values: Plain) -> Taint:
    return Taint(values["key"], values.get("value", ""), values["effect"])
