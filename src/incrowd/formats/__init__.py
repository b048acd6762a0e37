"""Where rows come from and where they go: files and dataframes."""
