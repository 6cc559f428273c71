#!/usr/bin/env bash
# FSDP2 (accelerate), llama-3-405b on 16,384 GPUs: run it on each of 2,048 nodes with 8.
accelerate launch --config_file accelerate.yaml \
  --machine_rank "${SLURM_NODEID:?the number of this node, from 0}" \
  --main_process_ip "${PET_RDZV_ENDPOINT%%:*}" \
  --main_process_port 29500 \
  train.py
