"""What may differ between two runs of the same code, replaced; everything else is left as it was sent."""

import re

# The first ten digits of a file's digest: they change with the file, which is compared itself.
ASSET = re.compile(r"([\w-]+)\.[0-9a-f]{10}\.(js|css|svg|woff2)\b")
# sse-starlette writes the time of day into a comment that only keeps the connection open.
PING = re.compile(r"^: ?ping - .*\r?\n(?:\r?\n)?", re.MULTILINE)


class Normaliser:
    """Replaces asset hashes, pings, and the names of runs, which secrets.token_urlsafe draws: each is learnt from the
    redirect that tells it, so nothing that only looks like one is touched. What was replaced can be asked for again.

    >>> text = Normaliser(); text.learn("eD-ou2TxdEEB", "RUN-ddp")
    >>> text('<a href="/demos/runs/eD-ou2TxdEEB"><link href="/assets/board.609118e404.css">')
    '<a href="/demos/runs/RUN-ddp"><link href="/assets/board.HASH.css">'
    >>> text.real("/assets/board.HASH.css")
    '/assets/board.609118e404.css'
    """

    def __init__(self) -> None:
        self.drawn: dict[str, str] = {}
        self.hashed: dict[str, str] = {}

    def learn(self, drawn: str, name: str) -> None:
        """`drawn` is random: write `name` instead."""
        self.drawn[drawn] = name

    def __call__(self, text: str) -> str:
        for drawn, name in self.drawn.items():
            text = text.replace(drawn, name)
        return PING.sub("", ASSET.sub(self._unhashed, text))

    def _unhashed(self, found: re.Match[str]) -> str:
        name = f"{found[1]}.HASH.{found[2]}"
        self.hashed[name] = found[0]
        return name

    def real(self, address: str) -> str:
        """An address as the program knows it."""
        for drawn, name in self.drawn.items():
            address = re.sub(rf"(?<=/){re.escape(name)}(?=[/?]|$)", drawn, address)
        return re.sub(r"[\w-]+\.HASH\.\w+", lambda found: self.hashed.get(found[0], found[0]), address)
