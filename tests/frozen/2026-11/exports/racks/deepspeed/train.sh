#!/usr/bin/env bash
# DeepSpeed, llama-3-70b on 1,152 GPUs: run it on each of 16 nodes with 72.
torchrun \
  --nnodes 16 \
  --nproc-per-node 72 \
  --rdzv-backend c10d \
  train.py --deepspeed --deepspeed_config ds_config.json
