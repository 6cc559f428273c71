"""How much a request may send: a larger body is refused from its first line, or as soon as it grows too long."""

from fastapi import HTTPException, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.json_text import sentence_of, too_large
from app.web import error
from engine.units import MB

BODY_BYTES = int(MB)


class BodyLimit:
    """Refuses bodies over BODY_BYTES without holding them in memory, whether they say their length or not."""

    def __init__(self, app: ASGIApp, limit: int = BODY_BYTES):
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif self._said(scope) > self.limit:
            await error(Request(scope), 413, self._sentence)(scope, receive, send)
        else:
            await self.app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        read = 0

        async def receive_within_limit() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.limit:
                raise HTTPException(413, self._sentence)
            return message

        return receive_within_limit

    @property
    def _sentence(self) -> str:
        return sentence_of(too_large(self.limit))

    @staticmethod
    def _said(scope: Scope) -> int:
        """The length the request announces; 0 where it announces none that is a number.   [bytes]"""
        text = dict(scope["headers"]).get(b"content-length", b"")
        return int(text) if text.isdigit() and len(text) < 20 else 0
