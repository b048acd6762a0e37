"""The default engine: streams Arrow batches, so that memory grows with the distinct tuples, not with the rows."""
