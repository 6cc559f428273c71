#!/usr/bin/env bash
# torchtitan, llama-3-8b on 8 GPUs: run it on one node with 8.
torchrun \
  --standalone \
  --nproc-per-node 8 \
  -m torchtitan.train \
  --job.config_file train.toml
