"""How much a request may send, and how long it may take to: what is larger or slower is refused in a sentence."""

import asyncio

from fastapi import HTTPException, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.json_text import sentence_of, too_large
from app.web.render import error
from engine.language.units import MB

BODY_BYTES = int(MB)
DISCARDED_BYTES = int(32 * MB)
DISCARDED_S = 5.0
PIECE_S, WHOLE_S = 10.0, 30.0  # that one piece of a body may take, and all of it
SLOW = f"The request stopped before its end: a piece may take {PIECE_S:.0f} s to come, all of it {WHOLE_S:.0f} s."


class BodyLimit:
    """Refuses bodies over BODY_BYTES without holding them in memory, whether they say their length or not, and those
    that stop coming.

    The refusal leaves at once. Most clients read it only after they have sent everything, so what still comes is
    thrown away for a while before the connection closes.
    """

    def __init__(self, app: ASGIApp, limit: int = BODY_BYTES):
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _Counted(receive, self.limit)
        if _said_bytes(scope) > self.limit:
            body.refused = True
            await error(Request(scope), 413, body.sentence)(scope, receive, body.then_discard(send))
        else:
            await self.app(scope, body.receive, body.then_discard(send))


class _Counted:
    """A request's body, counted as it comes."""

    def __init__(self, receive: Receive, limit: int):
        self.source, self.limit, self.read, self.refused, self.ended = receive, limit, 0, False, False
        self.until = 0.0

    @property
    def sentence(self) -> str:
        return sentence_of(too_large(self.limit))

    async def receive(self) -> Message:
        message = await self._next()
        self.read += len(message.get("body", b""))
        self.ended = not message.get("more_body", False)
        if self.read > self.limit:
            self.refused = True
            raise HTTPException(413, self.sentence)
        return message

    async def _next(self) -> Message:
        """What comes next. Once the body is whole, that is the end of the connection, and may take as long as it likes."""
        if self.ended:
            return await self.source()
        loop = asyncio.get_running_loop()
        self.until = self.until or loop.time() + WHOLE_S
        try:
            async with asyncio.timeout_at(min(loop.time() + PIECE_S, self.until)):
                return await self.source()
        except TimeoutError:
            raise HTTPException(408, SLOW, {"Connection": "close"}) from None

    def then_discard(self, send: Send) -> Send:
        """Sends the answer; after a refusal, ends it only when the rest of the body is gone."""

        async def send_and_discard(message: Message) -> None:
            last = message["type"] == "http.response.body" and not message.get("more_body", False)
            if not (last and self.refused):
                await send(message)
                return
            await send({**message, "more_body": True})
            await self._discard()
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        return send_and_discard

    async def _discard(self) -> None:
        thrown = 0
        try:
            async with asyncio.timeout(DISCARDED_S):
                while thrown < DISCARDED_BYTES and not self.ended:
                    message = await self.source()
                    thrown += len(message.get("body", b""))
                    self.ended = not message.get("more_body", False)
        except TimeoutError:
            return


def _said_bytes(scope: Scope) -> int:
    """The length the request announces; 0 where it announces none that is a number.   [bytes]"""
    text = dict(scope["headers"]).get(b"content-length", b"")
    return int(text) if text.isdigit() and len(text) < 20 else 0
