"""The methods that release any table: those that are differentially private take hierarchies and larger crowds."""

from incrowd.search.registry import METHODS

ANY_TABLE = {name: method for name, method in METHODS.items() if not method.differential}
