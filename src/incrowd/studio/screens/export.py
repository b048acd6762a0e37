"""Export: everything that leaves, and how to make it again without the studio."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from incrowd.errors import DataError
from incrowd.release.files import ReleaseFiles
from incrowd.studio.lines import command, python, relative
from incrowd.studio.paths import inside
from incrowd.studio.screens.release import file_name
from incrowd.studio.screens.screen import Form, Screen
from incrowd.studio.studio import Studio

if TYPE_CHECKING:
    from starlette.routing import BaseRoute


def make(studio: Studio, form: Form) -> str:
    project, found, made = studio.project, studio.result("release"), studio.project.result("release")
    if found is None or made is None:
        raise DataError("there is no release yet; make one on the screen Release")
    request = {
        "made": str(project.made("release")),
        "name": file_name(project.table or ""),
        "summary": found["summary"],
        "codebook": found["codebook"],
        "policy": found["policy"],
        "home": str(project.folder),
        "of": made["digest"],
    }
    studio.run("export", request, "Making the files", fresh=True)
    return "The files are being made."


def show(studio: Studio) -> dict[str, Any]:
    project = studio.project
    release, found = studio.result("release"), studio.project.result("export")
    made = project.result("release")
    shown: dict[str, Any] = {
        "release": release,
        "job": studio.unfinished("export"),
        "exported": None,
    }
    if found is None or made is None or project.table is None:
        return shown
    data, home = found["data"], relative(project.made("export"), project.root)
    key = relative(ReleaseFiles.of(project.made("export") / data["name"]).key, project.root)
    return {
        **shown,
        "exported": data,
        "older": data["of"] != made["digest"],
        "folder": project.made("export"),
        "ledger": os.path.relpath(project.made("export") / data["policy"].get("ledger", ""), project.root),
        "command": command(project.table, f"{home}/release.toml", data["name"], key),
        "python": python(project.table, data["policy"], home, data["name"], key),
        "check": f"incrowd verify {data['name']} --certificate {data['name'].rpartition('.')[0]}.certificate.json",
    }


def routes(studio: Studio) -> list[BaseRoute]:

    async def download(request: Request) -> Response:
        found = studio.project.result("export")
        files = [] if found is None else found["data"]["files"]
        number = int(request.path_params["number"])
        if number >= len(files):
            return Response("not found", 404, media_type="text/plain")
        name = files[number]["name"]
        path = inside(studio.project.made("export"), name)
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")

    return [Route("/export/file/{number:int}", download, methods=["GET"])]


SCREEN = Screen(
    "export",
    "Export",
    "Export the release, with everything that explains and reproduces it.",
    show,
    actions={"make": make},
    needs="table",
    follows=("release", "export"),
    routes=routes,
    done=lambda studio: studio.project.result("export") is not None,
)
