"""`cond` and `switch` with Modules among the operands and in what branches close over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.variable import Variable
from typed_nnx._graph.split_merge import clone
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.branch_differences import branch_differences
from typed_nnx._transforms.callables import Parameters, describe
from typed_nnx._transforms.gather import Call, is_object
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx.errors import BranchMismatchError

A = TypeVar("A")


@hides_frames
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
    branches must leave the same structure. Where they return different objects that they close over
    the result is a new one, with the values of the one that was chosen.

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
    flat = branches.chosen(
        lambda: jax.lax.cond(choice, *branches.functions, call.args, call.captured)
    )
    return branches.lift.finish(call, flat)  # type: ignore[no-any-return]  # what a branch returned


@hides_frames
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
    flat = made.chosen(lambda: jax.lax.switch(choice, made.functions, call.args, call.captured))
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
        self._copies = False
        self.functions = self._made()

    def _made(self) -> list[Callable[..., Flat]]:
        return [self._branch(number) for number in range(len(self.lift.function))]

    def chosen(self, run: Callable[[], Flat]) -> Flat:
        """Return what the chosen branch left.

        Args:
            run: Gives the branches to jax.

        Raises:
            BranchMismatchError: The branches leave different structures or types.
        """
        try:
            return run()
        except BranchMismatchError as error:
            self._first, self._copies = None, True
            self.functions = self._made()  # jax keeps the traces of the others
            try:
                return run()
            except BranchMismatchError:
                raise error from None

    def _branch(self, number: int) -> Callable[..., Flat]:
        def flat(args: Any, captured: Any) -> Flat:
            inside = self.lift.enter(self._call.signature, args, {}, captured)
            result = inside.result(number)
            if self._copies:
                result = _without_captured(result, inside)
            found = inside.leave(result)
            if self._first is None or self._first[0] == number:
                self._first = (number, found)
            else:
                self._compare(*self._first, number, found)
            return found

        function = self.lift.function[number]

        def names(args: Any, captured: Any) -> Any:
            signature, parameters = self._call.signature, Parameters(function)
            every, _, closed = names_of(parameters, signature, args, {}, captured)
            return every, closed

        return shown(flat, function, names)

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


def _without_captured(result: Any, inside: Inside) -> Any:
    """Return a result with copies of its objects, if they came in by closures and not as operands."""
    treedef: Any
    leaves, treedef = jax.tree.flatten(result, is_leaf=is_object)
    objects = [leaf for leaf in leaves if is_object(leaf)]
    reached = Traversal().visit(objects).index.keys()
    if reached & Traversal().visit(inside.args).index.keys() or not reached & inside.known():
        return result
    copies = iter(clone(objects, graph=True))
    return treedef.unflatten([next(copies) if is_object(leaf) else leaf for leaf in leaves])
