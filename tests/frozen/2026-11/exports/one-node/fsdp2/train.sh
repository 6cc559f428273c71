#!/usr/bin/env bash
# FSDP2 (accelerate), llama-3-8b on 8 GPUs: run it on one node with 8.
accelerate launch --config_file accelerate.yaml \
  train.py
