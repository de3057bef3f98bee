"""Names of cards, MIG instances and number formats as people and files write them."""

from __future__ import annotations

import pytest

from lantau.capacity.cards import card_memory
from lantau.capacity.formats import PLAIN, UnknownFormatError, cache_bytes, format_in_name, format_named
from lantau.catalog.cards import UnknownCardError, cards


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("RTX 4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("rtx4090", "rtx-4090"),
        ("NVIDIA-A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("A100 80GB PCIe", "a100-pcie-80gb"),
        ("H100-80GB", "h100-sxm"),
        ("H20-96GB", "h20-96gb"),
        ("NVIDIA L40S", "l40s"),
    ],
)
def test_a_card_is_known_by_the_names_in_use(written: str, key: str) -> None:
    assert card_memory(written).name == key


def test_every_card_is_known_by_its_product_label_and_its_aliases() -> None:
    for key, card in cards().items():
        for name in (key, card.product, *card.aliases):
            assert card_memory(name).gib == pytest.approx(card.memory_gib, rel=0.02), (key, name)


@pytest.mark.parametrize(
    "written",
    ["a100-sxm4-80gb 3g.40gb", "NVIDIA-A100-SXM4-80GB-MIG-3g.40gb", "A100 80GB MIG 3g.40gb", "A100-80GB mig-3G.40GB"],
)
def test_a_mig_instance_is_read_from_any_spelling(written: str) -> None:
    found = card_memory(written)
    assert found.instance
    assert 38 < found.gib < 41


def test_instances_with_media_engines_have_the_memory_of_the_plain_ones() -> None:
    assert card_memory("a100-sxm4-80gb 1g.10gb+me") == card_memory("a100-sxm4-80gb 1g.10gb")


def test_a_card_that_cannot_be_split_says_so() -> None:
    with pytest.raises(UnknownCardError, match="cannot be split"):
        card_memory("rtx-4090 1g.10gb")


def test_a_profile_that_the_card_lacks_is_refused_with_those_that_it_has() -> None:
    with pytest.raises(UnknownCardError, match=r"no MIG profile 5g\.50gb; it has 1g\.10gb"):
        card_memory("a100-sxm4-80gb 5g.50gb")


def test_memory_that_was_read_counts_and_a_nominal_size_is_corrected() -> None:
    assert card_memory("H100", 79.19).gib == 79.19
    assert card_memory("H100", 80).gib == pytest.approx(79.2, abs=0.1)
    assert card_memory("A100", 40).name.startswith("a100-sxm4-40gb")


def test_an_unknown_card_needs_its_memory_and_gets_a_wider_bound() -> None:
    with pytest.raises(UnknownCardError, match="is no card of the catalogue"):
        card_memory("Unheard Of 9000")
    found = card_memory("Unheard Of 9000", 48)
    assert 46 < found.gib < 48
    assert found.spread > card_memory("RTX 4090").spread
    with pytest.raises(UnknownCardError, match="neither"):
        card_memory(None)


@pytest.mark.parametrize(
    ("written", "bytes_per_weight"),
    [
        ("fp8", 1.0), ("FP8-dynamic", 1.0), ("fp8_block", 1 + 4 / 16384), ("awq", 0.5 + 2.5 / 128),
        ("GPTQ-Int4", 0.5 + 2 / 128), ("w4a16-gptq", 0.5 + 2 / 128), ("gptq-int8", 1 + 2 / 128), ("mxfp4", 4.25 / 8),
        ("nvfp4", 4.5 / 8), ("bitsandbytes", 0.5 + 1 / 64), ("Q4_K_M", 4.85 / 8), ("q8-0", 8.5 / 8),
    ],
)  # fmt: skip
def test_a_format_is_known_by_the_names_in_use(written: str, bytes_per_weight: float) -> None:
    assert format_named(written).bytes_per_weight == pytest.approx(bytes_per_weight)


@pytest.mark.parametrize("written", [None, "", "none", "bf16", "bfloat16", "float16", "auto"])
def test_sixteen_bits_are_no_quantisation(written: str | None) -> None:
    assert format_named(written) is PLAIN


def test_a_format_of_unknown_size_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownFormatError, match=r"known are .*awq.* and none"):
        format_named("fp3")
    with pytest.raises(UnknownFormatError, match="known are auto, fp8"):
        cache_bytes("fp3", 2)


@pytest.mark.parametrize(
    ("model", "written"),
    [("Qwen/Qwen3-8B-AWQ", "AWQ"), ("x/Llama-3.1-8B-Instruct-quantized.w4a16", "w4a16"), ("Qwen/Qwen3-8B", None)],
)
def test_a_models_name_tells_its_format(model: str, written: str | None) -> None:
    assert format_in_name(model) == written


@pytest.mark.parametrize(("written", "size"), [(None, 2), ("auto", 2), ("fp8_e4m3", 1), ("int8", 1), ("nvfp4", 0.5625)])
def test_a_cache_type_has_its_size(written: str | None, size: float) -> None:
    assert cache_bytes(written, 2) == size
