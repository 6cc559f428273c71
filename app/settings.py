"""Where things lie, and the few choices an installation may make by environment variables."""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Settings:
    """The places this installation reads from and writes to.

    templates   Jinja templates
    static      our own CSS, JS and icons
    cache       everything that can be made again: SHARDBOARD_CACHE, or .cache beside the code
    data        what visitors have made and may come back to: SHARDBOARD_DATA, or .data beside the code
    live_demos  whether visitors may start processes: SHARDBOARD_DEMOS=off shows recorded runs only, for public hosting
    """

    templates: Path = ROOT / "templates"
    static: Path = ROOT / "static"
    cache: Path = ROOT / ".cache"
    data: Path = ROOT / ".data"
    live_demos: bool = True


@lru_cache
def settings() -> Settings:
    """The settings of this process, read once.

    >>> settings().templates.name
    'templates'
    """
    return Settings(
        cache=Path(os.environ.get("SHARDBOARD_CACHE", ROOT / ".cache")),
        data=Path(os.environ.get("SHARDBOARD_DATA", ROOT / ".data")),
        live_demos=os.environ.get("SHARDBOARD_DEMOS", "on").lower() not in ("off", "0", "no", "false"),
    )
