"""`-m app.demo.worker`, as the README of 0.1 had it: the same as `shardboard worker`."""

import sys

from app.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["worker", *sys.argv[1:]]))
