"""What the values of one attribute became: a cut of its taxonomy, intervals, sets, or some shown, the rest suppressed.

A recoding holds only what the release itself shows: the cut of a (public) taxonomy, the bounds of intervals, the values
that are shown. The lowest and the highest value that occur are not among them: outermost intervals are open-ended
unless the user made the range public.
"""
