#!/usr/bin/env bash
# torchtitan, llama-3-70b on 1,024 GPUs: run it on each of 128 nodes with 8.
torchrun \
  --nnodes 128 \
  --nproc-per-node 8 \
  --rdzv-backend c10d \
  -m torchtitan.train \
  --job.config_file train.toml
