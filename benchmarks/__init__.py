"""What incrowd costs, beside what reading, grouping and writing the same file costs. See `README.md`."""
