"""`python -m app`: the same as `shardboard`."""

import sys

from app.cli import main

sys.exit(main())
