"""Packs: what a board wants to read of a release, by the headings that its rules lead it to expect.

`pack` says what a pack is made of, `blocks` what stands under a heading, `registry` has the template of each body.
"""
