"""`grad` and `value_and_grad` by Modules, Variables and arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

import jax

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.callables import describe
from typed_nnx._transforms.diff_argnums import Chosen, DiffArg, DiffArgs, by_position, number_of
from typed_nnx._transforms.differentiable import Tangents, divide, prefix_of, unite
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import kind_of_result
from typed_nnx._transforms.prefixes import Prefix
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx.errors import ArgnumsError, AuxResultError, NonScalarLossError

P = ParamSpec("P")
R = TypeVar("R")


class GradOptions(NamedTuple):
    """The options of `grad`."""

    argnums: DiffArgs = 0
    has_aux: bool = False
    rest: Mapping[str, Any] = {}


def _rest(holomorphic: bool, allow_int: bool, reduce_axes: Sequence[Hashable]) -> dict[str, Any]:
    rest: dict[str, Any] = {"holomorphic": holomorphic, "allow_int": allow_int}
    return rest | {"reduce_axes": reduce_axes} if reduce_axes else rest


class Gradient(Lifted[P, R]):
    """The gradient of a function; what `grad` and `value_and_grad` return."""

    transform = "grad"
    _with_value = False

    def __init__(
        self,
        function: Callable[P, R],
        options: GradOptions,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._options = options
        structural = self._lift.modes[1]
        self._chosen = Chosen.of(self.transform, "argnums", options.argnums, structural)
        if not self._chosen.entries:
            raise ArgnumsError(
                f"{self.transform}: argnums", options.argnums, "it names no argument"
            )

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function and differentiate it."""
        function, chosen = self._lift.function, self._chosen
        given: tuple[Any, ...] = args
        named: dict[str, Any] = kwargs
        if kwargs and any(self._is_by_name(entry, len(args)) for entry in chosen.entries):
            given, named = by_position(function, args, kwargs)
        numbers = chosen.numbers(function, len(given))
        call = self._gather(given, named, dict(zip(numbers, chosen.entries, strict=True)))
        arguments = call.signature.arguments
        divided = [divide(arguments[number], call.args[number]) for number in numbers]
        flat: Flat
        (_, flat), found = jax.value_and_grad(
            self._loss(call, numbers), has_aux=True, **self._options.rest
        )([own for own, _ in divided], [rest for _, rest in divided])
        result = self._lift.finish(call, flat)
        as_gradient = Tangents()
        gradients: list[Any] = [None] * len(numbers)
        for place in sorted(range(len(numbers)), key=numbers.__getitem__):  # as they were gathered
            gradients[place] = as_gradient(arguments[numbers[place]], found[place])
        return self._result(result, gradients[0] if chosen.is_one else tuple(gradients))  # type: ignore[no-any-return]  # gradients

    def _is_by_name(self, entry: DiffArg, count: int) -> bool:
        """Whether an argument to differentiate by may have been given by its name."""
        number = number_of(entry)
        return number >= count or (number < 0 and self._lift.modes[1])

    def _gather(self, args: Any, kwargs: Any, chosen: Mapping[int, DiffArg]) -> Call:
        structural = self._lift.modes[1]
        prefixes: list[Prefix] = [
            prefix_of(chosen[number], structural) if number in chosen else False
            for number in range(len(args))
        ]
        return self._lift.gather(args, kwargs, prefixes, keyword_prefix=False, capture_prefix=False)

    def _loss(self, call: Call, numbers: Sequence[int]) -> Callable[..., tuple[Any, Flat]]:
        lift, arguments = self._lift, call.signature.arguments

        def loss(chosen: Any, others: Any) -> tuple[Any, Flat]:
            args = list(call.args)
            for number, own, rest in zip(numbers, chosen, others, strict=True):
                args[number] = unite(arguments[number], own, rest)
            inside = lift.enter(call.signature, args, call.kwargs, call.captured)
            result = inside.result()
            value = self._value(result)
            if isinstance(value, Variable):
                value = value.get_value()
            result = (value, result[1]) if self._options.has_aux else value
            return value, inside.leave(result)

        def names(chosen: Any, others: Any) -> Any:
            every, _, _ = names_of(
                lift.parameters, call.signature, call.args, call.kwargs, call.captured
            )
            divided = [divide(arguments[number], every[number]) for number in numbers]
            return [own for own, _ in divided], [rest for _, rest in divided]

        return shown(loss, lift.function, names)

    def _value(self, result: Any) -> Any:
        """Return the loss of a result.

        Raises:
            AuxResultError: It should have auxiliary output and has none.
            NonScalarLossError: It is no scalar.
        """
        function = describe(self._lift.function)
        value = result
        if self._options.has_aux:
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise AuxResultError(self.transform, function, kind_of_result(result))
            value = result[0]
        shape: Any = getattr(value, "shape", None)
        if shape is None and not isinstance(value, int | float | complex):
            raise NonScalarLossError(self.transform, function, kind_of_result(value))
        if shape:
            found = f"{getattr(value, 'dtype', type(value).__name__)}{list(shape)}"
            raise NonScalarLossError(self.transform, function, found)
        return value

    def _result(self, result: Any, gradients: Any) -> Any:
        if self._with_value:
            return result, gradients
        return (gradients, result[1]) if self._options.has_aux else gradients


class ValueAndGradient(Gradient[P, R]):
    """A function that also returns its gradient; what `value_and_grad` returns."""

    transform = "value_and_grad"
    _with_value = True


@overload
def grad(
    f: Callable[P, Any],
    *,
    argnums: DiffArgs = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    allow_int: bool = ...,
    reduce_axes: Sequence[Hashable] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Gradient[P, Any]: ...
@overload
def grad(
    *,
    argnums: DiffArgs = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    allow_int: bool = ...,
    reduce_axes: Sequence[Hashable] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, Any]], Gradient[P, Any]]: ...
@hides_frames
def grad(
    f: Any = UNSET,
    *,
    argnums: DiffArgs = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Hashable] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Return a function that computes the gradient of `f`, as `jax.grad` does for arrays.

    The gradient by a Module is a State of its Params; by arrays it is arrays. With
    ``graph_updates=False`` it is a Module, with the gradients of all Variables.

    >>> import jax.numpy as jnp
    >>> weight = Param(jnp.array(3.0))
    >>> float(grad(lambda weight: weight**2)(weight)[...])
    6.0

    Args:
        f: A function that returns a float scalar. Without it a decorator is returned.
        argnums: The argument or arguments to differentiate by: positions, or `DiffState` to choose
            other Variables than Params.
        has_aux: The function returns ``(value, aux)``.
        holomorphic: The function is holomorphic, of complex numbers.
        allow_int: Integer values get gradients of the dtype float0.
        reduce_axes: Axes over which gradients are summed.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        NonScalarLossError: The function did not return a scalar.
        AuxResultError: With has_aux, it did not return a pair.
        ArgumentOutOfRangeError: There is no such argument.
        PrefixConflictError: A Variable to differentiate by is in another argument too.

    Returns:
        A function of the same arguments: the gradients, with has_aux ``(gradients, aux)``.
    """
    options = GradOptions(argnums, has_aux, _rest(holomorphic, allow_int, reduce_axes))

    def wrap(function: Any) -> Gradient[..., Any]:
        return Gradient(function, options, graph, graph_updates)

    return wrap if f is UNSET else wrap(f)


@overload
def value_and_grad(
    f: Callable[P, Any],
    *,
    argnums: DiffArgs = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    allow_int: bool = ...,
    reduce_axes: Sequence[Hashable] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> ValueAndGradient[P, Any]: ...
@overload
def value_and_grad(
    *,
    argnums: DiffArgs = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    allow_int: bool = ...,
    reduce_axes: Sequence[Hashable] = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, Any]], ValueAndGradient[P, Any]]: ...
@hides_frames
def value_and_grad(
    f: Any = UNSET,
    *,
    argnums: DiffArgs = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Hashable] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Return a function that computes `f` and its gradient, as `jax.value_and_grad` for arrays.

    The gradient by a Module is a State of its Params; by arrays it is arrays. With
    ``graph_updates=False`` it is a Module, with the gradients of all Variables.

    >>> import jax.numpy as jnp
    >>> weight = Param(jnp.array(3.0))
    >>> loss, gradient = value_and_grad(lambda weight: weight**2)(weight)
    >>> float(loss), float(gradient[...])
    (9.0, 6.0)

    Args:
        f: A function that returns a float scalar. Without it a decorator is returned.
        argnums: The argument or arguments to differentiate by: positions, or `DiffState` to choose
            other Variables than Params.
        has_aux: The function returns ``(value, aux)``.
        holomorphic: The function is holomorphic, of complex numbers.
        allow_int: Integer values get gradients of the dtype float0.
        reduce_axes: Axes over which gradients are summed.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        NonScalarLossError: The function did not return a scalar.
        AuxResultError: With has_aux, it did not return a pair.
        ArgumentOutOfRangeError: There is no such argument.
        PrefixConflictError: A Variable to differentiate by is in another argument too.

    Returns:
        A function of the same arguments that returns ``(value, gradients)``, with has_aux
        ``((value, aux), gradients)``.
    """
    options = GradOptions(argnums, has_aux, _rest(holomorphic, allow_int, reduce_axes))

    def wrap(function: Any) -> ValueAndGradient[..., Any]:
        return ValueAndGradient(function, options, graph, graph_updates)

    return wrap if f is UNSET else wrap(f)
