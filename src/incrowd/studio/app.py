"""The pages of the studio: addresses, templates, and the stream of events; all that is shown comes from `screens`."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module, resources
from typing import Any
from urllib.parse import parse_qsl, unquote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from incrowd.errors import IncrowdError, OutputError, PolicyError
from incrowd.studio.guard import Keys, Refused
from incrowd.studio.paths import safe_name
from incrowd.studio.screens import SCREENS
from incrowd.studio.screens.screen import Form, Part, Screen, shown_by
from incrowd.studio.studio import Studio
from incrowd.studio.wording import FILTERS, TERMS
from incrowd.studio.worker import place_of

MOST_FIELDS = 2_000
BEAT = 15.0  # seconds between two signs of life
ROOM = 1 << 28  # bytes that must stay free on the disk
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}
Handler = Callable[[Request], Awaitable[Response]]


class Pages:
    def __init__(self, studio: Studio, keys: Keys) -> None:
        self.studio, self.keys = studio, keys

    # Screens

    def render(
        self, screen: Screen, problem: str = "", said: str = "", *, whole: bool, place: int | None = None, at: str = ""
    ) -> HTMLResponse:
        """A screen, or one of several things that it shows: the whole page, or what htmx puts in its place."""
        missing, values = self._missing(screen), {}
        if not missing:
            try:
                values = shown_by(screen, self.studio, place)
            except IncrowdError as error:
                missing, problem = problem or str(error), ""
        template = environment().get_template("page.html" if whole else "screen.html")
        text = template.render(
            **self._common(screen, place),
            **values,
            problem=problem,
            problem_at=at,
            said=said,
            missing=missing,
            content=screen.template,
        )
        return HTMLResponse(text, 422 if problem else 200)

    def _missing(self, screen: Screen) -> str:
        if screen.needs and self.studio.project.table is None:
            return "Choose a table first."
        if screen.needs and self.studio.inspection() is None:
            return (
                "The table is being inspected." if self.studio.jobs.running("inspect") else "Inspect the table first."
            )
        return ""

    def _common(self, screen: Screen, place: int | None = None) -> dict[str, Any]:
        studio = self.studio
        return {
            "screen": screen,
            "place": place,
            "screens": [(each, _is_done(each, studio)) for each in SCREENS.values()],
            "studio": studio,
            "project": studio.project,
            "key": self.keys.form,
            "start": self.keys.start,
            "revision": studio.project.revision,
            "terms": TERMS,
        }

    def page(self, screen: Screen) -> Handler:

        async def answer(request: Request) -> Response:
            place = request.path_params.get("place")
            if not self._missing(screen):
                self.studio.see(screen.name)
            return self.render(screen, whole="hx-request" not in request.headers, place=place)

        return answer

    def part(self, screen: Screen, part: Part) -> Handler:

        async def answer(request: Request) -> Response:
            values, status = {"problem": ""}, 200
            try:
                values |= shown_by(part, self.studio, request.path_params.get("place"))
            except IncrowdError as error:
                values, status = {"problem": " ".join(str(error).split())}, 422
            template = environment().get_template(part.template if status == 200 else "parts/problem.html")
            return HTMLResponse(template.render(**self._common(screen), **values), status)

        return answer

    def action(self, screen: Screen, act: Callable[[Studio, Form], str | None]) -> Handler:

        async def answer(request: Request) -> Response:
            problem = said = at = ""
            before = self.studio.project.revision
            form = Form([])
            try:
                form = await _form(request)
                said = act(self.studio, form) or ""
            except IncrowdError as error:
                problem, at = " ".join(str(error).split()), getattr(error, "at", "")
            if self.studio.project.revision != before:
                self.studio.changed()
            return self.render(screen, problem, said, whole=False, place=_place(form), at=at)

        return answer

    # What is not a screen

    async def first(self, request: Request) -> Response:
        return RedirectResponse("/data", 303)

    async def events(self, request: Request) -> Response:
        """What happens, as server-sent events: first how things are, then every change."""
        jobs, queue = self.studio.jobs, self.studio.jobs.watch()

        async def lines() -> AsyncIterator[str]:
            try:
                yield _event({"kind": "changed", "revision": self.studio.project.revision, "start": self.keys.start})
                for job in list(jobs.all.values()):
                    yield _event({"kind": "job", **job.to_json()})
                while True:
                    try:
                        message = await asyncio.wait_for(queue.get(), BEAT)
                    except TimeoutError:
                        yield ": still here\n\n"
                        continue
                    yield _event(message)
                    if message["kind"] == "end":
                        return
            finally:
                jobs.unwatch(queue)

        return StreamingResponse(lines(), media_type="text/event-stream")

    async def cancel(self, request: Request) -> Response:
        self.studio.jobs.cancel(int(request.path_params["number"]))
        return Response(status_code=204)

    async def stop(self, request: Request) -> Response:
        self.studio.jobs.stop(int(request.path_params["number"]))
        return Response(status_code=204)

    async def undo(self, request: Request) -> Response:
        """Undo or redo the last change of the policy, and show the screen again that asked."""
        form = await _form(request)
        screen = SCREENS.get(form.one("screen"), SCREENS["roles"])
        project = self.studio.project
        problem = ""
        try:
            project.redo() if form.one("way") == "redo" else project.undo()
        except (IncrowdError, OSError):
            problem = "this can no longer be undone"
        self.studio.changed()
        return self.render(screen, problem, "" if problem else "Done.", whole=False, place=_place(form))

    async def upload(self, request: Request) -> Response:
        """Receive a table, bit by bit; it appears when it is whole, and becomes the table of the project."""
        project, problem = self.studio.project, ""
        try:
            name = safe_name(unquote(request.headers.get("x-file-name", ""), errors="replace")[:500])
            target = project.upload(name)
            await _receive(request, target)
            self.studio.take(target.relative_to(project.root).as_posix())
        except (IncrowdError, ValueError) as error:
            problem = " ".join(str(error).split())
        if not problem:
            from incrowd.studio.screens.data import look

            look(self.studio)
            self.studio.changed()
        return self.render(SCREENS["data"], problem, "" if problem else "The file was uploaded.", whole=False)

    async def static(self, request: Request) -> Response:
        """A file that comes with the studio; nothing else can be asked for."""
        name = request.path_params["name"]
        found = _static().get(name)
        if found is None:
            raise Refused(404, "not found")
        body, kind = found
        return Response(body, media_type=kind)


async def _form(request: Request) -> Form:
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise PolicyError("this form cannot be read; reload the page") from None
    return Form(pairs)


def _place(form: Form) -> int | None:
    text = form.one("place")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


async def _receive(request: Request, target: Any) -> None:
    size = int(request.headers["content-length"])
    if shutil.disk_usage(target.parent).free - size < ROOM:
        raise OutputError("there is not enough room on the disk for this file")
    if size == 0:
        raise OutputError("this file is empty; choose another one")
    hidden = target.with_name(f".{target.name}")
    try:
        with os.fdopen(os.open(hidden, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            async for chunk in request.stream():
                file.write(chunk)
        if hidden.stat().st_size != size:
            raise OutputError("the upload was incomplete; try again")
        hidden.replace(target)
    except ClientDisconnect:
        raise OutputError("the upload was incomplete; try again") from None
    except OSError as error:
        raise OutputError(f"the file could not be kept: {error.strerror}") from None
    finally:
        hidden.unlink(missing_ok=True)


def _is_done(screen: Screen, studio: Studio) -> bool:
    try:
        return screen.name in studio.seen() and screen.done(studio)
    except IncrowdError:
        return False


def _event(message: dict[str, Any]) -> str:
    return f"data: {json.dumps(message, separators=(',', ':'))}\n\n"


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("incrowd.studio"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= FILTERS
    return made


def prepare() -> None:
    """Load what the first clicks need, while nobody waits."""
    for name in ("incrowd.policy.toml", "incrowd.policy.making", "incrowd.taxonomies.rules"):
        import_module(name)
    for name in environment().list_templates():
        environment().get_template(name)


@cache
def _static() -> dict[str, tuple[bytes, str]]:
    folder = resources.files("incrowd.studio") / "static"
    found = {}
    for path in folder.iterdir():
        kind = next((kind for suffix, kind in _TYPES.items() if path.name.endswith(suffix)), None)
        if kind is not None:
            found[path.name] = (path.read_bytes(), kind)
    return found


def application(studio: Studio, keys: Keys) -> Starlette:
    pages = Pages(studio, keys)
    routes: list[BaseRoute] = [
        Route("/", pages.first, methods=["GET"]),
        Route("/events", pages.events, methods=["GET"]),
        Route("/jobs/{number:int}/cancel", pages.cancel, methods=["POST"]),
        Route("/jobs/{number:int}/stop", pages.stop, methods=["POST"]),
        Route("/undo", pages.undo, methods=["POST"]),
        Route("/data/upload", pages.upload, methods=["POST"]),
        Route("/static/{name}", pages.static, methods=["GET"]),
    ]
    for screen in SCREENS.values():
        addresses = [f"/{screen.name}", *([f"/{screen.name}/{{place:int}}"] if screen.show_at is not None else [])]
        routes += [Route(address, pages.page(screen), methods=["GET"]) for address in addresses]
        for name, part in screen.parts.items():
            places = ["", *(["/{place:int}"] if part.show_at is not None else [])]
            routes += [
                Route(f"/{screen.name}/{name}{each}", pages.part(screen, part), methods=["GET"]) for each in places
            ]
        for name, act in screen.actions.items():
            routes.append(Route(f"/{screen.name}/{name}", pages.action(screen, act), methods=["POST"]))
        routes += screen.routes(studio)

    @asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        studio.jobs.warm()
        asyncio.get_running_loop().run_in_executor(None, prepare)
        try:
            yield
        finally:
            await studio.jobs.end()

    return Starlette(
        routes=routes, lifespan=living, exception_handlers={Exception: _failed, 404: _nothing, 405: _nothing}
    )


async def _nothing(request: Request, error: Exception) -> Response:
    return Response("not found", 404, media_type="text/plain")


async def _failed(request: Request, error: Exception) -> Response:
    """A mistake of the studio itself: neither the page nor the terminal says more than where it was."""
    if isinstance(error, Refused):
        return Response(error.reason, error.status, media_type="text/plain")
    print(f"error in the studio: {type(error).__name__} at {place_of(error)}; please report it", file=sys.stderr)
    return Response("an error occurred in the studio; reload the page", 500, media_type="text/plain")
