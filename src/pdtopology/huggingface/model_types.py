"""What vLLM and transformers know of a `model_type` that its config.json need not say."""

from __future__ import annotations

from collections.abc import Mapping

from pdtopology.releases import Release, nearest_known


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MLA_SINCE: Mapping[Release, frozenset[str]] = {
    (0, 26): _names(
        """
        axk1 bailing_hybrid bailing_hybrid_mtp deepseek_mtp deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4
        glm4_moe_lite glm4_moe_lite_mtp glm_moe_dsa kimi_k2 kimi_linear longcat_flash longcat_flash_ngram
        pangu_ultra_moe pangu_ultra_moe_mtp
        """
    ),
    (0, 28): _names("bailing_hybrid_v3_mtp dots3_note k3_dspark"),
    (0, 30): _names("deepseek_v41 glm5_next glm5_next_text hy_v4 hy_v4_mtp"),
}
_MLA_UNTIL: Mapping[str, Release] = {"longcat_flash_ngram": (0, 32)}


def mla_model_types(release: Release) -> frozenset[str]:
    """The types that a vLLM release serves with one latent head.

    They are the list in `is_deepseek_mla` of 0.26, 0.28, 0.30, 0.32 and 0.33; a release outside that range has the
    nearest one's.
    """
    release = nearest_known(release)
    known = {name for since, names in _MLA_SINCE.items() if since <= release for name in names}
    return frozenset(known - {name for name, until in _MLA_UNTIL.items() if until <= release})


WHOLE_HEADS_MODEL_TYPES = _names("axk2 hy_v4_vl_text minicpm3 mistral4 mistral_large4_text sarvam_mla youtu")
"""Types that have a `kv_lora_rank` and that vLLM 0.33 nevertheless serves with a cache of whole heads."""

OWN_KV_HEADS_MODEL_TYPES = _names(
    """
    axk1 axk2 bailing_hybrid bamba beam bitnet canary_decoder chameleon cosmos3_edge_text csm
    csm_depth_decoder_model cwm dbrx deepseek_ocr2_encoder deepseek_v3 deepseek_v32 deepseek_v4 dia_decoder
    dia_encoder diffusion_gemma_text dory dots1 embedding_gemma2_text emu3_text_model ernie4_5 ernie4_5_moe
    ernie4_5_vl_moe_text evolla exaone exaone4 exaone4_5_vision exaone_moe falcon_h1 flint gemma gemma2 gemma3_text
    gemma3n_text gemma4_text gemma4_unified_text gemma4_vision glm glm4 glm4_moe glm4_moe_lite glm4v_moe_text
    glm4v_text glm_image_text glm_moe_dsa glm_ocr_text gpt_bigcode gpt_oss granite_docling_text granite_swa helium
    higgs_audio_v2 hy_v3 inkling2_loop_text inkling2_text inkling_text internlm3 iquestcoder jamba jetmoe
    kimi_linear kolibri1 laguna lara_mini lfm2 lfm2_moe lfm3 lfm3_vl_vision llama4_text mellum mimi mimi_decoder
    mimi_encoder mimo_v2_flash minicpm3 minimax minimax_m2 minimax_m3_vl_text ministral ministral3 mistral mistral4
    mistral_large4_text mixtral mllama_text_model molmo2_adapter molmo2_text molmo2_vision moonshine
    moonshine_streaming_encoder muse_glimmer_assistant muse_glimmer_text muse_spark_text nemotron_h neomme neucodec
    openai_privacy_filter paddleocr_vl_text phi4_multimodal phimoe pocket_tts_audio_tokenizer
    pocket_tts_audio_tokenizer_decoder pocket_tts_audio_tokenizer_encoder qwen2 qwen2_5_omni_talker
    qwen2_5_omni_text qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_5_moe_text qwen3_5_text qwen3_moe
    qwen3_next qwen3_omni_moe_talker_code_predictor qwen3_omni_moe_talker_text qwen3_omni_moe_text qwen3_vl_moe_text
    qwen3_vl_text qwen4_exp_text sarvam_moe seed_oss smollm3 solar_open stablelm starcoder2 step3p5 t5_gemma_module
    t5gemma2_decoder t5gemma2_text timesfm2_5 unlimited_ocr_text vaultgemma voxtral_realtime_text xcodec2 youtu
    zamba zaya
    """
)
"""Types whose class in transformers 5.24 has a number of KV heads of its own, where others take the attention heads."""

NUM_HEADS_MODEL_TYPES = _names(
    """
    cohere_compass_vision dinat donut-swin ernie4_5_vl_moe_vision exaone4_5_vision glm4v_moe_vision glm4v_vision
    glm5_next_vision glm_image_vision glm_ocr_vision gpt_neo granite_speech_encoder granite_speech_plus_encoder longt5
    maskformer-swin mt5 pix2struct_text_model pop2piano qwen2_5_omni_vision_encoder qwen2_5_vl_vision qwen2_vl_vision
    qwen3_5_moe_vision qwen3_5_vision qwen3_omni_moe_vision_encoder qwen3_vl_moe_vision qwen3_vl_vision
    qwen4_exp_vision swin swin2sr swinv2 switch_transformers t5 udop umt5
    """
)
"""Types whose `num_heads` are attention heads in transformers 5.24; in mamba2, xlstm and others they are not."""

ATTENTION_FREE_MODEL_TYPES = _names("falcon_mamba mamba mamba2 rwkv xlstm")

MULTI_QUERY_MODEL_TYPES = _names("falcon gpt_bigcode")
"""Types that are `multi_query` unless they say that they are not."""

RECURRENT_MODEL_TYPES = _names(
    """
    bailing_hybrid bamba falcon_h1 glm5_next_text granitemoehybrid jamba kimi_linear lara_mini lfm2_moe lfm3
    lfm3_vl_vision minimax nemotron_h olmo_hybrid qwen3_5_moe_text qwen3_5_text qwen3_next qwen4_exp_text
    recurrent_gemma zamba zamba2
    """
)
"""Types some of whose layers keep a state, by the defaults of transformers 5.24."""

SLIDING_WINDOW_MODEL_TYPES = _names(
    """
    afmoe beam blt_patcher cohere2 cohere2_moe cwm deepseek_v4 diffusion_gemma_text dory dots3_note_text
    embedding_gemma2_text esmfold2 exaone4 exaone_moe flint gemma2 gemma3_text gemma3n_text gemma4_text
    gemma4_unified_text gpt_oss granite_swa granitemoe_swa inkling2_loop_text inkling2_text inkling_text kolibri1
    kyutai_speech_to_text lara_mini lfm3 mimi mimi_decoder mimi_encoder mimo_v2_flash ministral mistral modernbert
    modernbert-decoder moshi moshi_depth muse_glimmer_assistant muse_glimmer_text muse_spark_text
    nemotron_asr_streaming_encoder neomme olmo3 openai_privacy_filter pocket_tts_audio_tokenizer
    pocket_tts_audio_tokenizer_decoder pocket_tts_audio_tokenizer_encoder t5_gemma_module t5gemma2_decoder
    t5gemma2_text ultrabert unlimited_ocr_text vaultgemma voxtral_realtime_encoder voxtral_realtime_text
    """
)
"""Types some of whose layers have a sliding window, by the defaults of transformers 5.24."""

OPTIONAL_WINDOW_MODEL_TYPES = _names(
    """
    deepseek_ocr2_encoder qwen2 qwen2_5_omni_talker qwen2_5_omni_text qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3
    qwen3_moe smollm3
    """
)
"""Types whose `sliding_window` is unused unless `use_sliding_window` is true, by the defaults of transformers 5.24."""
