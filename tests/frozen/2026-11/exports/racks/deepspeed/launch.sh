#!/usr/bin/env bash
# The same by DeepSpeed's own launcher, from one node.
deepspeed \
  --num_nodes 16 \
  --num_gpus 72 \
  --hostfile hostfile \
  train.py --deepspeed --deepspeed_config ds_config.json
