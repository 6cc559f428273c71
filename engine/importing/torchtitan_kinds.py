"""torchtitan's settings: what is read, what acts but has no place here, what is harmless, and names of old."""

from engine.importing.kinds import Kinds

ACTS = {
    "model.name": "model",
    "model.flavor": "model",
    "model.converters": "precision",
    "training.local_batch_size": "layout.micro_batch",
    "training.global_batch_size": "layout.micro_batches",
    "training.seq_len": "sequence_tokens",
    "training.steps": "training.tokens",
    "training.dtype": "precision",
    "training.mixed_precision_param": "precision",
    "training.mixed_precision_reduce": "layout.gradient_bytes",
    "parallelism.data_parallel_replicate_degree": "layout.hsdp_shard",
    "parallelism.data_parallel_shard_degree": "layout.dp",
    "parallelism.fsdp_reshard_after_forward": "layout.zero",
    "parallelism.tensor_parallel_degree": "layout.tp",
    "parallelism.context_parallel_degree": "layout.cp",
    "parallelism.expert_parallel_degree": "layout.ep",
    "parallelism.expert_tensor_parallel_degree": "layout.ep",
    "parallelism.pipeline_parallel_degree": "layout.pp",
    "parallelism.pipeline_parallel_schedule": "layout.schedule",
    "parallelism.pipeline_parallel_microbatch_size": "layout.micro_batch",
    "parallelism.pipeline_parallel_layers_per_stage": "layout.vp",
    "parallelism.pipeline_parallel_first_stage_less_layers": "layout.vp",
    "parallelism.pipeline_parallel_last_stage_less_layers": "layout.vp",
    "activation_checkpoint.mode": "layout.recompute",
    "activation_checkpoint.selective_ac_option": "layout.recompute",
    "compile.enable": "stack",
}
WARNED = {
    "training.enable_cpu_offload": "weights, gradients and optimizer state stand in host memory: less memory, a longer step",
    "parallelism.enable_async_tensor_parallel": "tensor-parallel traffic runs beside products: a shorter step",
    "parallelism.enable_compiled_autograd": "the backward pass is compiled otherwise",
    "parallelism.disable_loss_parallel": "each rank holds the logits of the whole vocabulary: more memory",
    "parallelism.module_fqns_per_model_part": "layers are dealt to stages by name; this board deals them as evenly as they go",
    "parallelism.pipeline_parallel_split_points": "layers are dealt to stages by name; this board deals them as evenly as they go",
    "parallelism.pipeline_parallel_schedule_csv": "the order of passes stands in another file",
    "optimizer.name": "another optimizer has other state; AdamW's is counted",
    "optimizer.early_step_in_backward": "the optimizer steps inside the backward pass: gradients are not all kept",
    "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns": "some products are computed again: less memory, more work",
    "activation_checkpoint.memory_budget": "how much is computed again is left to the compiler",
    "quantize.linear.float8.enable_fsdp_float8_all_gather": "weights are gathered in FP8: half the bytes of the gather",
    "float8.enable_fsdp_float8_all_gather": "weights are gathered in FP8: half the bytes of the gather",
    "quantize.grouped_mm.float8.fqns": "experts compute in FP8: a shorter step",
    "quantize.grouped_mm.mx.fqns": "experts compute in MXFP8: a shorter step",
    "fault_tolerance.enable": "replicas come and go while the run goes on",
    "training.max_norm_per_group": "gradients are clipped otherwise",
}
HARMLESS = (
    r"job\..*|profiling\..*|metrics\..*|lr_scheduler\..*|checkpoint\..*|comm\..*|memory_estimation\..*|validation\..*|debug\..*",
    r"optimizer\.(lr|eps|beta1|beta2|weight_decay|implementation|swap_lr.*)|fault_tolerance\..*|model\.(hf_assets_path|tokenizer_path)",
    r"model\.(norm_type|tokenizer_.*|print_after_conversion)|training\.(dataset.*|max_norm|gc_freq|gc_debug|seed|deterministic|warmup_steps)",
    r"compile\..*|activation_checkpoint\..*|quantize\..*|float8\..*|mx\..*|parallelism\.context_parallel_rotate_method",
    r"experimental\.(custom_import|custom_args_module)|training\.debug.*",
)
SPELLINGS = {
    "training.batch_size": "training.local_batch_size",
    "training.compile": "compile.enable",
    "training.tensor_parallel_degree": "parallelism.tensor_parallel_degree",
    "training.data_parallel_degree": "parallelism.data_parallel_shard_degree",
    "training.data_parallel_shard_degree": "parallelism.data_parallel_shard_degree",
    "training.data_parallel_replicate_degree": "parallelism.data_parallel_replicate_degree",
    "training.fsdp_reshard_after_forward": "parallelism.fsdp_reshard_after_forward",
    "training.enable_async_tensor_parallel": "parallelism.enable_async_tensor_parallel",
    "experimental.enable_async_tensor_parallel": "parallelism.enable_async_tensor_parallel",
    "experimental.pipeline_parallel_degree": "parallelism.pipeline_parallel_degree",
    "experimental.context_parallel_degree": "parallelism.context_parallel_degree",
    "experimental.pipeline_parallel_schedule": "parallelism.pipeline_parallel_schedule",
    "experimental.pipeline_parallel_microbatch_size": "parallelism.pipeline_parallel_microbatch_size",
    "experimental.pipeline_parallel_split_points": "parallelism.pipeline_parallel_split_points",
}
OFF = {"optimizer.name": "AdamW"}

KINDS = Kinds(ACTS, WARNED, HARMLESS, SPELLINGS, OFF)
