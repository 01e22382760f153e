"""One connection of the API: uvicorn's, which tells the door what it waits for, and ends when the door says so."""

from http import HTTPStatus
from typing import Any, Literal, cast

import h11
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from api.addresses import Proxies, counted_as, plain
from api.door import PIECE, PROXY, Door
from api.errors import BusyError
from api.problems import problem, problem_of


def _whole(answer: Response) -> bytes:
    """The answer as it is sent, the last of its connection."""
    status = f"{answer.status_code} {HTTPStatus(answer.status_code).phrase}".encode()
    headers = b"".join(b"%s: %s\r\n" % header for header in answer.raw_headers)
    return b"HTTP/1.1 %s\r\n%sconnection: close\r\n\r\n%s" % (status, headers, bytes(answer.body))


LATE = _whole(problem(408, "too-slow", "Request Timeout", "it came too slowly; send it again, whole and at once"))
"""To who is too slow."""
BUSY = _whole(problem_of(BusyError("as many requests wait for the service as may; come again soon", 2)))
"""To who comes while too many wait."""

Phase = Literal["head", "body", "served", "rest"]
"""What it brings, that its request is being served, or that there is none."""


class Connection(H11Protocol):
    """`protocol_of` makes the class with its door, of which uvicorn makes the connections."""

    door: Door
    proxies: Proxies
    brought = b""
    """What the process in front has read of it."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.host = "unknown"
        self._phase: Phase = "head"
        self._brought = 0
        self._unread = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self.client is not None:
            self.client = plain(self.client[0]), self.client[1]
            self.host = PROXY if self.client[0] in self.proxies else counted_as(self.client[0])
        self.door.enter(self)
        if self.brought:
            self.data_received(self.brought)
            self.brought = b""

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._enter("head")  # more of a head is no progress: it is small, and comes at once
            return
        self._brought += len(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.transport.get_write_buffer_size()
        self.door.stall(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.door.flow(self)

    def _look(self) -> None:
        """See in which phase it is."""
        state = self.conn.their_state
        if state is h11.SEND_BODY and not self.transport.is_closing():
            self._enter("body", again=self._brought >= PIECE)
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            self._enter("head")
        else:
            self._enter("served" if self._is_served() else "rest")

    def _enter(self, phase: Phase, *, again: bool = False) -> None:
        if phase == self._phase and not again:
            return
        self._phase, self._brought = phase, 0
        if phase == "served":
            self.door.serve(self)
        elif phase == "rest":
            self.door.rest(self)
        else:
            self.door.expect(self)

    def _is_served(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        return cycle is not None and not cycle.response_complete

    def is_held(self) -> bool:
        return self.flow.read_paused or (self._is_served() and self.cycle.waiting_for_100_continue)

    def took_some(self) -> bool:
        left, before = self.transport.get_write_buffer_size(), self._unread
        self._unread = left
        return left <= before - PIECE

    def send_away(self, *, late: bool) -> None:
        if late and self._may_answer():
            self.transport.write(LATE)
            self.transport.close()
        elif self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _may_answer(self) -> bool:
        """Whether it has sent part of a request, and has no part of an answer yet."""
        begun = self._phase == "body" or bool(self.conn.trailing_data[0])
        return begun and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE)


def protocol_of(door: Door, proxies: Proxies) -> type[Connection]:
    """The class of the connections at one door."""
    return type("ConnectionAtDoor", (Connection,), {"door": door, "proxies": proxies})
