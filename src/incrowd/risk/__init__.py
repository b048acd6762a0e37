"""What an attacker could do with a table: who stands out, how sure a match would be, and what a match would tell."""
