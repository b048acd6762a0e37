"""The settings of Sphinx."""

import incrowd

project = "incrowd"
author = "the incrowd authors"
release = incrowd.__version__
html_title = f"incrowd {release}"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_extra_path = ["extra"]  # pages that stand alone, such as the example report
html_copy_source = False
html_show_sourcelink = False
templates_path: list[str] = []
exclude_patterns = ["extra"]
smartquotes = False  # an option begins with two hyphens, not with a dash
html_show_search_summary = False  # would read files, which browsers forbid for pages from a disk
pygments_style = "default"
pygments_dark_style = "github-dark"
