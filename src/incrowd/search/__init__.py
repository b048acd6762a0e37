"""The searches: a folder per family; a file beside the folders is shared by several families."""
