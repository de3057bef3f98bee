"""KEY-08."""

from tests.policy.harness import clean, fires
from tests.policy.manifests import container, pod, pod_spec
from tests.policy.samples import WORD


def test_a_key_in_an_image_reference_is_found() -> None:
    assert fires("KEY-08", pod(pod_spec(containers=[container(image=f"https://user:{WORD}@registry.example.com/app")])))
    assert fires("KEY-08", pod(pod_spec(containers=[container(image=f"user:{WORD}@registry.example.com/app:1")])))
    assert clean("KEY-08", pod())
    assert clean(
        "KEY-08", pod(pod_spec(containers=[container(image="registry.example.com:5000/app:1@sha256:" + "a" * 64)]))
    )
