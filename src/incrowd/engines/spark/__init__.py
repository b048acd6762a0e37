"""The engine for clusters: Spark counts, recodes and writes rows where they are.

Only distinct tuples come to the driver. It uses what Spark Connect has too: data frames, Arrow, and functions that take
Arrow columns. Those functions bring their code along, so that machines of the cluster need numpy and pyarrow, and not
this package.
"""
