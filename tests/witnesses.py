"""Witnesses of the privacy models that searches ask, for tests that compare the two."""

from incrowd.verification.counts import Promise
from incrowd.verification.witness import Asked, Witness


def promise_of(model):
    """What a model promises, as data."""
    limit = next(
        getattr(model, word) for word in ("c", "k", "l", "t", "alpha", "beta", "delta") if hasattr(model, word)
    )
    taxonomy = getattr(model, "taxonomy", None)
    return Promise(
        model.name,
        str(model),
        limit,
        model.column,
        model.l if hasattr(model, "c") else 0,
        getattr(model, "harmless", ()),
        getattr(model, "distance", None),
        () if taxonomy is None else tuple(taxonomy.paths()),
        getattr(model, "enhanced", False),
    )


def witness_of(quasi_identifiers, models=None):
    """A witness of some quasi-identifiers, of their k alone if there are no models."""
    asked = []
    for qid in quasi_identifiers:
        promises = (Promise("k-anonymity", f"k={qid.k}", qid.k),) if models is None else map(promise_of, models)
        asked.append(Asked(qid.attributes, qid.k, tuple(promises)))
    return Witness(asked)
