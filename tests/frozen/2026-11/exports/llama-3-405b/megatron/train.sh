#!/usr/bin/env bash
# Megatron-LM, llama-3-405b on 16,384 GPUs: run it on each of 2,048 nodes with 8.
# not said by these options: training.tokens = 1.5e+13
CUDA_DEVICE_MAX_CONNECTIONS=1 \
torchrun \
  --nnodes 2048 \
  --nproc-per-node 8 \
  --rdzv-backend c10d \
  pretrain_gpt.py \
  --num-layers 126 \
  --hidden-size 16384 \
  --num-attention-heads 128 \
  --ffn-hidden-size 53248 \
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
  --pipeline-model-parallel-size 16 \
  --context-parallel-size 2 \
  --sequence-parallel \
  --num-virtual-stages-per-pipeline-rank 8 \
  --account-for-embedding-in-pipeline-split \
  --account-for-loss-in-pipeline-split \
  --micro-batch-size 1 \
  --global-batch-size 2048 \
  --train-iters 894070 \
  --overlap-grad-reduce \
  --use-distributed-optimizer \
  --overlap-param-gather \
  --bf16 \
  --grad-reduce-in-bf16 \
  --attention-dropout 0.0 \
  --hidden-dropout 0.0 \
  --no-create-attention-mask-in-dataloader \
  --mock-data \
  --tokenizer-type NullTokenizer \
  --lr 1e-4
