"""A connection whose request never gets to its end: uvicorn alone would keep it for ever.

How long the body of a request may take is known to the application: see app/web/limits.py.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_S = 20.0  # to send the first line and the headers of a request, from the first byte or the connection on
TOO_LONG = "Invalid HTTP request received."  # what uvicorn says of a line that its parser does not take
SENTENCE = "This request cannot be read: it is no HTTP, or its address is longer than the 64 kB that are read."


class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # whichever parser is installed
    """Closes a connection that has not said within HEAD_S what it wants."""

    cycle: Any  # of uvicorn: the request being answered
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._calm()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        super().send_400_response(SENTENCE if msg == TOO_LONG else msg)  # type: ignore[misc]

    def _watch(self) -> None:
        """Waits while a request is half said; not while one is answered, which ends with a time-out of uvicorn's own."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._calm()
        elif self.closing is None:
            self.closing = self.loop.call_later(HEAD_S, self.transport.close)

    def _calm(self) -> None:
        if self.closing is not None:
            self.closing.cancel()
            self.closing = None
