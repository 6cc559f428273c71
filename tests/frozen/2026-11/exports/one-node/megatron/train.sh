#!/usr/bin/env bash
# Megatron-LM, llama-3-8b on 8 GPUs: run it on one node with 8.
# not said by these options: stack = fsdp2
# not said by these options: training.tokens = 1e+11
torchrun \
  --standalone \
  --nproc-per-node 8 \
  pretrain_gpt.py \
  --num-layers 32 \
  --hidden-size 4096 \
  --num-attention-heads 32 \
  --ffn-hidden-size 14336 \
  --kv-channels 128 \
  --vocab-size 128256 \
  --swiglu \
  --disable-bias-linear \
  --normalization RMSNorm \
  --untie-embeddings-and-output-weights \
  --position-embedding-type rope \
  --max-position-embeddings 8192 \
  --group-query-attention \
  --num-query-groups 8 \
  --seq-length 8192 \
  --tensor-model-parallel-size 1 \
  --pipeline-model-parallel-size 1 \
  --context-parallel-size 1 \
  --micro-batch-size 1 \
  --global-batch-size 64 \
  --train-iters 190735 \
  --overlap-grad-reduce \
  --use-distributed-optimizer \
  --overlap-param-gather \
  --use-megatron-fsdp \
  --data-parallel-sharding-strategy optim_grads_params \
  --ckpt-format fsdp_dtensor \
  --no-gradient-accumulation-fusion \
  --bf16 \
  --attention-dropout 0.0 \
  --hidden-dropout 0.0 \
  --no-create-attention-mask-in-dataloader \
  --mock-data \
  --tokenizer-type NullTokenizer \
  --lr 1e-4
