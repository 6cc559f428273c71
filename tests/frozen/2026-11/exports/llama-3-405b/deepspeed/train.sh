#!/usr/bin/env bash
# DeepSpeed, llama-3-405b on 16,384 GPUs: run it on each of 2,048 nodes with 8.
torchrun \
  --nnodes 2048 \
  --nproc-per-node 8 \
  --rdzv-backend c10d \
  train.py --deepspeed --deepspeed_config ds_config.json
