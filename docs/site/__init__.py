"""The documentation as a site: `make docs`, or `python -m docs.site --output FOLDER`."""
