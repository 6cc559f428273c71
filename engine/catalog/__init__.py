"""What is known from outside: GPUs, clusters, models, measured kernels and fitted factors, each with its source."""
