"""All searches by name.

A family declares its methods in its own folder; being listed here is enough to be known to help, options, comparison
and the conformance suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import PolicyError, UnknownNameError
from incrowd.search import automatic, baselines, bottom_up, clustering, mondrian, optimal, safepub, top_down
from incrowd.search.method import Method

METHODS: Mapping[str, Method] = {
    **automatic.METHODS,
    **top_down.METHODS,
    **bottom_up.METHODS,
    **clustering.METHODS,
    **optimal.METHODS,
    **mondrian.METHODS,
    **baselines.METHODS,
    **safepub.METHODS,
}


def methods() -> dict[str, str]:
    """The methods by name, each with what it is in one line.

    Example:
        >>> import incrowd
        >>> incrowd.methods()["tds"]
        'top-down specialization: best information gain per anonymity lost'
    """
    return {name: method.about for name, method in METHODS.items()}


def method_of(
    name: str, options: Mapping[str, Any], quasi_identifiers: int = 1, of_table: Sequence[Any] = ()
) -> Method:
    """The method of that name; its options are checked, and whether it takes what it has to.

    That are so many quasi-identifiers, and promises `of_table`, about all classes together.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise UnknownNameError("method", str(name), METHODS)
    method = METHODS[name]
    for option, value in options.items():
        if option not in method.options:
            raise _unknown(option, name)
        method.options[option].check(option, value)
    if quasi_identifiers > 1 and not method.several:
        able = ", ".join(word for word, other in METHODS.items() if other.several)
        raise PolicyError(
            f"The method '{name}' takes only one quasi-identifier. Got {quasi_identifiers}; methods that take several: "
            f"{able}."
        )
    if of_table and not method.whole_tables:
        able = ", ".join(word for word, other in METHODS.items() if other.whole_tables)
        raise PolicyError(
            f"The method '{name}' looks at single crowds and cannot promise {of_table[0]}; methods that can: {able}."
        )
    return method


def _unknown(option: str, name: str) -> PolicyError:
    """The error for an option that a method does not have; says which methods have it."""
    takers = [word for word, method in METHODS.items() if option in method.options]
    if not takers:
        if name in automatic.METHODS:  # whoever chose no method may mean an option of any
            known = sorted({word for method in METHODS.values() for word in method.options})
            return UnknownNameError("option", option, known, "any method")
        return UnknownNameError("option", option, METHODS[name].options, f"method '{name}'")
    return PolicyError(f"The method '{name}' has no option '{option}'; it is an option of {', '.join(takers)}.")
