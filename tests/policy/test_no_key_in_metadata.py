"""KEY-04."""

import pytest

from tests.policy.harness import UNKNOWN, clean, fires, judge
from tests.policy.manifests import deployment, pod
from tests.policy.samples import SHAPED, URLS, WORD, b64, some


@pytest.mark.parametrize(
    "annotations",
    [
        {
            "kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"env":[{"name":"PASSWORD","value":"'
            + WORD
            + '"}]}}'
        },
        {"nginx.org/server-snippets": f'proxy_set_header Authorization "Basic {b64(WORD + ":" + WORD)}";'},
        {"example.com/api-key": some(32)},
        *({"note": value} for value in [*SHAPED, *URLS]),
    ],
)
def test_a_key_in_an_annotation_is_found(annotations: dict[str, str]) -> None:
    assert fires("KEY-04", pod(annotations=annotations))
    template = deployment()
    template["spec"]["template"]["metadata"]["annotations"] = annotations
    assert fires("KEY-04", template)


def test_a_key_in_a_label_is_found() -> None:
    assert fires("KEY-04", pod(labels={"token": some(40)}))


@pytest.mark.parametrize(
    "annotations",
    [{"checksum/secret": some(64, "0123456789abcdef")}, {"secret-name": "app"}, {"prometheus.io/scrape": "true"}],
)
def test_clean_annotations_pass(annotations: dict[str, str]) -> None:
    assert clean("KEY-04", pod(annotations=annotations))


def test_an_unknown_annotation_is_left_to_the_update() -> None:
    assert judge("KEY-04", pod(annotations={"a": UNKNOWN})).unjudged
