"""Where things lie, and the few choices an installation may make by environment variables."""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import platformdirs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent  # what `python -m app…` is started in: it holds the packages app and engine
CHECKOUT = (ROOT / "pyproject.toml").is_file()  # else a wheel, which carries templates and static inside app
BESIDE = ROOT if CHECKOUT else HERE
CACHE = ROOT / ".cache" if CHECKOUT else platformdirs.user_cache_path("shardboard", appauthor=False)
DATA = ROOT / ".data" if CHECKOUT else platformdirs.user_data_path("shardboard", appauthor=False)


@dataclass(frozen=True)
class Settings:
    """The places this installation reads from and writes to.

    templates   Jinja templates
    static      our own CSS, JS and icons
    cache       everything that can be made again: SHARDBOARD_CACHE, or .cache of a checkout, or the user's cache folder
    data        what visitors have made and may come back to: SHARDBOARD_DATA, or .data, or the user's data folder
    live_demos  whether visitors may start processes: SHARDBOARD_DEMOS=off shows recorded runs only, for public hosting
    hosts       names this server answers to beside those of where it is bound: SHARDBOARD_HOSTS, with commas between
    """

    templates: Path = BESIDE / "templates"
    static: Path = BESIDE / "static"
    cache: Path = CACHE
    data: Path = DATA
    live_demos: bool = True
    hosts: tuple[str, ...] = ()


@lru_cache
def settings() -> Settings:
    """The settings of this process, read once.

    >>> settings().templates.name
    'templates'
    """
    return Settings(
        cache=Path(os.environ.get("SHARDBOARD_CACHE", CACHE)),
        data=Path(os.environ.get("SHARDBOARD_DATA", DATA)),
        live_demos=os.environ.get("SHARDBOARD_DEMOS", "on").lower() not in ("off", "0", "no", "false"),
        hosts=tuple(filter(None, map(str.strip, os.environ.get("SHARDBOARD_HOSTS", "").split(",")))),
    )
