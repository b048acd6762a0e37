"""Local recodings: equal records may be released differently, each attribute by nodes of one hierarchy."""
