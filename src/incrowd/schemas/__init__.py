"""What files read from outside must look like: shapes of values, and documents with a head and a digest."""
