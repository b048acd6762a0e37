"""What jobs do, each in a process of its own: a task is a module here, named after the result that it gives.

`work(request, run)` gets plain data and gives plain data back. Files that are too large for an answer go to "folder".
"""
