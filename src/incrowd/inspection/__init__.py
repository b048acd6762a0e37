"""What a table is: columns with their values, what looks risky, proposed roles and hierarchies as a release.toml."""
