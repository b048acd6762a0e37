"""Starts the studio: one socket on 127.0.0.1, one link to open it, and a clean end that stops running jobs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from incrowd.errors import OutputError
from incrowd.studio.app import application, environment
from incrowd.studio.guard import ADDRESS, MOST_HEADER_BYTES, Guard, Keys
from incrowd.studio.jobs import Jobs
from incrowd.studio.project import Project
from incrowd.studio.studio import Studio

HEADER_SECONDS = 10.0  # in which the headers of a request must arrive
IDLE_SECONDS = 20  # that a connection may be open without a request
MOST_CONNECTIONS = 64


class Impatient(H11Protocol):
    """HTTP, with an end for those who open a connection and do not say what they want."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._first = self.loop.call_later(HEADER_SECONDS, self._end_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        self._first.cancel()
        super().connection_lost(exc)

    def _end_silent(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """A server whose requests end when it ends: streams of events would go on for ever."""

    def __init__(self, config: uvicorn.Config, jobs: Jobs) -> None:
        super().__init__(config)
        self._jobs = jobs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._jobs.end()
        await super().shutdown(sockets)


def listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((ADDRESS, port))
    except OSError as error:
        found.close()
        raise OutputError(f"cannot listen on port {port}: {error.strerror}; give another --port") from None
    found.listen(MOST_CONNECTIONS)
    return found


def serve(project: Project, port: int, *, browser: bool, say: Callable[[str], object]) -> None:
    logging.getLogger("uvicorn.error").disabled = True  # what it says of requests may hold what they hold
    with listening(port) as own:
        port = own.getsockname()[1]
        keys = Keys()
        with contextlib.suppress(KeyboardInterrupt):  # how it is meant to end
            asyncio.run(_serve(project, own, port, keys, browser=browser, say=say))


async def _serve(
    project: Project, own: socket.socket, port: int, keys: Keys, *, browser: bool, say: Callable[[str], object]
) -> None:
    jobs = Jobs()
    studio = Studio(project, jobs)
    server = Server(_config(Guard(application(studio, keys), port, keys)), jobs)
    environment()

    def link() -> str:
        return f"http://{ADDRESS}:{port}/?token={keys.link()}"

    say(f"incrowd studio: {link()}")
    say(f"project folder: {project.folder}")
    say("Ctrl-C stops it; Enter makes a new link, and each link works once")
    if browser:
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, lambda: loop.run_in_executor(None, webbrowser.open, link()))
    _offer_links(link, say)
    await server.serve([own])


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Impatient,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=2,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
    )


def _offer_links(link: Callable[[], str], say: Callable[[str], object]) -> None:
    if not sys.stdin or not sys.stdin.isatty():
        return

    def read() -> None:
        for _ in sys.stdin:
            say(link())

    threading.Thread(target=read, daemon=True).start()
