"""The hierarchies of a policy: which item each column has, the tree that it makes, and its file in and out."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from incrowd.errors import DataError, IncrowdError, TaxonomyError
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.studio import policy_settings
from incrowd.studio.screens.screen import Form
from incrowd.studio.studio import Studio
from incrowd.studio.trees import paths_text
from incrowd.studio.values import Values, values_of
from incrowd.taxonomies.files import CSV_SUFFIXES, TOML_SUFFIXES
from incrowd.taxonomies.rules import rule_of
from incrowd.taxonomies.taxonomy import Taxonomy

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

MOST_LEAVES = 50_000  # of a tree that is built here
MOST_UPLOAD = 32 << 20  # bytes of a hierarchy file
_SUFFIXES = (*CSV_SUFFIXES, *TOML_SUFFIXES)


def taxonomies_of(studio: Studio, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The hierarchy of each column, a file or a rule; a folder is listed file by file."""
    given = settings.get("taxonomies", {})
    if isinstance(given, Mapping):
        return dict(given)
    folder = studio.project.folder / str(given)
    found = {}
    for column in policy_settings.quasi_columns(settings):
        names = [f"{column}{suffix}" for suffix in _SUFFIXES if (folder / f"{column}{suffix}").is_file()]
        if names:
            found[column] = f"{given}/{names[0]}"
    return found


def item_of(settings: Mapping[str, Any], column: str) -> Any:
    given = settings.get("taxonomies", {})
    return given.get(column) if isinstance(given, Mapping) else None


def with_item(studio: Studio, column: str, item: Any) -> dict[str, Any]:
    """The settings of the policy with another item for a column; None for none."""
    settings = studio.project.settings()
    given = {name: value for name, value in taxonomies_of(studio, settings).items() if name != column}
    if item is not None:
        given[column] = item
    settings.pop("taxonomies", None)
    return {**settings, "taxonomies": given} if given else settings


def tree_of(studio: Studio, column: Mapping[str, Any], values: Values) -> Taxonomy:
    item = column["item"]
    if isinstance(item, str):
        path = studio.project.folder / item
        try:
            state = path.stat()
        except (OSError, ValueError):
            return Taxonomy.read(path)  # which says what is wrong
        return _read(path, state.st_mtime_ns, state.st_size)
    if len(values.values) > MOST_LEAVES:
        raise DataError(
            f"this column has {values.distinct:,} different values, too many to show; the rule below still holds"
        )
    if not values.values:
        raise DataError("this column has no values at all; drop it on the screen Roles")
    return _built(column["name"], json.dumps(item, default=str), values)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, size: int) -> Taxonomy:
    """A hierarchy file; when it was changed and its size tell one version of it from another."""
    return Taxonomy.read(path)


@lru_cache(maxsize=8)
def _built(column: str, item: str, values: Values) -> Taxonomy:
    """The tree that a rule makes of the values; the rule comes as JSON, so that it can be cached."""
    settings = json.loads(item)
    return Taxonomy.flat(values.values) if settings is None else values.tree(rule_of(column, settings))


def routes(studio: Studio) -> list[BaseRoute]:
    from incrowd.studio.screens.hierarchies import columns_of

    def column_at(text: str) -> dict[str, Any]:
        columns = columns_of(studio)
        return columns[Form([("place", text)]).place("place", len(columns))]

    async def download(request: Request) -> Response:
        try:
            column = column_at(str(request.path_params["place"]))
            values = values_of(studio, column["name"])
            text = paths_text(tree_of(studio, column, values).paths()) if values is not None else ""
        except IncrowdError:
            text = ""
        if not text:
            return Response("not found", 404, media_type="text/plain")
        headers = {"content-disposition": f'attachment; filename="{_ascii(column["name"])}.csv"'}
        return Response(text.encode(), media_type="application/octet-stream", headers=headers)

    async def upload(request: Request) -> Response:
        try:
            column = column_at(request.headers.get("x-place", ""))
            data = await _received(request)
            taxonomy = await run_in_threadpool(_parsed, studio, request.headers.get("x-file-name", ""), data)
            item = studio.project.keep_hierarchy(column["name"], paths_text(taxonomy.paths()))
            studio.change(with_item(studio, column["name"], item))
        except IncrowdError as error:
            return Response(" ".join(str(error).split()), 422, media_type="text/plain")
        studio.changed()
        return Response("The file was uploaded.", media_type="text/plain")

    return [
        Route("/hierarchies/file/{place:int}", download, methods=["GET"]),
        Route("/hierarchies/upload", upload, methods=["POST"]),
    ]


def _ascii(name: str) -> str:
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "_" for letter in name)[:60]


async def _received(request: Request) -> bytes:
    if int(request.headers.get("content-length", "0")) > MOST_UPLOAD:
        raise DataError(f"this file is larger than {MOST_UPLOAD >> 20} megabytes; give a hierarchy")
    try:
        return await request.body()
    except ClientDisconnect:
        raise DataError("the upload was incomplete; try again") from None


def _parsed(studio: Studio, name: str, data: bytes) -> Taxonomy:
    """The hierarchy in a file that came through the browser; read as any other, from a file that is gone afterwards."""
    suffix = next((each for each in _SUFFIXES if name.lower().endswith(each)), None)
    if suffix is None:
        raise TaxonomyError("a hierarchy file ends in .csv, .tsv, .txt or .toml; rename it")
    path = studio.project.folder / "hierarchies" / f"import-{secrets.token_hex(4)}{suffix}"
    with AtomicFiles(overwrite=True) as staged:
        staged.open(path, mode=0o600).write_bytes(data)
    try:
        return Taxonomy.read(path)
    finally:
        path.unlink(missing_ok=True)
