"""Who may speak to the studio: plain ASGI around everything, so that nothing bypasses it.

A request has to come from this machine, name exactly this host, and carry the cookie of this session. The cookie is
given once, in exchange for the token of the link that the terminal shows. What changes anything must also come from a
page of the studio itself: exact origin, and a token that other pages cannot read. Bodies, headers and addresses are
limited in size, and bodies in time. No address holds anything but fixed settings and numbers.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ADDRESS = "127.0.0.1"
CONNECTIONS = Path("/proc/net/tcp")  # where Linux tells who has opened which
MOST_PATH = 200  # characters of an address
MOST_HEADERS = 64
MOST_HEADER_BYTES = 16_384
MOST_FORM = 1 << 20  # bytes of a form
MOST_UPLOAD = 4 << 30  # bytes of a table
FORM_SECONDS = 10.0  # in which a form must arrive
UPLOAD_PAUSE = 20.0  # seconds in which something of an upload must arrive
UPLOADS = frozenset(("/data/upload", "/hierarchies/upload"))  # where bodies may be files
METHODS = ("GET", "HEAD", "POST")
CSRF = b"x-studio-key"
FORM, FILE = b"application/x-www-form-urlencoded", b"application/octet-stream"
_PATH = re.compile(rb"/[a-z0-9_./-]*")  # nothing encoded, no capitals: no name of a column or a file
_ONCE = (b"host", b"origin", b"cookie", b"content-length", b"content-type", b"sec-fetch-site", CSRF)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), interest-cohort=()"),
)


class Refused(Exception):
    """A request that is not answered; the reason repeats nothing that was sent."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass
class Keys:
    """The secrets of one start of the studio: of its cookie and its forms. `start` only tells it from other starts."""

    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    form: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    start: str = field(default_factory=lambda: secrets.token_hex(8))
    _links: list[str] = field(default_factory=list)

    def link(self) -> str:
        """A new token for a link; each opens the studio once, and only the last few are kept."""
        token = secrets.token_urlsafe(32)
        self._links = [*self._links[-3:], token]
        return token

    def take(self, token: bytes) -> bool:
        """Whether a token opens the studio; it does so no second time."""
        found = [link for link in self._links if same(link, token)]
        self._links = [link for link in self._links if link not in found]
        return bool(found)


def same(secret: str, given: bytes) -> bool:
    """Whether something is the secret, compared in a time that reveals nothing about it."""
    return hmac.compare_digest(secret.encode(), given)


def is_another_user(port: int, own: int) -> bool:
    """Whether another user of this machine has opened a connection; no if the system does not say."""
    try:
        lines = CONNECTIONS.read_text(encoding="ascii").splitlines()[1:]
    except (OSError, ValueError):
        return False
    for line in lines:
        parts = line.split()
        if len(parts) > 7 and [part[-4:] for part in parts[1:3]] == [f"{port:04X}", f"{own:04X}"]:
            return parts[7].isdigit() and int(parts[7]) != os.getuid() != 0
    return False


class Guard:
    """Lets requests through to the app, or refuses them."""

    def __init__(self, app: App, port: int, keys: Keys) -> None:
        self._app, self._keys, self._port = app, keys, port
        self._host = f"{ADDRESS}:{port}".encode()
        self._origin = b"http://" + self._host
        self.cookie = f"incrowd-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            if scope["type"] == "websocket":  # there are none
                await send({"type": "websocket.close", "code": 1008})
            return
        answered = _Answer(send)
        try:
            headers = self._checked(scope)
            if await self._let_in(scope, headers, answered):
                return
            limited = self._limited(scope, headers, receive)
            await self._app(scope, limited, answered)
        except Refused as refused:
            if not answered.began:
                await _refuse(answered, refused)

    def _checked(self, scope: Scope) -> dict[bytes, bytes]:
        """The headers of a request that may be looked at."""
        client = scope.get("client")
        if not client or client[0] != ADDRESS:
            raise Refused(403, "only this machine has access")
        if scope["method"] not in METHODS:
            raise Refused(405, "method not allowed")
        path = scope.get("raw_path") or b""
        whole = _PATH.fullmatch(path) and len(path) <= MOST_PATH
        if not whole or b".." in path or b"//" in path or b"/." in path or path.decode() != scope["path"]:
            raise Refused(404, "not found")
        headers = _single(scope["headers"])
        if headers.get(b"host") != self._host:
            raise Refused(421, "wrong host")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise Refused(403, "other sites have no access")
        if headers.get(b"origin", self._origin) != self._origin:
            raise Refused(403, "other sites have no access")
        return headers

    async def _let_in(self, scope: Scope, headers: dict[bytes, bytes], send: Send) -> bool:
        """Whether the request was one for a cookie, which is then answered; all others must have it."""
        query: bytes = scope.get("query_string", b"")
        reading = scope["method"] in ("GET", "HEAD")
        if query:
            token = query.removeprefix(b"token=")
            if scope["path"] != "/" or scope["method"] != "GET" or token == query or len(token) > MOST_PATH:
                raise Refused(404, "not found")
            if is_another_user(scope["client"][1], self._port):  # who may have read the link in the list of processes
                raise Refused(403, "other users have no access")
            if not self._keys.take(token):
                if self._knows(headers):  # the same link once more, in the same browser
                    await _redirect(send)
                    return True
                raise Refused(403, "this link was used already; press Enter in the terminal for a new one")
            await _redirect(send, f"{self.cookie}={self._keys.session}; HttpOnly; SameSite=Strict; Path=/")
            return True
        if not self._knows(headers):
            raise Refused(403, "open the studio with the link that the terminal shows; Enter there makes a new one")
        if not reading:
            self._check_change(headers)
        return False

    def _knows(self, headers: dict[bytes, bytes]) -> bool:
        pairs = [part.strip().partition(b"=") for part in headers.get(b"cookie", b"").split(b";")]
        found = [value for name, _, value in pairs if name == self.cookie.encode()]
        return len(found) == 1 and same(self._keys.session, found[0])

    def _check_change(self, headers: dict[bytes, bytes]) -> None:
        """What changes anything comes from a page of the studio."""
        if headers.get(b"origin") != self._origin or headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin":
            raise Refused(403, "only a page of the studio may change anything")
        if not same(self._keys.form, headers.get(CSRF, b"")):
            raise Refused(403, "this page is from an earlier start of the studio; reload it")

    def _limited(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """The body, of which no more and no later may come than is allowed."""
        length = headers.get(b"content-length", b"0")
        if not re.fullmatch(rb"[0-9]{1,12}", length):
            raise Refused(400, "invalid length")
        size = int(length)
        if scope["method"] != "POST":
            if size or b"transfer-encoding" in headers:
                raise Refused(400, "a body is not expected here")
            return receive
        if b"content-length" not in headers or b"transfer-encoding" in headers:
            raise Refused(411, "the length of the body is missing")
        is_file = scope["path"] in UPLOADS
        if headers.get(b"content-type", FORM).partition(b";")[0].strip() != (FILE if is_file else FORM):
            raise Refused(415, "this kind of body is not expected here")
        if size > (MOST_UPLOAD if is_file else MOST_FORM):
            raise Refused(413, "this is too large")
        return _Body(receive, size, is_file)


class _Body:
    def __init__(self, receive: Receive, size: int, is_file: bool) -> None:
        self._receive, self._left, self._is_file = receive, size, is_file
        self._until = asyncio.get_running_loop().time() + FORM_SECONDS
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is that the reader goes away
            return await self._receive()
        seconds = UPLOAD_PAUSE if self._is_file else self._until - asyncio.get_running_loop().time()
        try:
            message = await asyncio.wait_for(self._receive(), max(seconds, 0.0))
        except TimeoutError:
            raise Refused(408, "this took too long") from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._left < 0:
                raise Refused(413, "this is too large")
        return message


class _Answer:
    """Adds what every answer says, and remembers whether one was begun."""

    def __init__(self, send: Send) -> None:
        self._send, self.began = send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.began = True
            own = {name for name, _ in _HEADERS}
            given = [(name, value) for name, value in message.get("headers", []) if name.lower() not in own]
            message = {**message, "headers": [*given, *_HEADERS]}
        await self._send(message)


def _single(pairs: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers by name; those that decide anything may come once."""
    if len(pairs) > MOST_HEADERS or sum(len(name) + len(value) for name, value in pairs) > MOST_HEADER_BYTES:
        raise Refused(431, "these headers are too large")
    found: dict[bytes, bytes] = {}
    for name, value in pairs:
        name = name.lower()
        if name in found and name in _ONCE:
            raise Refused(400, "a header was sent twice")
        found[name] = value
    return found


async def _refuse(send: Send, refused: Refused) -> None:
    body = refused.reason.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send(
        {"type": "http.response.start", "status": refused.status, "headers": [*headers, (b"connection", b"close")]}
    )
    await send({"type": "http.response.body", "body": body})


async def _redirect(send: Send, cookie: str | None = None) -> None:
    """On to the first page, so that the token leaves the address."""
    headers = [(b"location", b"/"), (b"content-length", b"0")]
    if cookie is not None:
        headers.append((b"set-cookie", cookie.encode()))
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
