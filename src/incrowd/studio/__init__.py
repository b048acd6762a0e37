"""The studio: from a table to a release in the browser, on 127.0.0.1; what `incrowd studio` starts.

The server holds no rows and searches nothing: every search, inspection and comparison is a job in a process of its own
(`jobs`, `worker`, `tasks`), and all that is known lies in files (`project`). `guard` stands before everything.
"""
