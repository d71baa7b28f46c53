"""`custom_vjp`: functions of Modules, Variables and arrays with a derivative of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Self, TypeVar, overload

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._transforms.callables import describe
from typed_nnx._transforms.diff_argnums import Chosen, DiffArgs, by_position
from typed_nnx._transforms.lifted import Lifted
from typed_nnx._transforms.rule_call import RuleCall
from typed_nnx.errors import MissingRuleError

P = ParamSpec("P")
R = TypeVar("R")


class CustomVjp(Lifted[P, R]):
    """A function with a rule for its derivative; what `custom_vjp` returns."""

    transform = "custom_vjp"

    def __init__(
        self,
        function: Callable[P, R],
        nondiff_argnums: DiffArgs,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        structural = self._lift.modes[1]
        self._nondiff = Chosen.of(self.transform, "nondiff_argnums", nondiff_argnums, structural)
        # The function and its rule together: what one closes over, the others may close over too.
        self._lift = self._lift.of((function,))
        self._symbolic_zeros = False

    def defvjp(
        self,
        fwd: Callable[..., tuple[R, Any]],
        bwd: Callable[..., tuple[Any, ...] | list[Any]],
        symbolic_zeros: bool = False,
    ) -> None:
        """Give the function its rule.

        Args:
            fwd: A function of the same arguments that returns the result and what `bwd` needs, the
                residuals: any tree of arrays and Modules.
            bwd: A function of the arguments in nondiff_argnums, the residuals and the cotangents.
                By default these are a pair: for each other argument the cotangents of its values
                at the end of the call, as States, and those of the result. With
                ``graph_updates=False`` they are those of the result alone, with Modules; those of
                changed Variables are given to a parameter called ``updates_g``, as a tuple with a
                Module or Variable for each argument that has None for what stayed. It returns
                a tuple with a cotangent for each other argument: a State (or Module) of all
                Variables, an array, or None for zero.
            symbolic_zeros: Show which values are differentiated and which cotangents are zero, as
                ``jax.custom_vjp`` does.
        """
        self._lift = self._lift.of((self._lift.function[0], fwd, bwd))
        self._symbolic_zeros = symbolic_zeros

    def nnx_with_function(self, function: Any) -> Self:
        """Return the same for another function, with its rule."""
        made = super().nnx_with_function(function)
        made.__wrapped__ = function[0]
        return made

    @hides_frames
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        functions = self._lift.function
        if len(functions) == 1:
            raise MissingRuleError(describe(functions))
        given, named = by_position(functions[0], args, kwargs, defaults=True)
        return RuleCall(self._lift, self._nondiff, self._symbolic_zeros, given, named)()  # type: ignore[no-any-return]  # of the user's function


@overload
def custom_vjp(
    fun: Callable[P, R],
    *,
    nondiff_argnums: DiffArgs = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> CustomVjp[P, R]: ...
@overload
def custom_vjp(
    *,
    nondiff_argnums: DiffArgs = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, R]], CustomVjp[P, R]]: ...
@hides_frames
def custom_vjp(
    fun: Any = UNSET,
    *,
    nondiff_argnums: DiffArgs = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Give a function a derivative of its own, as `jax.custom_vjp` does for arrays.

    What the function, and when it is differentiated ``fwd``, do to Modules is seen outside.

    >>> import jax.numpy as jnp
    >>> @custom_vjp
    ... def double(weight): return weight[...] * 2
    >>> def fwd(weight): return double(weight), None
    >>> def bwd(residuals, cotangents): return (Param(cotangents[1] * 100),)
    >>> double.defvjp(fwd, bwd)
    >>> float(grad(double)(Param(jnp.array(3.0)))[...])
    100.0

    Args:
        fun: The function. Without it a decorator is returned.
        nondiff_argnums: Positions of arguments that the rule returns no cotangents for; or
            `DiffState`, to choose the Variables of an argument that it does.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        ArgnumsError: nondiff_argnums has something that is no position, or one twice.
        PrefixKindError: nondiff_argnums has a DiffState, with graph_updates=False.

    Returns:
        The function, with a method ``defvjp`` that must be called before it is.
    """

    def wrap(function: Any) -> CustomVjp[..., Any]:
        return CustomVjp(function, nondiff_argnums, graph, graph_updates)

    return wrap if fun is UNSET else wrap(fun)
