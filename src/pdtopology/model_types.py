"""What vLLM and transformers know of a `model_type` that its config.json need not say."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MLA_MODEL_TYPES = _names(
    """
    axk1 bailing_hybrid bailing_hybrid_mtp bailing_hybrid_v3_mtp deepseek_mtp deepseek_v2 deepseek_v3 deepseek_v32
    deepseek_v4 deepseek_v41 dots3_note glm4_moe_lite glm4_moe_lite_mtp glm5_next glm5_next_text glm_moe_dsa hy_v4
    hy_v4_mtp k3_dspark kimi_k2 kimi_linear longcat_flash pangu_ultra_moe pangu_ultra_moe_mtp
    """
)
"""Types that vLLM 0.32 and 0.33 serve with one latent head: `is_deepseek_mla`. Earlier releases know fewer of them."""

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
