"""What clustering does with small tables, without compiled code: compiling would take longer than all the rest.

Every function finds exactly what its compiled counterpart finds; it looks at all classes at once instead of asking an
index. The modules have the names of those with the compiled code.
"""
