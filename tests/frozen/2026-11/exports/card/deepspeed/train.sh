#!/usr/bin/env bash
# DeepSpeed, llama-3-70b on 1,024 GPUs: run it on each of 128 nodes with 8.
torchrun \
  --nnodes 128 \
  --nproc-per-node 8 \
  --rdzv-backend c10d \
  train.py --deepspeed --deepspeed_config ds_config.json
