#!/usr/bin/env bash
# Megatron-LM, llama-3-70b on 1,024 GPUs: run it on each of 128 nodes with 8.
# not said by these options: training.tokens = 1.5e+13
CUDA_DEVICE_MAX_CONNECTIONS=1 \
torchrun \
  --nnodes 128 \
  --nproc-per-node 8 \
  --rdzv-backend c10d \
  pretrain_gpt.py \
  --num-layers 80 \
  --hidden-size 8192 \
  --num-attention-heads 64 \
  --ffn-hidden-size 28672 \
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
  --tensor-model-parallel-size 8 \
  --pipeline-model-parallel-size 4 \
  --context-parallel-size 1 \
  --sequence-parallel \
  --micro-batch-size 1 \
  --global-batch-size 512 \
  --train-iters 3576279 \
  --overlap-grad-reduce \
  --use-distributed-optimizer \
  --overlap-param-gather \
  --bf16 \
  --attention-dropout 0.0 \
  --hidden-dropout 0.0 \
  --no-create-attention-mask-in-dataloader \
  --mock-data \
  --tokenizer-type NullTokenizer \
  --lr 1e-4
