"""Attackers who are played against a release: one file each, one registry, one kind of result.

`covers` says which original values each released label stands for, `index` finds the records that fit a person. An
attack is a declaration and a function of a `Problem`; `registry` lists them, `attack` runs them.
"""
