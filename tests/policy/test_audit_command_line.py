"""How command lines of the API server are read; AUD-01 and AUD-09 show it."""

from typing import Any

import pytest

from tests.policy.audits import GOOD_FLAGS
from tests.policy.harness import UNKNOWN, clean, fires, judge

GOOD = [f"--{name}={value}" for name, value in GOOD_FLAGS.items()]
SHORT = [word.replace("maxage=90", "maxage=7") for word in GOOD]
GOOD_LINE = " ".join(GOOD)
SHORT_LINE = " ".join(SHORT)
BLIND_LINE = " ".join(GOOD[1:])


def runs(*command: Any, args: Any = None, image: str = "tools", env: Any = None) -> dict[str, Any]:
    """A pod with one container."""
    container: dict[str, Any] = {"name": "c", "image": image, "command": list(command), "args": args, "env": env}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}


STARTS = [
    pytest.param(lambda flags: runs("kube-apiserver", *flags), id="by name"),
    pytest.param(lambda flags: runs("/go-runner", "--log-file=/a", "/usr/bin/kube-apiserver", *flags), id="wrapped"),
    pytest.param(lambda flags: runs("nice", "-n", "5", "kube-apiserver", *flags), id="a wrapper's flag has a value"),
    pytest.param(lambda flags: runs("gosu", "kube", "kube-apiserver", *flags), id="a wrapper has an operand"),
    pytest.param(lambda flags: runs("env", "A=b", "kube-apiserver", *flags), id="with an assignment"),
    pytest.param(lambda flags: runs("/opt/start", "kube-apiserver", *flags), id="unknown wrapper, telling flags"),
    pytest.param(lambda flags: runs("kube-apiserver-amd64", *flags), id="with its architecture"),
    pytest.param(lambda flags: runs("sh", "-c", "exec kube-apiserver " + " ".join(flags)), id="in a shell"),
    pytest.param(
        lambda flags: runs(
            "sh", "-c", "mkdir -p /l && A=b kube-apiserver \\\n " + " \\\n ".join(flags) + " 2>&1 | tee /x"
        ),
        id="in a script of several lines",
    ),
    pytest.param(lambda flags: runs("sh", "-c", 'exec kube-apiserver "$@"', "--", *flags), id="through the shell"),
    pytest.param(
        lambda flags: runs("sh", "-c", "exec kube-apiserver $FLAGS", env=[{"name": "FLAGS", "value": " ".join(flags)}]),
        id="flags in a variable",
    ),
    pytest.param(
        lambda flags: runs("$(BIN)", *flags, env=[{"name": "BIN", "value": "/bin/kube-apiserver"}]),
        id="name in a variable",
    ),
    pytest.param(lambda flags: runs(*flags, image="registry:5000/kube-apiserver:v1.37.0"), id="by the image"),
    pytest.param(
        lambda flags: runs("k3s", "server", *(f"--kube-apiserver-arg={flag[2:]}" for flag in flags)), id="k3s"
    ),
    pytest.param(
        lambda flags: runs("rke2", "server", *(w for flag in flags for w in ("--kube-apiserver-arg", flag[2:]))),
        id="rke2",
    ),
    pytest.param(
        lambda flags: runs("sh", "-c", "exec k3s server " + " ".join(f"--kube-apiserver-arg={f[2:]}" for f in flags)),
        id="k3s in a shell",
    ),
]


@pytest.mark.parametrize("start", STARTS)
def test_a_server_is_found_however_it_is_started(start: Any) -> None:
    assert fires("AUD-09", start(SHORT))
    assert fires("AUD-01", start(GOOD[1:]))
    assert clean("AUD-09", start(GOOD))
    assert clean("AUD-01", start(GOOD))


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["kube-apiserver", *GOOD, "--audit-log-maxage=7"], id="the last of two wins"),
        pytest.param(["kube-apiserver", *GOOD, "--audit_log_maxage=7"], id="underscores are dashes"),
        pytest.param(["kube-apiserver", *GOOD, "--audit-log-maxage", "7"], id="in two words"),
        pytest.param(["kube-apiserver", *SHORT, "--", "--audit-log-maxage=90"], id="flags behind the end of flags"),
        pytest.param(["sh", "-c", f"kube-apiserver {SHORT_LINE} # --audit-log-maxage=90"], id="a comment"),
        pytest.param(["sh", "-c", f"kube-apiserver {SHORT_LINE}; echo --audit-log-maxage=90"], id="another command"),
        pytest.param(["sh", "-c", f"kube-apiserver {GOOD_LINE} --help; kube-apiserver {SHORT_LINE}"], id="only help"),
        pytest.param(["sh", "-c", f"kube-apiserver {SHORT_LINE} 'open"], id="an open quote"),
        pytest.param(["sh", "-c", f"echo {'x' * 25_000}; kube-apiserver {SHORT_LINE}"], id="an endless line"),
        pytest.param(["kube-apiserver", *GOOD, "--audit-log-maxage=nan"], id="no number"),
        pytest.param(["kube-apiserver", *GOOD, "--audit-log-maxage=inf"], id="an endless number"),
    ],
)
def test_flags_that_do_not_count_do_not_help(command: list[str]) -> None:
    assert fires("AUD-09", runs(*command))


def test_a_mention_before_the_start_does_not_help() -> None:
    assert fires("AUD-01", runs("sh", "-c", f"echo kube-apiserver {GOOD_LINE}; exec kube-apiserver {BLIND_LINE}"))


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "curl -sk https://kube-apiserver/readyz"],
        ["kubectl", "-n", "kube-system", "logs", "kube-apiserver"],
        ["sh", "-c", "pgrep kube-apiserver && crictl logs kube-apiserver"],
        ["wget", "-O", "/host/usr/local/bin/kube-apiserver", "https://dl.k8s.io/x"],
        ["sh", "-c", "exec curl https://example.com/kube-apiserver"],
        ["prometheus-adapter", "--job", "kube-apiserver"],
        ["exporter", "kube-apiserver", "--interval=5s"],
        ["kube-apiserver", "--version"],
        ["kube-controller-manager", "--leader-elect=true"],
        ["k3s", "agent"],
        ["k3s"],
    ],
)
def test_a_mention_of_the_server_is_no_server(command: list[str]) -> None:
    assert clean("AUD-01", runs(*command))


def test_an_unknown_word_is_left_to_the_update() -> None:
    assert judge("AUD-01", runs("kube-apiserver", UNKNOWN)).unjudged
    assert judge("AUD-01", runs("k3s", "server", UNKNOWN)).unjudged
    outcome = judge("AUD-09", runs("kube-apiserver", *SHORT, UNKNOWN))
    assert outcome.messages
