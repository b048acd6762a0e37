"""How recodings and taxonomies, which know nothing of reports, show themselves in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incrowd.recodings.recoding import Recoding
    from incrowd.taxonomies.taxonomy import Taxonomy


def recoding_html(recoding: Recoding) -> str:
    """The codebook of a recoding."""
    from incrowd.report import notebook

    return notebook.recoding_html(recoding)


def taxonomy_html(taxonomy: Taxonomy) -> str:
    """A tree."""
    from incrowd.report import notebook

    return notebook.taxonomy_html(taxonomy)
