"""The studio on a real socket: what is malformed or too slow is ended, and it listens on this machine alone."""

import asyncio
import contextlib
import socket
import threading

import pytest
from tests.studio import Told

from incrowd.errors import OutputError
from incrowd.studio import serve
from incrowd.studio.guard import ADDRESS, Guard, Keys
from incrowd.studio.jobs import Jobs

MALFORMED = {
    "no request at all": b"\r\n\r\n\r\n",
    "no protocol": b"hello\r\n\r\n",
    "HTTP/0.9": b"GET /data\r\n",
    "no host": b"GET /data HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /data HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n",
    "two lengths": b"POST /data HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "length and chunks": b"POST /data HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "strange chunks": b"POST /data HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a negative length": b"POST /data HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n",
    "a header without a colon": b"GET /data HTTP/1.1\r\nHost: {host}\r\nstrange\r\n\r\n",
    "a header with a blank before its colon": b"GET /data HTTP/1.1\r\nHost : {host}\r\n\r\n",
    "a folded header": b"GET /data HTTP/1.1\r\nHost: {host}\r\nX: a\r\n b\r\n\r\n",
    "a zero byte": b"GET /data HTTP/1.1\r\nHost: {host}\r\nX: a\0b\r\n\r\n",
    "a path that is not ASCII": b"GET /d\xff HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "another site as a proxy": b"GET http://evil.example/data HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "a tunnel": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    "a websocket": b"GET /events HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "headers without end": b"GET /data HTTP/1.1\r\nHost: {host}\r\nX: " + b"y" * 100_000,
    "a first line without end": b"GET /" + b"a" * 100_000,
    "TLS": bytes.fromhex("16030100a5010000a10303") + b"\0" * 60 + b"\r\n\r\n",
}


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def address(told):
    """Where a studio listens whose app only counts how often it was asked."""
    own = serve.listening(0)
    port = own.getsockname()[1]
    app = _Lasting(told)
    server = serve.Server(serve._config(Guard(app, port, Keys())), _NoJobs())
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([own])))
    thread.start()
    yield ADDRESS, port
    server.should_exit = True
    thread.join(30)
    own.close()


class _NoJobs(Jobs):
    def __init__(self):
        pass

    async def end(self):
        pass


class _Lasting:
    """Answers the lifespan of a server."""

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return


def spoken(address, data):
    """What comes back, until the other side ends it."""
    found = b""
    with socket.create_connection(address, 30) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(data.replace(b"{host}", f"{address[0]}:{address[1]}".encode()))
            connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while part := connection.recv(65_536):
                found += part
    return found


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_refused(address, told, name):
    found = spoken(address, MALFORMED[name])
    assert found[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 403", b"HTTP/1.1 404", b"HTTP/1.1 405", b"HTTP/1.1 421")
    assert b"evil" not in found
    assert told.asked == 0


def test_who_says_nothing_is_left(monkeypatch, address, told):
    monkeypatch.setattr(serve, "HEADER_SECONDS", 0.05)
    with socket.create_connection(address, 30) as connection:
        assert connection.recv(100) == b""


def test_who_says_half_a_request_is_left(monkeypatch, address, told):
    monkeypatch.setattr(serve, "HEADER_SECONDS", 0.05)
    left_at_once = contextlib.suppress(ConnectionError)  # before anything was said
    with socket.create_connection(address, 30) as connection, left_at_once:
        connection.sendall(b"GET /data HTTP/1.1\r\nHost: ")
        assert connection.recv(100) == b""
    assert told.asked == 0


def test_it_listens_on_this_machine_alone(address):
    assert address[0] == "127.0.0.1"
    with serve.listening(0) as own:
        assert own.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_said_in_one_line(address):
    with pytest.raises(OutputError, match=r"cannot listen on port \d+: .*; give another --port"):
        serve.listening(address[1])
