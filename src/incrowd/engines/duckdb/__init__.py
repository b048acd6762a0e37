"""The DuckDB engine: groups rows by DuckDB, with a memory limit and a folder for what does not fit.

What DuckDB has itself (its databases, relations, Parquet files) it reads and groups itself. Rows of anything else are
numbered as the Arrow engine numbers them, and only the numbers are grouped. Recoding streams through the Arrow engine,
in the order of rows, so that the release is the same cell for cell.
"""
