#!/usr/bin/env bash
# DeepSpeed, llama-3-8b on 8 GPUs: run it on one node with 8.
torchrun \
  --standalone \
  --nproc-per-node 8 \
  train.py --deepspeed --deepspeed_config ds_config.json
