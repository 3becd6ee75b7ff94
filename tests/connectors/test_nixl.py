"""NIXL's rules: the verdicts of vLLM's own functions row for row, then each rule's edges."""

from __future__ import annotations

from typing import Any

import pytest

from tests.geometry.vectors import rows
from tests.verdicts import GQA, MLA, holds_its_heads, is_accepted, told

MODES = ("pull", "push")
DS = {"env": {"VLLM_SSM_CONV_STATE_LAYOUT": "DS"}}
WINDOW = {**GQA, "has_sliding_window_layers": True}
MAMBA = {**GQA, "has_mamba_layers": True}
MANAGER_OFF = {"engine_args": {"disable-hybrid-kv-cache-manager": True}}


def pair(
    prefill: Any = None, decode: Any = None, *, model: Any = GQA, version: str | None = None, **connector: Any
) -> dict[str, Any]:
    """A document with two roles over NIXL."""
    return {
        "engine": {"version": version} if version else {},
        "model": model,
        "connector": {"kind": "nixl", **connector},
        "prefill": prefill or {},
        "decode": decode or {},
    }


def tp(size: int, **more: Any) -> dict[str, Any]:
    return {"tensor_parallel_size": size, **more}


def local_and_remote(mode: str, local: Any, remote: Any, **more: Any) -> dict[str, Any]:
    """The role that transfers, decode in pull mode and prefill in push mode, and the other one."""
    roles = (remote, local) if mode == "pull" else (local, remote)
    return pair(*roles, mode=mode, **more)


def test_exactly_the_handshakes_that_vllm_refuses_are_rejected() -> None:
    different = []
    for (prefill, decode, kv_heads, is_mla, mode), result in rows("nixl_handshake_verdict"):
        passes = not isinstance(result, dict) and holds_its_heads(kv_heads, is_mla, prefill, decode)
        document = pair(tp(prefill), tp(decode), model={"total_num_kv_heads": kv_heads, "is_mla": is_mla}, mode=mode)
        if is_accepted(document) is not passes:
            different.append((prefill, decode, kv_heads, is_mla, mode))
    assert different == []


@pytest.mark.parametrize("model", [GQA, MLA], ids=["heads", "MLA"])
@pytest.mark.parametrize("mode", MODES)
def test_exactly_the_block_sizes_that_vllm_refuses_are_rejected(mode: str, model: Any) -> None:
    different = []
    for (local, remote), result in rows("nixl_block_size_ratio"):
        document = local_and_remote(mode, {"block_size": local}, {"block_size": remote}, model=model)
        if is_accepted(document) is isinstance(result, dict):
            different.append((local, remote))
    assert different == []


def test_exactly_the_decode_context_parallel_sizes_that_vllm_refuses_are_rejected() -> None:
    refused: dict[tuple[int, ...], bool] = {}
    for (_, *sizes), result in rows("nixl_dcp"):
        decode_tp, decode_dcp, prefill_tp, prefill_dcp = sizes
        # The handshake asks for the ratio of the TP sizes and of the DCP sizes whatever the ranks are.
        is_uneven = any(max(pair) % min(pair) for pair in ((decode_tp, prefill_tp), (decode_dcp, prefill_dcp)))
        key = tuple(sizes)
        refused[key] = refused.get(key, False) or is_uneven or isinstance(result, dict)
    different = []
    for (decode_tp, decode_dcp, prefill_tp, prefill_dcp), is_refused in refused.items():
        document = pair(
            tp(prefill_tp, decode_context_parallel_size=prefill_dcp),
            tp(decode_tp, decode_context_parallel_size=decode_dcp),
            model=MLA,
        )
        if is_accepted(document) is is_refused:
            different.append((decode_tp, decode_dcp, prefill_tp, prefill_dcp))
    assert different == []


@pytest.mark.parametrize("mode", MODES)
def test_replicated_heads_are_thinned_out_in_a_mamba_model(mode: str) -> None:
    document = local_and_remote(mode, tp(4, **DS), tp(16, **DS), model=MAMBA, version="0.33")
    assert told(document) == ["nixl-mamba-unequal-tp"]


def test_push_before_0_28_checks_both_ways() -> None:
    heads = pair(tp(16), tp(8), mode="push", version="0.26")
    blocks = pair({"block_size": 64}, {"block_size": 16}, mode="push", version="0.26")
    assert told(heads) == ["nixl-push-replicated-prefill"]
    assert told(blocks) == ["nixl-push-block-size"]


def test_push_before_0_28_from_stages_checks_one_way() -> None:
    document = pair(tp(16, pipeline_parallel_size=2, block_size=64), tp(8, block_size=16), mode="push", version="0.26")
    assert is_accepted(document)


LAYOUTS = [
    ("HND", "LBHNC", {}, []),
    ("NHD", "LBNHC", {}, []),
    ("HND", "NHD", {}, ["layout-mismatch"]),
    ("HND", "BLHNC", {}, ["layout-mismatch"]),
    ("NHD", "HND", {}, ["layout-mismatch"]),
    ("NHD", "HND", {"enable_permute_local_kv": True}, []),
    ("HND", "NHD", {"enable_permute_local_kv": True}, ["layout-mismatch"]),
    ("HND", "NHD", {"enable_permute_local_kv": True, "kv_buffer_device": "cpu"}, []),
    ("HND", "NHD", {"kv_buffer_device": "cpu"}, ["layout-mismatch"]),
    ("HND", "BHLNC", {"enable_permute_local_kv": True, "kv_buffer_device": "cpu"}, ["layout-mismatch"]),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("local", "remote", "connector", "expected"), LAYOUTS)
def test_layouts_of_equal_tp_sizes(mode: str, local: str, remote: str, connector: Any, expected: list[str]) -> None:
    document = local_and_remote(mode, {"kv_cache_layout": local}, {"kv_cache_layout": remote}, **connector)
    assert told(document) == [f"nixl-{mode}-{code}" for code in expected]


UNEQUAL_LAYOUTS = [
    ("HND", "HND", {}, True),
    ("BLHNC", "BLHNC", {}, True),
    ("NHD", "NHD", {}, False),
    ("BLNHC", "BLNHC", {}, False),
    ("LHBNC", "LHBNC", {}, False),
    ("BHLNC", "BHLNC", {}, False),
    ("NHD", "HND", {"enable_permute_local_kv": True}, True),
    ("NHD", "NHD", {"enable_permute_local_kv": True}, False),
    ("NHD", "NHD", {"enable_permute_local_kv": True, "kv_buffer_device": "cpu"}, True),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("local", "remote", "connector", "fits"), UNEQUAL_LAYOUTS)
def test_layouts_of_unequal_tp_sizes(mode: str, local: str, remote: str, connector: Any, fits: bool) -> None:
    document = local_and_remote(mode, tp(4, kv_cache_layout=local), tp(2, kv_cache_layout=remote), **connector)
    assert told(document) == ([] if fits else [f"nixl-{mode}-unequal-tp-layout"])


@pytest.mark.parametrize("mode", MODES)
def test_the_layout_of_heads_that_the_remote_side_replicates_does_not_matter(mode: str) -> None:
    roles = tp(32, kv_cache_layout="NHD"), tp(16, kv_cache_layout="NHD")
    assert told(local_and_remote(mode, *roles, version="0.33")) == []


@pytest.mark.parametrize(
    ("model", "role", "fits"),
    [(WINDOW, {}, False), (WINDOW, MANAGER_OFF, True), (GQA, {}, True), (MAMBA, DS, False)],
    ids=["window", "window without the manager", "plain", "mamba"],
)
def test_a_model_with_groups_of_blocks_is_not_permuted(model: Any, role: Any, fits: bool) -> None:
    document = pair(
        {**role, "kv_cache_layout": "HND"},
        {**role, "kv_cache_layout": "NHD"},
        model=model,
        enable_permute_local_kv=True,
    )
    assert told(document) == ([] if fits else ["nixl-pull-layout-mismatch"])


def test_an_mla_model_has_no_layout() -> None:
    assert told(pair(tp(2, kv_cache_layout="NHD"), tp(4, kv_cache_layout="HND"), model=MLA)) == []


@pytest.mark.parametrize("role", ["prefill", "decode"])
def test_a_layout_in_env_is_not_compared(role: str) -> None:
    document = pair({"kv_cache_layout": "HND"}, {"kv_cache_layout": "NHD"})
    document[role]["env"] = {"VLLM_KV_CACHE_LAYOUT": "HND"}
    assert told(document) == []


@pytest.mark.parametrize("mode", MODES)
def test_different_block_sizes_need_a_remote_tp_size_that_is_not_larger(mode: str) -> None:
    roles = tp(2, block_size=64), tp(4, block_size=16)
    assert told(local_and_remote(mode, *roles, version="0.33")) == [f"nixl-{mode}-block-size-unequal-tp"]
    assert told(local_and_remote(mode, *roles, model=MLA, version="0.33")) == []
    assert told(local_and_remote(mode, tp(4, block_size=64), tp(2, block_size=16), version="0.33")) == []


@pytest.mark.parametrize("mode", MODES)
def test_the_block_sizes_of_a_mamba_model_cannot_be_told(mode: str) -> None:
    document = local_and_remote(
        mode, {**DS, "block_size": 16}, {**DS, "block_size": 64}, model=MAMBA, kv_buffer_device="cpu", version="0.26"
    )
    assert told(document) == ["nixl-mamba-block-size"]


def test_host_memory_takes_no_other_block_size_since_0_28() -> None:
    blocks = {"block_size": 16}, {"block_size": 32}
    assert told(pair(*blocks, kv_buffer_device="cpu", version="0.28")) == ["nixl-block-size-host-buffer"]
    assert told(pair(*blocks, kv_buffer_device="cpu", version="0.26")) == []
    assert told(pair(*blocks, kv_buffer_device="cuda", version="0.28")) == []


def test_sliding_windows_took_no_other_block_size_before_0_28() -> None:
    blocks = {"block_size": 16}, {"block_size": 32}
    assert told(pair(*blocks, model=WINDOW, version="0.26")) == ["nixl-block-size-hybrid"]
    assert told(pair(*blocks, model=WINDOW, version="0.28")) == []
    without = [{**role, **MANAGER_OFF} for role in blocks]
    assert told(pair(*without, model=WINDOW, version="0.26")) == []


def test_block_sizes_that_no_role_states_are_those_of_one_engine() -> None:
    assert told(pair()) == []
    assert told(pair({"block_size": 16})) == ["nixl-block-size-one-sided"]


DTYPES = [
    ("fp8", "fp8", [], []),
    (None, None, [], []),
    ("auto", None, [], []),
    ("bfloat16", "fp8", ["mismatch"], ["mismatch"]),
    ("fp8", "fp8_e4m3", ["mismatch"], ["unresolved"]),
    ("fp8", "fp8_ds_mla", ["mismatch"], ["unresolved"]),
    (None, "bfloat16", ["mismatch"], ["unresolved"]),
    (None, "float16", ["mismatch"], ["mismatch"]),
    (None, "fp8", ["unresolved"], ["unresolved"]),
    ("fp8_e4m3", "auto", ["unresolved"], ["unresolved"]),
    (None, "nvfp4", ["unresolved"], ["unresolved"]),
    (None, "fp8_e5m2", ["mismatch"], ["mismatch"]),
    ("octave_k3v4", "octave_k3v3", [], []),
]


@pytest.mark.parametrize(("prefill", "decode", "of_heads", "of_mla"), DTYPES)
def test_the_types_of_the_caches(
    prefill: str | None, decode: str | None, of_heads: list[str], of_mla: list[str]
) -> None:
    roles = [{"kv_cache_dtype": dtype} if dtype else {} for dtype in (prefill, decode)]
    for model, expected in ((GQA, of_heads), (MLA, of_mla)):
        assert told(pair(*roles, model=model)) == [f"nixl-kv-cache-dtype-{code}" for code in expected]


def test_without_the_handshakes_check_a_type_is_only_a_warning() -> None:
    document = pair({"kv_cache_dtype": "bfloat16"}, {"kv_cache_dtype": "fp8"}, enforce_handshake_compat=False)
    assert told(document) == ["nixl-kv-cache-dtype-unchecked"]
    assert is_accepted(document)


def speculating(config: Any, key: str = "speculative-config") -> dict[str, Any]:
    return {"engine_args": {key: config}}


SPECULATION = [
    (speculating({"method": "eagle3"}), speculating({"method": "eagle3"}), True),
    (speculating({"method": "mtp"}), speculating({"method": "deepseek_mtp"}), True),
    (speculating({"method": "eagle"}), speculating({"method": "eagle3"}), False),
    (speculating({"method": "dflash"}), {}, False),
    (speculating({"method": "dspark"}), speculating({"method": "dflash"}), False),
    (speculating({"method": "ngram"}), {}, True),
    (speculating({"method": "ngram"}), speculating({"method": "suffix"}), True),
    (speculating({"method": "ngram"}), speculating({"method": "mtp"}), False),
    (speculating('{"method": "eagle3"}'), speculating({"method": "eagle3"}), True),
    (speculating({"model": "org/draft"}), speculating({"method": "eagle3", "model": "org/draft"}), True),
    (speculating({"method": "eagle3"}, "speculative_config"), speculating({"method": "eagle3"}), True),
    (speculating("eagle3", "spec-method"), speculating({"method": "eagle3"}), True),
    (speculating("org/draft", "spec-model"), speculating({"method": "eagle3"}), True),
]


@pytest.mark.parametrize(("prefill", "decode", "fits"), SPECULATION)
def test_speculative_methods(prefill: Any, decode: Any, fits: bool) -> None:
    for roles in ((prefill, decode), (decode, prefill)):
        assert told(pair(*roles)) == ([] if fits else ["nixl-speculative-method-mismatch"])
        assert told(pair(*roles, version="0.26")) == []
        assert told(pair(*roles, enforce_handshake_compat=False)) == []


@pytest.mark.parametrize("model", [GQA, WINDOW], ids=["plain", "window"])
def test_the_hybrid_manager_is_off_on_both_roles_or_on_neither(model: Any) -> None:
    assert told(pair(MANAGER_OFF, MANAGER_OFF, model=model)) == []
    assert told(pair({}, MANAGER_OFF, model=model)) == ["nixl-hybrid-manager-mismatch"]
    assert told(pair(MANAGER_OFF, {}, model=model)) == ["nixl-hybrid-manager-mismatch"]
    underscored = {"engine_args": {"disable_hybrid_kv_cache_manager": True}}
    assert told(pair(MANAGER_OFF, underscored, model=model)) == []
    assert told(pair({}, MANAGER_OFF, model=model, enforce_handshake_compat=False)) == []


NVFP4 = {"kv_cache_dtype": "nvfp4"}


@pytest.mark.parametrize(
    ("sizes", "model", "fits"),
    [((2, 2), GQA, True), ((2, 4), GQA, False), ((8, 16), GQA, True), ((4, 8), GQA, False), ((2, 4), MLA, True)],
)
def test_a_four_bit_cache_is_not_cut(sizes: tuple[int, int], model: Any, fits: bool) -> None:
    roles = [tp(size, **NVFP4) for size in sizes]
    assert told(pair(*roles, model=model)) == ([] if fits else ["nixl-nvfp4-unequal-heads"])
    assert told(pair(*roles, model=model, version="0.32")) == ([] if fits else ["nixl-nvfp4-sliced"])


PP = {"pipeline_parallel_size": 2}


@pytest.mark.parametrize("mode", MODES)
def test_decode_has_one_stage(mode: str) -> None:
    assert told(pair({}, PP, mode=mode)) == ["nixl-decode-pipeline"]


def test_a_decode_role_that_also_produces_is_not_refused_for_its_stages() -> None:
    document = {**pair({}, PP)}
    document["connector"] = {"kind": "nixl", "decode": {"kv_role": "kv_both"}}
    assert told(document) == ["nixl-decode-pipeline-kv-both"]
    assert is_accepted(document)


STAGES = [
    ("pull", GQA, {}, "0.33", ["nixl-pull-pipeline"]),
    ("push", GQA, {}, "0.26", []),
    ("pull", WINDOW, {}, "0.33", ["nixl-pull-pipeline-hybrid"]),
    ("pull", WINDOW, MANAGER_OFF, "0.33", ["nixl-pull-pipeline"]),
    ("push", WINDOW, {}, "0.30", ["nixl-push-pipeline-hybrid"]),
    ("push", WINDOW, MANAGER_OFF, "0.30", []),
    ("push", WINDOW, {}, "0.32", []),
    ("pull", MAMBA, DS, "0.33", ["nixl-pipeline-mamba"]),
    ("push", MAMBA, DS, "0.33", ["nixl-pipeline-mamba"]),
]


@pytest.mark.parametrize(("mode", "model", "role", "version", "expected"), STAGES)
def test_stages_of_prefill(mode: str, model: Any, role: Any, version: str, expected: list[str]) -> None:
    assert told(pair({**role, **PP}, role, model=model, mode=mode, version=version)) == expected


WINDOW_MLA = {"is_mla": True, "has_sliding_window_layers": True}


@pytest.mark.parametrize(
    ("prefill", "decode", "model", "expected"),
    [
        (tp(2, block_size=32, **PP), tp(2, block_size=16), WINDOW, ["nixl-push-pipeline-block-size"]),
        (tp(2, block_size=32), tp(2, block_size=16), WINDOW, []),
        (tp(2, **PP), tp(4), WINDOW, ["nixl-push-pipeline-tp"]),
        (tp(4, **PP), tp(2), WINDOW, []),
        (tp(2, **PP), tp(4), WINDOW_MLA, []),
        (tp(2), tp(4), WINDOW, []),
    ],
)
def test_stages_that_push_groups_of_blocks(prefill: Any, decode: Any, model: Any, expected: list[str]) -> None:
    assert told(pair(prefill, decode, model=model, mode="push", version="0.33")) == expected


def dcp(tp_size: int, dcp_size: int, pcp_size: int = 1) -> dict[str, Any]:
    return tp(tp_size, decode_context_parallel_size=dcp_size, prefill_context_parallel_size=pcp_size)


MLA_MAMBA = {"is_mla": True, "has_mamba_layers": True}
CONTEXT = [
    (dcp(4, 4), dcp(4, 4), MLA, "pull", []),
    (dcp(1, 1), dcp(4, 2), MLA, "pull", ["nixl-dcp-size"]),
    (dcp(4, 4), dcp(4, 1), MLA, "push", ["nixl-push-dcp"]),
    (dcp(16, 1), dcp(16, 2), GQA, "pull", ["nixl-dcp-needs-mla"]),
    ({**dcp(2, 2), **DS}, {**dcp(4, 4), **DS}, MLA_MAMBA, "pull", ["nixl-dcp-mamba", "nixl-mamba-unequal-tp"]),
    ({**dcp(2, 2), **DS}, {**dcp(2, 2), **DS}, MLA_MAMBA, "pull", []),
    (dcp(1, 1), dcp(1, 1, 2), MLA, "pull", ["nixl-decode-pcp"]),
    (dcp(1, 1, 2), dcp(1, 1), GQA, "push", []),
    (dcp(1, 2, 2), dcp(2, 1), MLA, "pull", []),
    (dcp(2, 2, 2), dcp(2, 1), MLA, "pull", ["nixl-pcp-with-dcp"]),
    (dcp(1, 1, 2), dcp(2, 2), MLA, "pull", ["nixl-pcp-dcp-peer"]),
    (dcp(1, 2, 2), dcp(2, 2), MLA, "pull", []),
]


@pytest.mark.parametrize(("prefill", "decode", "model", "mode", "expected"), CONTEXT)
def test_context_parallel_sizes(prefill: Any, decode: Any, model: Any, mode: str, expected: list[str]) -> None:
    assert sorted(told(pair(prefill, decode, model=model, mode=mode, version="0.33"))) == expected


def test_decode_context_parallelism_before_0_30_is_only_a_warning() -> None:
    document = pair(dcp(1, 1), dcp(4, 2), model=MLA, version="0.28")
    assert told(document) == ["nixl-dcp-unsupported"]


def test_a_prefill_role_that_also_consumes_splits_no_prompts() -> None:
    document = pair(dcp(1, 1, 2), {})
    document["connector"]["prefill"] = {"kv_role": "kv_both"}
    assert told(document) == ["nixl-pcp-kv-both"]


def test_blocks_are_read_both_ways_only_in_pull_mode_and_of_whole_prompts() -> None:
    assert told(pair(bidirectional_kv_xfer=True)) == []
    assert told(pair(bidirectional_kv_xfer=True, mode="push")) == ["nixl-push-bidirectional"]
    assert told(pair(dcp(1, 1, 2), {}, bidirectional_kv_xfer=True)) == ["nixl-pcp-bidirectional"]


@pytest.mark.parametrize(
    ("env", "expected"),
    [({"VLLM_SSM_CONV_STATE_LAYOUT": "DS"}, []), ({"VLLM_SSM_CONV_STATE_LAYOUT": "SD"}, [""]), ({}, ["-unset"])],
)
def test_the_layout_of_mamba_states(env: dict[str, str], expected: list[str]) -> None:
    document = pair(DS, {"env": env}, model=MAMBA)
    assert told(document) == [f"nixl-mamba-conv-state-layout{code}" for code in expected]
    assert told({**document, "model": GQA}) == []


@pytest.mark.parametrize(("role", "kv_role"), [("prefill", "kv_consumer"), ("decode", "kv_producer")])
def test_a_kv_role_that_belongs_to_the_other_role_is_only_a_warning(role: str, kv_role: str) -> None:
    document = pair()
    document["connector"][role] = {"kv_role": kv_role}
    assert told(document) == [f"nixl-{role}-kv-role"]
    assert is_accepted(document)


@pytest.mark.parametrize("kv_role", ["kv_both", None])
def test_a_role_may_do_both(kv_role: str | None) -> None:
    document = pair()
    document["connector"] |= {role: {"kv_role": kv_role} for role in ("prefill", "decode")}
    assert told(document) == []
