"""What the files of a project look like, field by field; a file that is not like this is refused."""

from __future__ import annotations

from incrowd.schemas.documents import DIGEST, Document
from incrowd.schemas.shapes import Anything, Fields, ListOf, Maybe, TableOf, Text, Whole

PROJECT = Document("studio project", 1, "rename it, and the studio starts over", megabytes=16)
RESULT = Document("studio result", 1, "rename it, and run it again", megabytes=256)

_STATE = Fields({"size": Whole(0), "changed": Whole()})  # of a file: its bytes, and the time of its last change in ns
PROJECT_SHAPE = PROJECT.shape(
    {
        "table": Maybe(Text(blank=False)),  # relative to the folder that the studio was started in
        "revision": Whole(0),  # one more with every change
        "undo": ListOf(Whole(1)),  # numbers of earlier policies in history/, the last one first to come back
        "redo": ListOf(Whole(1)),
        "parked": TableOf(TableOf(Anything())),  # by column, what was said of it in a role that it no longer has
    }
)
RESULT_SHAPE = RESULT.shape(
    {
        "name": Text(blank=False),
        "made_from": DIGEST,  # of the table and the policy; another one means that it is out of date
        "table": Maybe(_STATE),
        "data": TableOf(Anything()),
    }
)
