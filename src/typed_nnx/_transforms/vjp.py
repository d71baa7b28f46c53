"""`vjp` of functions of Modules, Variables and arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import jax
from jax.typing import ArrayLike

from typed_nnx._core.jax_runtime import hides_frames
from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._core.settings import MISSING, Missing, typed_as
from typed_nnx._core.state import State
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.engine.call import is_object, result_name
from typed_nnx._transforms.engine.diff import Given, Results, Tangents, check_pair, only_wanted
from typed_nnx._transforms.engine.explain import names_of, shown
from typed_nnx._transforms.engine.lift import Lift, Lifted, P, R
from typed_nnx._transforms.engine.prefixes import Function, Tree, Value
from typed_nnx._transforms.engine.signature import Argument, TraceResult
from typed_nnx._transforms.engine.trace import Trace, is_unchanged
from typed_nnx.errors import ArgumentTypeError, SharedReferenceError, TangentStructureError

if TYPE_CHECKING:
    from typed_nnx._transforms import vjp_overloads as overloads


class DifferentiatedCall:
    """One call of a function that is differentiated by all of its arguments."""

    __slots__ = ("_call", "_has_aux", "_lift", "arguments", "values")

    def __init__(self, lift: Lift, primals: Sequence[Value], has_aux: bool) -> None:
        # Kept, so that the values of new objects in the result are among the outputs of jax.
        self._call = lift.gather(primals, kept=[True] * len(primals), keep_captured=True)
        self._lift = lift
        self._has_aux = has_aux
        self.arguments: tuple[Argument | None, ...] = self._call.signature.arguments
        self.values: tuple[Tree, ...] = self._call.args

    @property
    def shown(self) -> Callable[..., tuple[Tree, TraceResult]]:
        """`function` as jax shows it: as the user's function."""
        lift, call = self._lift, self._call

        def names(*values: Tree) -> Tree:
            return names_of(lift.parameters, call.signature, values, {}, call.captured)[0]

        return shown(self.function, lift.function, names)

    def function(self, *values: Tree) -> tuple[Tree, TraceResult]:
        """Run the function on plain values; for jax, with everything else as auxiliary output."""
        lift, call = self._lift, self._call
        trace = lift.trace(call.signature, values, call.kwargs, call.captured)
        result = trace.run()
        if not self._has_aux:
            found = trace.finish(result)
            self._check(trace, result, ())
            return found.result, found._replace(result=None)
        check_pair(lift.name, lift.function, result)
        found = trace.finish((result[0], result[1]))
        self._check(trace, result[0], (0,))
        out, aux = found.result
        return out, found._replace(result=aux)

    def _check(self, trace: Trace, out: Tree, path: Path) -> None:
        """Raise if an object of an argument was returned: its values would not be in the result.

        Raises:
            SharedReferenceError: With the place in the result.
        """
        entries = jax.tree_util.tree_leaves_with_path(out, is_leaf=is_object)
        if not any(is_object(leaf) for _, leaf in entries):
            return
        known = trace.known()
        for keys, leaf in entries:
            if not is_object(leaf):
                continue
            for node in Traversal().visit(leaf).objects:
                if id(node) in known:
                    place = result_name((*path, *map(key_of_entry, keys)))
                    raise SharedReferenceError(
                        self._lift.title,
                        type(node).__name__,
                        [trace.place_of(node), place],
                        "The result can only be differentiated if its objects are new.",
                        "return nnx.clone(...) of it, or return it as aux with has_aux=True",
                    )

    def finish(self, out: Tree, found: TraceResult) -> tuple[Tree, Tree]:
        """Write the changes into the objects; return the result and the auxiliary output."""
        found = only_wanted(self._call, found, self._has_changed)
        if not self._has_aux:
            return self._lift.finish(self._call, found._replace(result=out)), None
        pair = self._lift.finish(self._call, found._replace(result=(out, found.result)))
        return pair[0], pair[1]

    def _has_changed(self, number: int, leaf: int, value: Value) -> bool:
        return not is_unchanged(self._call.inputs[number].values[leaf], value)


class Jvp(Lifted[[Sequence[Value], Sequence[Value]], R]):
    """A function of primals and tangents that pushes the tangents forward."""

    transform = "jvp"
    _options: bool  # has_aux

    @hides_frames
    def __call__(self, primals: Sequence[Value], tangents: Sequence[Value]) -> R:
        """Call the function and push the tangents forward.

        Args:
            primals: The arguments.
            tangents: A tangent for each: Modules, or States, for Modules.

        Raises:
            TangentStructureError: A tangent has another structure than its primal.
        """
        for name, given in (("primals", primals), ("tangents", tangents)):
            if not isinstance(given, tuple | list):
                found = type(given).__name__
                raise TangentStructureError("jvp", name, "a tuple or list", found)
        if len(primals) != len(tangents):
            expected = f"a tuple of {len(primals)}, one for each primal"
            raise TangentStructureError("jvp", "tangents", expected, f"{len(tangents)}")
        call = DifferentiatedCall(self._lift, primals, self._options)
        given_tangents = Given("jvp")
        values = [
            given_tangents.argument(argument, tangent, f"tangents[{number}]")
            for number, (argument, tangent) in enumerate(zip(call.arguments, tangents, strict=True))
        ]
        out, slope, found = jax.jvp(call.shown, call.values, tuple(values), has_aux=True)
        out, aux = call.finish(out, found)
        slope = Results(found.effects, 0 if self._options else None).as_objects(slope)
        return (out, slope, aux) if self._options else (out, slope)  # type: ignore[return-value]  # as declared by `jvp`


@typed_as(lambda: overloads.jvp)
@hides_frames
def jvp(
    f: Function | Missing = MISSING,
    primals: Tree = MISSING,
    tangents: Tree = MISSING,
    *,
    has_aux: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Call a function and push tangents forward, as `jax.jvp` does for arrays.

    The tangent of a Module is a Module of the same structure, with tangents of all Variables.

    >>> import jax.numpy as jnp
    >>> weight, tangent = Param(jnp.array(3.0)), Param(jnp.array(1.0))
    >>> out, slope = jvp(lambda weight: weight**2, (weight,), (tangent,))
    >>> float(out), float(slope)
    (9.0, 6.0)

    Args:
        f: The function. Without it a decorator is returned.
        primals: Its arguments. Without them, a function of primals and tangents is returned.
        tangents: A tangent for each argument.
        has_aux: The function returns ``(result, aux)``.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        TangentStructureError: A tangent has another structure than its primal.
        ResultError: With has_aux, the function did not return a pair.
        SharedReferenceError: The function returned an object of an argument.

    Returns:
        The result and its tangent, with has_aux also the auxiliary output.
    """
    transformed = Jvp.of(f, graph, graph_updates, has_aux)
    if f is MISSING or (primals is MISSING and tangents is MISSING):
        return transformed
    return transformed(primals, tangents)


R_co = TypeVar("R_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)


class Pullback(Generic[R_co, A_co]):
    """Takes a cotangent of the result to cotangents of the arguments; `vjp` returns it.

    A pytree, so that it can leave a `jit`. For type checkers its parameters are the type of the
    result and a tuple of those of the arguments.
    """

    __slots__ = ("_arguments", "_pull", "_results")

    def __init__(
        self, pull: Function, arguments: tuple[Argument | None, ...], results: Results
    ) -> None:
        self._pull = pull
        self._arguments = arguments
        self._results = results

    # A number or an array of numpy will do for an array of jax.
    @overload
    def __call__(self: Pullback[jax.Array, Any], cotangent: ArrayLike, /) -> A_co: ...
    @overload
    def __call__(self: Pullback[R, Any], cotangent: R | State, /) -> A_co: ...
    @hides_frames
    def __call__(self, cotangent: Tree, /) -> A_co:
        """Return the cotangents of the arguments.

        Args:
            cotangent: The cotangent of the result: Modules, or States, where the result has Modules.

        Raises:
            TangentStructureError: It has another structure than the result.
        """
        given = Given("vjp").result(self._results, cotangent, "the cotangent of the result")
        return tuple(Tangents().of(zip(self._arguments, self._pull(given), strict=True)))  # type: ignore[return-value]  # of the arguments' types

    def __repr__(self) -> str:
        return f"<nnx.vjp: from the result to {len(self._arguments)} arguments>"


jax.tree_util.register_pytree_node(
    Pullback,
    lambda pullback: ((pullback._pull,), (pullback._arguments, pullback._results)),
    lambda static, pull: Pullback(pull[0], *static),
)


class Vjp(Lifted[P, R]):
    """A function that returns its result and the function that pulls cotangents back."""

    transform = "vjp"
    _options: tuple[bool, dict[str, Tree]]  # has_aux, those for jax

    @hides_frames
    def __call__(self, *primals: P.args, **kwargs: P.kwargs) -> R:
        """Call the function and make ready to pull cotangents back."""
        if kwargs:
            raise ArgumentTypeError(
                "vjp()",
                f"got an unexpected keyword argument {next(iter(kwargs))!r}.",
                "give all arguments by position",
            )
        has_aux, rest = self._options
        call = DifferentiatedCall(self._lift, primals, has_aux)
        out, pull, found = jax.vjp(call.shown, *call.values, has_aux=True, **rest)
        out, aux = call.finish(out, found)
        results = Results(found.effects, 0 if has_aux else None)
        pullback: Pullback[Any, Any] = Pullback(pull, call.arguments, results)
        return (out, pullback, aux) if has_aux else (out, pullback)  # type: ignore[return-value]  # as declared by `vjp`


@typed_as(lambda: overloads.vjp)
@hides_frames
def vjp(
    f: Function | Missing = MISSING,
    *primals: Tree,
    has_aux: bool = False,
    reduce_axes: Sequence[Hashable] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Call a function and return its pullback, as `jax.vjp` does for arrays.

    The cotangent of a Module is a Module of the same class, with the cotangents of all Variables.
    Changes to Modules happen once, however often cotangents are pulled back.

    >>> import jax.numpy as jnp
    >>> weight = Param(jnp.array(3.0))
    >>> out, pull = vjp(lambda weight: weight**2, weight)
    >>> (by_weight,) = pull(jnp.array(1.0))
    >>> float(out), float(by_weight[...])
    (9.0, 6.0)

    Args:
        f: The function. Without it a decorator is returned.
        *primals: Its arguments. Without any, a function of them is returned.
        has_aux: The function returns ``(result, aux)``.
        reduce_axes: Axes over which cotangents are summed.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        ResultError: With has_aux, the function did not return a pair.
        SharedReferenceError: The function returned an object of an argument.

    Returns:
        The result and a function from its cotangent to a tuple of those of the arguments, with
        has_aux also the auxiliary output.
    """
    rest: dict[str, Tree] = {"reduce_axes": reduce_axes} if reduce_axes else {}
    transformed = Vjp.of(f, graph, graph_updates, (has_aux, rest))
    return transformed(*primals) if primals else transformed
