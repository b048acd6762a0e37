"""Speaking to the studio in tests: requests to its guard without a network, and a studio in a process of its own."""

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from incrowd.studio.guard import CSRF, Guard, Keys
from tests.faults.processes import started

PORT = 8765
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
SOURCES = os.pathsep.join(str(Path(__file__).parents[1] / part) for part in ("src", ""))


class Answer:
    """What came back."""

    def __init__(self, messages):
        self.messages = messages
        self.status = messages[0].get("status") if messages else None
        self.headers = (
            {name.decode(): value.decode() for name, value in messages[0].get("headers", [])} if messages else {}
        )
        self.body = b"".join(message.get("body", b"") for message in messages[1:])


class Told:
    """An app that remembers whether it was asked, and reads the whole body."""

    def __init__(self):
        self.asked = 0

    async def __call__(self, scope, receive, send):
        self.asked += 1
        while (message := await receive()).get("more_body"):
            assert message["type"] == "http.request"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"in"})


class Visitor:
    """Asks a guard; a request is a good one unless it is said otherwise."""

    def __init__(self):
        self.app, self.keys = Told(), Keys(session="s" * 43, form="f" * 43)
        self.guard = Guard(self.app, PORT, self.keys)
        self.cookie = f"{self.guard.cookie}={self.keys.session}"

    def headers(self, method, path):
        found = {"host": HOST, "cookie": self.cookie}
        if method == "POST":
            kind = "application/octet-stream" if path == "/data/upload" else "application/x-www-form-urlencoded"
            found |= {"origin": ORIGIN, CSRF.decode(): self.keys.form, "content-type": kind, "content-length": "3"}
        return found

    def ask(self, method="GET", path="/data", *, query="", headers=None, pairs=(), body=(b"a=1",), scope=None):
        """One request.

        Args:
            method: Its method.
            path: Its path, as it is on the wire.
            query: What follows the question mark.
            headers: Changes of the headers of a good request; None takes one away.
            pairs: More headers.
            body: Chunks; an Ellipsis is one that never comes.
            scope: Changes of the scope.
        """
        given = {
            name: value
            for name, value in {**self.headers(method, path), **(headers or {})}.items()
            if value is not None
        }
        wire = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in [*given.items(), *pairs]]
        from urllib.parse import unquote

        whole = {
            "type": "http",
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode("latin-1"),
            "query_string": query.encode("latin-1"),
            "headers": wire,
            "client": ("127.0.0.1", 50_000),
            **(scope or {}),
        }
        return asyncio.run(self._ask(whole, list(body) if method == "POST" else [b""]))

    async def _ask(self, scope, chunks):
        messages = []

        async def receive():
            if not chunks:
                return {"type": "http.disconnect"}
            chunk = chunks.pop(0)
            if chunk is ...:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": chunk, "more_body": bool(chunks)}

        async def send(message):
            messages.append(message)

        await self.guard(scope, receive, send)
        return Answer(messages)


@contextlib.contextmanager
def studio(folder, *arguments, port=0):
    """A studio in a process of its own: its process, and its link."""
    command = [sys.executable, "-m", "incrowd", "studio", *arguments, "--no-browser", "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    process = started(command, cwd=folder, env=environment, stderr=subprocess.PIPE)
    try:
        line = process.stderr.readline()
        found = re.search(r"http\S+", line)
        assert found, line + process.stderr.read()
        yield process, found[0]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        process.stderr.close()


class Client:
    """A browser without a window: the cookie, the key of the page, and the stream of events."""

    def __init__(self, link):
        self.host, _, self.query = link.removeprefix("http://").partition("/")
        self.cookie = self.key = ""
        self._seen = {}  # by task, the number of the last job that was over
        answer, _ = self.ask("GET", "/" + self.query)
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.key = re.search(r'data-key="([^"]+)"', self.get("/data"))[1]

    def ask(self, method, path, body=None, **headers):
        """A request: its answer, and the text of it."""
        given = {"Host": self.host, **({"Cookie": self.cookie} if self.cookie else {}), **headers}
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer, data

    def get(self, path, status=200):
        """A page."""
        answer, data = self.ask("GET", path)
        assert answer.status == status, (answer.status, data[:300])
        return data.decode()

    def post(self, address, status=200, **words):
        """A change: the screen that comes back."""
        from urllib.parse import urlencode

        answer, data = self.ask(
            "POST", address, urlencode(words, doseq=True), **self.own("application/x-www-form-urlencoded")
        )
        assert answer.status == status, (answer.status, re.findall(r'class="problem.*?</', data.decode(), re.DOTALL))
        return data.decode()

    def own(self, kind):
        """The headers of a change by a page of the studio."""
        return {"Origin": f"http://{self.host}", "X-Studio-Key": self.key, "Content-Type": kind}

    def upload(self, name, data, status=200):
        """Send a file."""
        headers = {**self.own("application/octet-stream"), "X-File-Name": name}
        answer, found = self.ask("POST", "/data/upload", data, **headers)
        assert answer.status == status, (answer.status, found[:300])
        return found.decode()

    def events(self, enough):
        """Read events until one is enough; all of them."""
        connection = http.client.HTTPConnection(self.host, timeout=120)
        connection.request("GET", "/events", headers={"Host": self.host, "Cookie": self.cookie})
        answer, found = connection.getresponse(), []
        for line in answer:
            if line.startswith(b"data: "):
                found.append(json.loads(line[6:]))
                if enough(found[-1]):
                    break
        connection.close()
        return found

    def over(self, task):
        """Wait until the next job of a task is over: what became of it."""

        def ended(message):
            ours = message["kind"] == "job" and message["task"] == task and message["job"] > self._seen.get(task, 0)
            return ours and message["state"] in ("done", "failed", "cancelled")

        found = self.events(ended)[-1]
        self._seen[task] = found["job"]
        return found
