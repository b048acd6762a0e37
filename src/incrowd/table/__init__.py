"""The compressed table, the only thing a search sees, and the attributes, values and labels it is made of."""
