"""`cond` and `switch` with Modules among the operands and in what branches close over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax

from typed_nnx._core.variable import Variable
from typed_nnx._transforms.branch_differences import branch_differences
from typed_nnx._transforms.callables import describe
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typed_nnx.errors import BranchMismatchError

A = TypeVar("A")


def cond(
    pred: Any,
    true_fun: Callable[..., A],
    false_fun: Callable[..., A],
    *operands: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> A:
    """Run one of two functions, as `jax.lax.cond` does for arrays.

    What the branches do to Modules, their operands or what they close over, is seen outside. All
    branches must leave the same structure.

    >>> import jax.numpy as jnp
    >>> count = Variable(jnp.array(1))
    >>> def double(count): count[...] *= 2
    >>> cond(count[...] > 0, double, lambda count: None, count)
    >>> int(count[...])
    2

    Args:
        pred: A bool or number, traced or not, or a Variable of one.
        true_fun: What to run if it is true: a function of the operands.
        false_fun: What to run if it is false.
        *operands: The operands.
        graph: False asserts that the operands are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        BranchMismatchError: The branches leave different structures or types.

    Returns:
        What the branch returned.
    """
    call, branches = _branches("cond", (true_fun, false_fun), operands, graph, graph_updates)
    choice = pred.get_value() if isinstance(pred, Variable) else pred
    flat = jax.lax.cond(choice, *branches.functions, call.args, call.captured)
    return branches.lift.finish(call, flat)  # type: ignore[no-any-return]  # what a branch returned


def switch(
    index: Any,
    branches: Sequence[Callable[..., A]],
    *operands: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> A:
    """Run one of several functions, as `jax.lax.switch` does for arrays; see `cond`.

    Args:
        index: The number of the function, clamped to those that there are, or a Variable of it.
        branches: The functions of the operands.
        *operands: The operands.
        graph: False asserts that the operands are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        BranchMismatchError: The branches leave different structures or types.

    Returns:
        What the branch returned.
    """
    call, made = _branches("switch", tuple(branches), operands, graph, graph_updates)
    choice = index.get_value() if isinstance(index, Variable) else index
    flat = jax.lax.switch(choice, made.functions, call.args, call.captured)
    return made.lift.finish(call, flat)  # type: ignore[no-any-return]  # what a branch returned


def _branches(
    name: str,
    functions: tuple[Callable[..., Any], ...],
    operands: Sequence[Any],
    graph: bool | None,
    graph_updates: bool | None,
) -> tuple[Call, _Branches]:
    lift = Lift(name, functions, graph, graph_updates)
    # Every branch returns all values: jax drops those that no branch changes.
    call = lift.gather(operands, kept=[True] * len(operands), keep_captured=True)
    return call, _Branches(lift, call)


class _Branches:
    """The branches as functions of plain values, which compare what they leave."""

    def __init__(self, lift: Lift, call: Call) -> None:
        self.lift = lift
        self._call = call
        self._first: tuple[int, Flat] | None = None
        self.functions = [self._branch(number) for number in range(len(lift.function))]

    def _branch(self, number: int) -> Callable[..., Flat]:
        def flat(args: Any, captured: Any) -> Flat:
            inside = self.lift.enter(self._call.signature, args, {}, captured)
            found = inside.leave(inside.result(number))
            if self._first is None or self._first[0] == number:
                self._first = (number, found)
            else:
                self._compare(*self._first, number, found)
            return found

        return flat

    def _compare(self, first: int, one: Flat, number: int, other: Flat) -> None:
        """Raise if two branches leave different structures or types.

        Raises:
            BranchMismatchError: It names what differs and where.
        """
        names = self._name(first), self._name(number)
        found = branch_differences(self._call, one, other, names)
        if found:
            functions = [describe(self.lift.function[n]) for n in (first, number)]
            left, right = [f"{n} ({f})" for n, f in zip(names, functions, strict=True)]
            raise BranchMismatchError(self.lift.name, left, right, found)

    def _name(self, number: int) -> str:
        if self.lift.name == "cond":
            return "false_fun" if number else "true_fun"
        return f"branch {number}"
