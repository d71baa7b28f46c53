"""A call whose result is differentiated by all of its arguments, as `vjp` and `jvp` do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.callables import describe
from typed_nnx._transforms.gather import is_object
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.kept_values import only_wanted
from typed_nnx._transforms.leaving import is_unchanged
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import kind_of_result, result_name
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx._transforms.tangents import Results
from typed_nnx.errors import AuxResultError, DifferentiatedInputError


class DifferentiatedCall:
    """One call of a function that is differentiated by all of its arguments.

    Args:
        lift: The function.
        primals: The arguments.
        has_aux: Whether the function returns ``(result, aux)``.

    Attributes:
        arguments: What is static about each argument.
        values: The plain values of the arguments.
    """

    __slots__ = ("_call", "_has_aux", "_lift", "arguments", "values")

    def __init__(self, lift: Lift, primals: Sequence[Any], has_aux: bool) -> None:
        # Kept, so that the values of new objects in the result are among the outputs of jax.
        self._call = lift.gather(primals, kept=[True] * len(primals), keep_captured=True)
        self._lift = lift
        self._has_aux = has_aux
        self.arguments = self._call.signature.arguments
        self.values = self._call.args

    @property
    def shown(self) -> Callable[..., tuple[Any, Flat]]:
        """`function` as jax shows it: as the user's function."""
        lift, call = self._lift, self._call

        def names(*values: Any) -> Any:
            return names_of(lift.parameters, call.signature, values, {}, call.captured)[0]

        return shown(self.function, lift.function, names)

    def function(self, *values: Any) -> tuple[Any, Flat]:
        """Run the function on plain values; for jax, with everything else as auxiliary output."""
        lift, call = self._lift, self._call
        inside = lift.enter(call.signature, values, call.kwargs, call.captured)
        result = inside.result()
        if not self._has_aux:
            found = inside.leave(result)
            self._check(inside, result, ())
            return found.result, found._replace(result=None)
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise AuxResultError(lift.name, describe(lift.function), kind_of_result(result))
        found = inside.leave((result[0], result[1]))
        self._check(inside, result[0], (0,))
        out, aux = found.result
        return out, found._replace(result=aux)

    def _check(self, inside: Inside, out: Any, path: Path) -> None:
        """Raise if an object of an argument was returned: its values would not be in the result.

        Raises:
            DifferentiatedInputError: With the place in the result.
        """
        entries = jax.tree_util.tree_leaves_with_path(out, is_leaf=is_object)
        if not any(is_object(leaf) for _, leaf in entries):
            return
        known = inside.known()
        for keys, leaf in entries:
            if not is_object(leaf):
                continue
            for node in Traversal().visit(leaf).objects:
                if id(node) in known:
                    place = result_name((*path, *map(key_of_entry, keys)))
                    kind = type(node).__name__
                    raise DifferentiatedInputError(
                        self._lift.title, kind, inside.place_of(node), place
                    )

    def finish(self, out: Any, found: Flat) -> tuple[Any, Any]:
        """Write the changes into the objects; return the result and the auxiliary output."""
        found = only_wanted(self._call, found, self._has_changed)
        if not self._has_aux:
            return self._lift.finish(self._call, found._replace(result=out)), None
        pair = self._lift.finish(self._call, found._replace(result=(out, found.result)))
        return pair[0], pair[1]

    def _has_changed(self, number: int, leaf: int, value: Any) -> bool:
        return not is_unchanged(self._call.places[number].values[leaf], value)

    def results(self, found: Flat) -> Results:
        """Return the structure of the result."""
        return Results(found.static.value, 0 if self._has_aux else None)
