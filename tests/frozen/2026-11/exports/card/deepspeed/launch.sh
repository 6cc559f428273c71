#!/usr/bin/env bash
# The same by DeepSpeed's own launcher, from one node.
deepspeed \
  --num_nodes 128 \
  --num_gpus 8 \
  --hostfile hostfile \
  train.py --deepspeed --deepspeed_config ds_config.json
