"""`grad` and `value_and_grad` by Modules, Variables and arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax

from typed_nnx._core.cells import Bounded
from typed_nnx._core.jax_runtime import hide_frames, hides_frames
from typed_nnx._core.settings import MISSING, Missing, typed_as
from typed_nnx._core.variable import Variable
from typed_nnx._graph.record import verify
from typed_nnx._transforms.engine.argnums import (
    Chosen,
    DiffArg,
    DiffArgs,
    by_position,
    number_of,
    wrong_argnums,
)
from typed_nnx._transforms.engine.call import QuickCall, kind_of_result, quick_call
from typed_nnx._transforms.engine.closures import describe
from typed_nnx._transforms.engine.diff import (
    Tangents,
    are_lasting,
    check_pair,
    divide,
    prefix_of,
    unite,
)
from typed_nnx._transforms.engine.explain import names_of, shown
from typed_nnx._transforms.engine.lift import Lifted, P, R
from typed_nnx._transforms.engine.prefixes import Tree
from typed_nnx._transforms.engine.signature import Signature, TraceResult
from typed_nnx._transforms.engine.trace import Trace
from typed_nnx._transforms.engine.write import finish
from typed_nnx.errors import ResultError

if TYPE_CHECKING:
    from typed_nnx._transforms import grad_overloads as overloads


class GradOptions(NamedTuple):
    """The options of `grad`."""

    argnums: DiffArgs = 0
    has_aux: bool = False
    rest: Mapping[str, Tree] = {}


def _rest(holomorphic: bool, allow_int: bool, reduce_axes: Sequence[Hashable]) -> dict[str, Tree]:
    rest: dict[str, Tree] = {"holomorphic": holomorphic, "allow_int": allow_int}
    return rest | {"reduce_axes": reduce_axes} if reduce_axes else rest


class Program(NamedTuple):
    """How jax differentiates the calls of one kind.

    Attributes:
        numbers: The positions of the arguments to differentiate by.
        run: Returns ``((value, traced), gradients)``, given the plain values to differentiate by
            and the rest: the other values of these arguments, all arguments, and what is captured.
        tangents: Puts the gradients into the form of the arguments.
    """

    signature: Signature
    numbers: list[int]
    run: Callable[..., tuple[tuple[object, TraceResult], list[Tree]]]
    tangents: Tangents


class Gradient(Lifted[P, R]):
    """The gradient of a function; what `grad` and `value_and_grad` return."""

    transform = "grad"
    _with_value = False
    _options: GradOptions

    def _check_options(self) -> None:
        argnums, structural = self._options.argnums, self._lift.modes[1]
        self._chosen = Chosen.of(self.transform, "argnums", argnums, structural)
        if not self._chosen.entries:
            option = f"{self.transform}: argnums"
            raise wrong_argnums(option, argnums, "it names no argument")

    def _prepare(self) -> None:
        # By what the quick way sees of a call.
        self._programs: Bounded[object, Program] = Bounded(64)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function and differentiate it."""
        try:
            captures = self._lift.known_captures
            if captures is None or not captures.is_nothing:
                captures = self._lift.captures()
            everything = (*args, *captures.objects)
            call = None
            if not kwargs and not verify.enabled:
                call = quick_call(everything, frozenset())
            program = None if call is None else self._programs[len(args), call.key]
            if call is None or program is None:
                return self._call(args, kwargs, call)
            signature, parts = program.signature, iter(program.signature.parts)
            values = [
                value if key is None else next(parts).groups.divide(value)
                for key, value in zip(call.key, call.values, strict=True)
            ]
            count = len(args)
            traced, gradients = self._differentiate(program, values[:count], {}, values[count:])
            result = traced.result
            if not traced.effects.is_nothing:
                result = finish(call, signature, everything, traced)
            whole: R = self._result(result, gradients)
            return whole
        except Exception as error:
            hide_frames(error)
            raise

    def _call(self, args: tuple[Tree, ...], kwargs: dict[str, Tree], quick: QuickCall | None) -> R:
        """Call it the general way, and remember the program for later calls of the kind."""
        function, chosen, structural = self._lift.function, self._chosen, self._lift.modes[1]
        if kwargs and any(self._is_by_name(entry, len(args)) for entry in chosen.entries):
            args, kwargs = by_position(function, args, kwargs)
        numbers = chosen.numbers(function, len(args))
        entries = dict(zip(numbers, chosen.entries, strict=True))
        prefixes = [
            prefix_of(entries[number], structural) if number in entries else False
            for number in range(len(args))
        ]
        call = self._lift.gather(args, kwargs, prefixes, keyword_prefix=False, capture_prefix=False)
        program = self._program(call.signature, numbers)
        if quick is not None and quick.fits(call.signature) and are_lasting(call.inputs):
            self._programs.add((len(args), quick.key), program)
        traced, gradients = self._differentiate(program, call.args, call.kwargs, call.captured)
        result: R = self._result(self._lift.finish(call, traced), gradients)
        return result

    def _is_by_name(self, entry: DiffArg, count: int) -> bool:
        """Whether an argument to differentiate by may have been given by its name."""
        number = number_of(entry)
        return number >= count or (number < 0 and self._lift.modes[1])

    def _differentiate(
        self,
        program: Program,
        args: Sequence[Tree],
        kwargs: Mapping[str, Tree],
        captured: Sequence[Tree],
    ) -> tuple[TraceResult, Tree]:
        """Return what the function did, and the gradients."""
        arguments, numbers = program.signature.arguments, program.numbers
        chosen, rest = divide(program.signature, numbers, args)
        (_, traced), found = program.run(chosen, (rest, kwargs, captured))
        pairs = [(arguments[number], found[place]) for place, number in enumerate(numbers)]
        order = sorted(range(len(numbers)), key=numbers.__getitem__)  # as they were gathered
        gradients = program.tangents.of([pairs[place] for place in order])
        if self._chosen.is_one:
            return traced, gradients[0]
        by_place = dict(zip(order, gradients, strict=True))
        return traced, tuple([by_place[place] for place in range(len(numbers))])

    def _program(self, signature: Signature, numbers: list[int]) -> Program:
        lift, title = self._lift, self._lift.title

        def loss(chosen: Sequence[Tree], others: Tree) -> tuple[Tree, TraceResult]:
            rest, kwargs, captured = others
            args = unite(signature, numbers, chosen, rest)
            captures = lift.known_captures or lift.captures()
            trace = Trace(title, lift.function, captures, signature, args, kwargs, captured)
            result = trace.run()
            value = self._value(result)
            if isinstance(value, Variable):
                value = value.get_value()
            return value, trace.finish((value, result[1]) if self._options.has_aux else value)

        def names(chosen: Sequence[Tree], others: Tree) -> Tree:
            rest, kwargs, captured = others
            args = unite(signature, numbers, chosen, rest)
            every, named, closed = names_of(lift.parameters, signature, args, kwargs, captured)
            own, rest = divide(signature, numbers, every)
            return own, (rest, named, closed)

        run = jax.value_and_grad(
            shown(loss, lift.function, names), has_aux=True, **self._options.rest
        )
        return Program(signature, numbers, run, Tangents())

    def _value(self, result: Tree) -> Tree:
        """Return the loss of a result.

        Raises:
            ResultError: It should have auxiliary output and has none, or it is no scalar.
        """
        value = result
        if self._options.has_aux:
            check_pair(self.transform, self._lift.function, result)
            value = result[0]
        shape: Tree = getattr(value, "shape", None)
        if shape or (shape is None and not isinstance(value, int | float | complex)):
            found = kind_of_result(value)
            if shape:
                found = f"{getattr(value, 'dtype', type(value).__name__)}{list(shape)}"
            raise ResultError(
                self.transform,
                f"Gradient only defined for scalar-output functions. {describe(self._lift.function)} "
                f"returned {found}.",
                "return loss.mean() or loss.sum(); with further results, has_aux=True and "
                "`return loss, aux`",
            )
        return value

    def _result(self, result: Tree, gradients: Tree) -> Tree:
        if self._with_value:
            return result, gradients
        return (gradients, result[1]) if self._options.has_aux else gradients


class ValueAndGradient(Gradient[P, R]):
    """A function that also returns its gradient; what `value_and_grad` returns."""

    transform = "value_and_grad"
    _with_value = True


@typed_as(lambda: overloads.grad)
@hides_frames
def grad(
    f: Callable[P, Any] | Missing = MISSING,
    *,
    argnums: DiffArgs = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Hashable] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays.

    The gradient with respect to a Module is a State of its Params; to arrays it is arrays. With
    ``graph_updates=False`` it is a Module, with the gradients of all Variables.

    >>> import jax.numpy as jnp
    >>> weight = Param(jnp.array(3.0))
    >>> float(grad(lambda weight: weight**2)(weight)[...])
    6.0

    Args:
        f: A function that returns a float scalar. Without it a decorator is returned.
        argnums: The argument or arguments to differentiate: positions, or `DiffState` to choose
            other Variables than Params.
        has_aux: The function returns ``(value, aux)``.
        holomorphic: The function is holomorphic, of complex numbers.
        allow_int: Integer values get gradients of the dtype float0.
        reduce_axes: Axes over which gradients are summed.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        ResultError: The function did not return a scalar, or with has_aux, it did not return a
            pair.
        ArgumentError: There is no such argument.
        PrefixConflictError: A differentiated Variable is in another argument too.

    Returns:
        A function of the same arguments: the gradients, with has_aux ``(gradients, aux)``.
    """
    options = GradOptions(argnums, has_aux, _rest(holomorphic, allow_int, reduce_axes))
    return Gradient.of(f, graph, graph_updates, options)


@typed_as(lambda: overloads.value_and_grad)
@hides_frames
def value_and_grad(
    f: Callable[P, Any] | Missing = MISSING,
    *,
    argnums: DiffArgs = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Hashable] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Tree:
    """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays.

    The gradient with respect to a Module is a State of its Params; to arrays it is arrays. With
    ``graph_updates=False`` it is a Module, with the gradients of all Variables.

    >>> import jax.numpy as jnp
    >>> weight = Param(jnp.array(3.0))
    >>> loss, gradient = value_and_grad(lambda weight: weight**2)(weight)
    >>> float(loss), float(gradient[...])
    (9.0, 6.0)

    Args:
        f: A function that returns a float scalar. Without it a decorator is returned.
        argnums: The argument or arguments to differentiate: positions, or `DiffState` to choose
            other Variables than Params.
        has_aux: The function returns ``(value, aux)``.
        holomorphic: The function is holomorphic, of complex numbers.
        allow_int: Integer values get gradients of the dtype float0.
        reduce_axes: Axes over which gradients are summed.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        ResultError: The function did not return a scalar, or with has_aux, it did not return a
            pair.
        ArgumentError: There is no such argument.
        PrefixConflictError: A differentiated Variable is in another argument too.

    Returns:
        A function of the same arguments that returns ``(value, gradients)``, with has_aux
        ``((value, aux), gradients)``.
    """
    options = GradOptions(argnums, has_aux, _rest(holomorphic, allow_int, reduce_axes))
    return ValueAndGradient.of(f, graph, graph_updates, options)
