"""`-m app.demo.worker`, as the README of 0.1 had it: the same as `-m app.runner.worker`."""

import sys

from app.runner.worker import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
