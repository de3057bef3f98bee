"""Any violation in any wrapping is found, and random clean programs in the same wrappings stay clean: every control."""

import base64
import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.check.config import Configuration
from policies.check.items import Item, Program
from policies.check.run import Checker
from tests.policy.harness import UNKNOWN, fires, token_of
from tests.policy.manifests import POD_HOLDERS, binding, container, grant, listed, pod_spec, role, typed_list
from tests.policy.networks import namespace, net_policy
from tests.policy.samples import CLEAN_NAMED, SHAPED
from tests.policy.test_violations import CONFIG, PLACED
from tests.policy.violations import VIOLATIONS, token

Manifest = dict[str, Any]
Layer = Callable[[Manifest], Manifest]

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
HARMLESS: list[Manifest] = [
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}, "data": {"mode": "fast"}},
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "app"}, "spec": {"ports": [{"port": 80}]}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "later"}, "data": UNKNOWN},
]


def few(each: int) -> settings:
    """The same few programs in every run of every machine."""
    return settings(max_examples=each, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def _work(manifest: Manifest) -> Manifest:
    body = {"workload": {"manifests": [HARMLESS[0], manifest]}}
    return {"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork", "metadata": {}, "spec": body}


def _crossplane(manifest: Manifest) -> Manifest:
    body = {"forProvider": {"manifest": manifest}}
    return {
        "apiVersion": "kubernetes.crossplane.io/v1alpha2",
        "kind": "Object",
        "metadata": {"name": "o"},
        "spec": body,
    }


def _somewhere(manifest: Manifest) -> Manifest:
    body = {"a": [{"later": UNKNOWN, "b": {"c": [[manifest], 1.0, None]}}]}
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "thing"}, "spec": body}


def _among(manifest: Manifest) -> Manifest:
    return listed(*HARMLESS, manifest, HARMLESS[1])


LAYERS: dict[str, Layer] = {
    "alone in a List": listed,
    "among others in a List": _among,
    "carried to another cluster": _work,
    "of an operator that applies it": _crossplane,
    "deep in a custom resource": _somewhere,
}
layers = st.lists(st.sampled_from(sorted(LAYERS)), max_size=4)


def marked(value: Any, chance: st.DataObject) -> Any:
    """The same with some places marked as secret, as the engine marks them."""
    if isinstance(value, dict):
        value = {key: marked(member, chance) for key, member in value.items()}
    elif isinstance(value, list):
        value = [marked(member, chance) for member in value]
    return {**SECRET, "value": value} if chance.draw(st.integers(0, 5)) == 0 else value


def wrapped(manifest: Manifest, names: list[str], *, typed: bool = False) -> Manifest:
    if typed and not names:
        return typed_list(manifest)
    for name in names:
        manifest = LAYERS[name](manifest)
    return manifest


WRAPPED = [control for control in VIOLATIONS if control not in PLACED]


@pytest.mark.parametrize("control", WRAPPED)
@few(12)
@given(names=layers, typed=st.booleans(), chance=st.data())
def test_a_violation_is_found_in_any_wrapping(
    control: str, names: list[str], typed: bool, chance: st.DataObject
) -> None:
    bad = wrapped(copy.deepcopy(VIOLATIONS[control]), names, typed=typed)
    how = token(control) if not names and not typed else token_of(bad)
    bad = {key: marked(value, chance) if key not in ("apiVersion", "kind") else value for key, value in bad.items()}
    assert fires(control, bad, token=how, config=CONFIG)


# What these controls ask for lies beside the containers: labels, a namespace, the shape of one kind.
NOT_OF_THE_SPEC = {"POD-02", "NET-07", "GPU-06", "KEY-04", "AVL-01", "AVL-02", "AVL-03", "DAT-03"}
IN_PODS = [c for c in WRAPPED if VIOLATIONS[c].get("kind") == "Pod" and c not in NOT_OF_THE_SPEC]
IN_CONTAINERS = [c for c in IN_PODS if VIOLATIONS[c]["spec"]["containers"] != pod_spec()["containers"]]
# A debugging container may write to its own disk.
MAY_IN_EPHEMERAL = {"POD-01"}


@pytest.mark.parametrize("control", IN_PODS)
@few(8)
@given(hold=st.sampled_from(POD_HOLDERS), names=layers)
def test_a_bad_pod_is_found_in_any_kind_that_holds_pods(control: str, hold: Any, names: list[str]) -> None:
    assert fires(control, wrapped(hold(copy.deepcopy(VIOLATIONS[control]["spec"])), names), config=CONFIG)


@pytest.mark.parametrize("control", IN_CONTAINERS)
@few(8)
@given(
    hold=st.sampled_from(POD_HOLDERS),
    where=st.sampled_from(["containers", "initContainers", "ephemeralContainers"]),
    before=st.integers(0, 3),
    after=st.integers(0, 2),
    names=layers,
)
def test_a_bad_container_is_found_in_any_place(
    control: str, hold: Any, where: str, before: int, after: int, names: list[str]
) -> None:
    bad = {**copy.deepcopy(VIOLATIONS[control]["spec"]["containers"][0]), "name": "bad"}
    beside = [container(f"good-{number}") for number in range(before + after)]
    spec = pod_spec(**{where: [*beside[:before], bad, *beside[before:]]})
    allowed = where == "ephemeralContainers" and control in MAY_IN_EPHEMERAL
    assert fires(control, wrapped(hold(spec), names), config=CONFIG) is not allowed


# Rules that judge one version of a format: another version is another format.
OF_ONE_VERSION = ("AUD-",)
VERSIONED = [c for c in WRAPPED if "apiVersion" in VIOLATIONS[c] and not c.startswith(OF_ONE_VERSION)]


@pytest.mark.parametrize("control", VERSIONED)
@few(6)
@given(version=st.sampled_from(["v1alpha1", "v1beta1", "v1beta2", "v1", "v2", "v2alpha1"]), names=layers)
def test_a_violation_is_found_under_any_version_of_its_group(control: str, version: str, names: list[str]) -> None:
    bad = copy.deepcopy(VIOLATIONS[control])
    group, slash, _ = bad["apiVersion"].rpartition("/")
    bad["apiVersion"] = f"{group}{slash}{version}"
    assert fires(control, wrapped(bad, names), config=CONFIG)


def _twice(text: str) -> str:
    return base64.b64encode(base64.b64encode(text.encode())).decode()


CODES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "twice": _twice,
    "hex": lambda text: text.encode().hex(),
}
CARRIERS: dict[str, Callable[[str], Manifest]] = {
    "KEY-01": lambda key: POD_HOLDERS[1](pod_spec(containers=[container(env=[{"name": "NOTE", "value": key}])])),
    "KEY-02": lambda key: {**HARMLESS[0], "data": {"note": key}},
    "KEY-03": lambda key: POD_HOLDERS[1](pod_spec(containers=[container(command=["app", "--note", key])])),
    "KEY-04": lambda key: {**HARMLESS[1], "metadata": {"name": "app", "annotations": {"example.com/note": key}}},
    "KEY-09": lambda key: {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {}, "spec": {"note": key}},
}


@pytest.mark.parametrize("control", CARRIERS)
@few(25)
@given(key=st.sampled_from(SHAPED), code=st.sampled_from(sorted(CODES)), names=layers)
def test_a_key_is_found_in_any_encoding_at_any_place(control: str, key: str, code: str, names: list[str]) -> None:
    assert fires(control, wrapped(CARRIERS[control](CODES[code](key)), names))


clean_env = st.lists(st.sampled_from(CLEAN_NAMED), max_size=4, unique_by=lambda pair: pair[0])
clean_words = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=12)


@st.composite
def clean_containers(draw: st.DrawFn, name: str) -> Manifest:
    more: Manifest = {
        "env": [{"name": key, "value": value} for key, value in draw(clean_env)],
        "resources": {"limits": {"cpu": draw(st.integers(1, 64)), "memory": f"{draw(st.integers(1, 512))}Gi"}},
        "ports": [{"containerPort": draw(st.integers(1024, 65535)), "name": "http"}],
        "volumeMounts": [{"name": "work", "mountPath": "/work"}],
        "args": [f"--{draw(clean_words)}", draw(clean_words)],
    }
    kept = draw(st.sets(st.sampled_from(sorted(more))))
    return container(name, **{key: more[key] for key in kept})


@st.composite
def clean_specs(draw: st.DrawFn) -> Manifest:
    volumes: list[Manifest] = [
        {"name": "work", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "keys", "secret": {"secretName": "app-keys", "defaultMode": 256}},
        {"name": "settings", "configMap": {"name": "app"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-app-0"}},
    ]
    names = draw(st.lists(clean_words, min_size=1, max_size=3, unique=True))
    spec = pod_spec(
        containers=[draw(clean_containers(name)) for name in names],
        volumes=draw(st.lists(st.sampled_from(volumes), max_size=3, unique_by=lambda volume: str(volume["name"]))),
        tolerations=draw(
            st.sampled_from([[], [{"key": "lantau.internal/role", "value": "data", "effect": "NoSchedule"}]])
        ),
    )
    if draw(st.booleans()):
        spec["initContainers"] = [draw(clean_containers("prepare"))]
    return spec


FRIEND = {"podSelector": {"matchLabels": {"app": "friend"}}}
clean_grants = st.builds(
    grant,
    st.sampled_from(["", "apps", "batch", "example.com"]),
    st.sampled_from([["configmaps"], ["pods", "pods/log"], ["deployments"], ["jobs/status"], ["leases"]]),
    st.lists(st.sampled_from(["get", "list", "watch"]), min_size=1, max_size=3, unique=True),
)
HARMLESS_BINDING = binding("view")
clean_objects = st.one_of(
    st.builds(lambda hold, spec: hold(spec), st.sampled_from(POD_HOLDERS), clean_specs()),
    st.builds(role, clean_grants, clean_grants),
    st.just(HARMLESS_BINDING),
    st.sampled_from(HARMLESS[:2]),
    st.builds(
        lambda pairs: {**HARMLESS[0], "data": dict(pairs)},
        clean_env,
    ),
    st.builds(
        lambda port: net_policy("app", ingress=[{"ports": [{"port": port}], "from": [FRIEND]}]), st.integers(1, 9)
    ),
)
AROUND = [
    namespace("team-a", **{"pod-security.kubernetes.io/enforce": "restricted"}),
    net_policy(),
]
# Pods of these programs have no budget, copies or backup beside them; their own tests give them these.
ABOUT_NEIGHBOURS = ("AVL-", "DAT-03")


@few(60)
@given(objects=st.lists(st.tuples(clean_objects, layers), min_size=1, max_size=4), chance=st.data())
def test_random_clean_programs_stay_clean_for_every_control(
    objects: list[tuple[Manifest, list[str]]], chance: st.DataObject
) -> None:
    manifests = [*AROUND, *(wrapped(manifest, names) for manifest, names in objects)]
    items = [
        Item(
            document=number,
            token=token_of(manifest),
            name=f"object-{number}",
            urn=f"urn:pulumi:manifest::m::t::object-{number}",
            props={k: marked(v, chance) if k not in ("apiVersion", "kind") else v for k, v in manifest.items()},
            protect=True,
        )
        for number, manifest in enumerate(manifests)
    ]
    lines = list(Checker(Configuration()).judge(Program("clean", items)))
    found = [
        line for line in lines if not line.control.startswith(ABOUT_NEIGHBOURS) and "not known yet" not in line.message
    ]
    assert not found, [(line.control, line.message) for line in found]
