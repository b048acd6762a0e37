"""Witnesses of the privacy models that searches ask, for tests that compare the two."""

from incrowd.verification.counts import Promise
from incrowd.verification.witness import Asked, Witness


def promise_of(model):
    """What a model promises, as data."""
    return Promise(**model.promise())


def witness_of(quasi_identifiers, models=None):
    """A witness of some quasi-identifiers, of their k alone if there are no models."""
    asked = []
    for qid in quasi_identifiers:
        promises = (Promise("k-anonymity", f"k={qid.k}", qid.k),) if models is None else map(promise_of, models)
        asked.append(Asked(qid.attributes, qid.k, tuple(promises)))
    return Witness(asked)
