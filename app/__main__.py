"""`python -m app`: the same as `shardboard`."""

import sys

from app.cli.main import main

sys.exit(main())
