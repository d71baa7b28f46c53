"""One call of a function with a rule of its own: what jax's `custom_vjp` sees, and what users see."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jax.custom_derivatives import CustomVJPPrimal, SymbolicZero
from jax.interpreters import ad

from typed_nnx._core.trace import context
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.callables import describe
from typed_nnx._transforms.captures import Captures
from typed_nnx._transforms.diff_argnums import Chosen
from typed_nnx._transforms.differentiable import divide, prefix_of, unite
from typed_nnx._transforms.input_cotangents import InputCotangents
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.kept_values import only_wanted
from typed_nnx._transforms.leaving import is_unchanged
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import kind_of_result
from typed_nnx._transforms.prefixes import DiffState
from typed_nnx._transforms.residuals import packed, unpacked
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx._transforms.signature import Effects
from typed_nnx._transforms.tangents import Given, Results
from typed_nnx.errors import NoDerivativeError, RuleResultError

_FUNCTION, _FWD, _BWD = 0, 1, 2

_UPDATES = "updates_g"
"""The parameter of ``bwd`` for the cotangents of changed arguments, where structures are fixed."""


class RuleCall:
    """One call of a function with a rule.

    Arguments are divided into what the rule is for (``chosen``) and the rest: arguments in
    nondiff_argnums, keyword arguments, and what the three functions close over. Arrays of the rest
    go through jax, since they may belong to a trace; everything else is a constant.

    Args:
        lift: The function, ``fwd`` and ``bwd``.
        nondiff: What the user gave as nondiff_argnums.
        symbolic_zeros: Whether the rule gets jax's symbolic zeros.
        args: The positional arguments.
        kwargs: The keyword arguments: those that have no position.
    """

    def __init__(
        self,
        lift: Lift,
        nondiff: Chosen,
        symbolic_zeros: bool,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        self._lift = lift
        self._symbolic_zeros = symbolic_zeros
        numbers = nondiff.numbers(lift.function[_FUNCTION], len(args))
        entries = dict(zip(numbers, nondiff.entries, strict=True))
        self._nondiff = sorted(n for n in numbers if not isinstance(entries[n], DiffState))
        self._diff = [number for number in range(len(args)) if number not in self._nondiff]
        prefixes = [
            prefix_of(entries[n], True) if n in entries and n in self._diff else n in self._diff
            for n in range(len(args))
        ]
        # All values come back, so that the function and `fwd` return the same form to jax.
        kept = [prefix is not False for prefix in prefixes]
        self._call = lift.gather(
            args, kwargs, prefixes, capture_prefix=False, keyword_prefix=False, kept=kept
        )
        arguments = self._call.signature.arguments
        self._bwd_needs_objects = bool(
            any(arguments[number] is not None for number in self._nondiff)
            or Captures(lift.function[_BWD]).objects
        )
        self._changed: set[tuple[int, int]] = set()
        self._divide()

    def __call__(self) -> Any:
        """Run the function and return its result."""
        functions = self._lift.function
        function = jax.custom_vjp(shown(self._function, functions[_FUNCTION], self._names))
        fwd = shown(self._fwd, functions[_FWD], self._names)
        function.defvjp(fwd, shown(self._bwd, functions[_BWD]), symbolic_zeros=True)
        found: Flat = function(self._chosen, self._arrays)
        return self._lift.finish(self._call, self._only_changed(found))

    # -- arguments --------------------------------------------------------------------------------

    def _divide(self) -> None:
        call = self._call
        divided = [
            divide(call.signature.arguments[number], call.args[number]) for number in self._diff
        ]
        self._chosen = [own for own, _ in divided]
        rest = (
            [others for _, others in divided],
            [call.args[number] for number in self._nondiff],
            call.kwargs,
            call.captured,
        )
        self._rest, self._rest_tree = jax.tree.flatten(rest)
        self._traced = [n for n, leaf in enumerate(self._rest) if isinstance(leaf, jax.Array)]
        self._arrays = [self._rest[number] for number in self._traced]

    def _names(self, chosen: Any, arrays: Any) -> Any:
        """Return names in the place of what jax gets."""
        call = self._call
        args, kwargs, captured = names_of(
            self._lift.parameters, call.signature, call.args, call.kwargs, call.captured
        )
        divided = [divide(call.signature.arguments[n], args[n]) for n in self._diff]
        others = [rest for _, rest in divided]
        rest = jax.tree.leaves((others, [args[n] for n in self._nondiff], kwargs, captured))
        return [own for own, _ in divided], [rest[number] for number in self._traced]

    def _united(self, chosen: Any, arrays: Any) -> tuple[list[Any], Any, Any]:
        """Return the arguments, keyword arguments and captured objects as plain values."""
        leaves = list(self._rest)
        for number, value in zip(self._traced, arrays, strict=True):
            leaves[number] = value
        others, nondiff, kwargs, captured = jax.tree.unflatten(self._rest_tree, leaves)
        args: list[Any] = [None] * len(self._call.args)
        for number, value in zip(self._nondiff, nondiff, strict=True):
            args[number] = value
        for number, own, rest in zip(self._diff, chosen or (), others, strict=chosen is not None):
            args[number] = unite(self._call.signature.arguments[number], own, rest)
        return args, kwargs, captured

    # -- what jax calls ---------------------------------------------------------------------------

    def _function(self, chosen: Any, arrays: Any) -> Flat:
        inside = self._lift.enter(self._call.signature, *self._united(chosen, arrays))
        found = inside.leave(inside.result(_FUNCTION))
        self._note(inside, found)
        return found

    def _fwd(self, chosen: Any, arrays: Any) -> tuple[Flat, Any]:
        self._check_derivatives([leaf.perturbed for leaf in arrays])
        arrays = [leaf.value for leaf in arrays]
        values = jax.tree.map(_plain, chosen)
        shown = chosen if self._symbolic_zeros else values
        inside = self._lift.enter(self._call.signature, *self._united(shown, arrays))
        pair = inside.result(_FWD)
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise RuleResultError(
                self._rule(_FWD), "a pair (result, residuals)", kind_of_result(pair)
            )
        out, residuals = pair
        found = inside.leave(out)
        self._note(inside, found)
        needed: Any = None  # of the arguments, for `bwd`
        if self._bwd_needs_objects:
            needed = values, arrays
        elif self._nondiff:
            needed = None, arrays
        residual_values, plan = packed(residuals)
        return jax.tree.map(_plain, found), (jax.tree.map(_plain, residual_values), plan, needed)

    def _bwd(self, kept: Any, cotangent: Flat) -> tuple[Any, None]:
        residual_values, plan, needed = kept
        if not self._symbolic_zeros:
            cotangent = jax.tree.map(_instantiated, cotangent)
        results = Results(cotangent.static.value)
        arguments = self._call.signature.arguments
        by_inputs = InputCotangents(self._call.signature, cotangent)
        given: Any
        named: dict[str, Any] = {}
        if self._lift.modes[1]:
            states = by_inputs.of([arguments[number] for number in self._diff])
            given = (states, results.as_states(cotangent.result))
        else:
            given = results.as_objects(cotangent.result)
            if _takes(self._lift.function[_BWD], _UPDATES):
                named[_UPDATES] = by_inputs.as_objects(arguments, self._changed)
        found = self._run_bwd(needed, (unpacked(residual_values, plan), given), named)
        if not isinstance(found, tuple | list) or len(found) != len(self._diff):
            expected = f"a tuple of {len(self._diff)}, one for each differentiated argument"
            raise RuleResultError(self._rule(_BWD), expected, kind_of_result(found))
        return self._cotangents(found), None

    def _rule(self, which: int) -> str:
        name = "fwd" if which == _FWD else "bwd"
        return f"{name} ({describe(self._lift.function[which])})"

    def _run_bwd(self, needed: Any, last: tuple[Any, Any], named: dict[str, Any]) -> Any:
        """Run `bwd` on arguments in nondiff_argnums, residuals and cotangents."""
        bwd = self._lift.function[_BWD]
        if needed is None:
            return bwd(*last, **named)
        values, arrays = needed
        if not self._bwd_needs_objects:
            args, _, _ = self._united(None, arrays)
            return bwd(*[args[number] for number in self._nondiff], *last, **named)
        inside = self._lift.enter(self._call.signature, *self._united(values, arrays))
        inside.args = [*[inside.args[number] for number in self._nondiff], *last]
        inside.kwargs = named
        return inside.result(_BWD)

    def _cotangents(self, found: Sequence[Any]) -> list[Any]:
        """Return what `bwd` returned as the values that jax expects."""
        given, name = Given("custom_vjp", zero=True), self._lift.parameters.describe
        arguments = self._call.signature.arguments
        return [
            given.argument(arguments[number], own, f"what bwd returned for argument {name(number)}")
            for number, own in zip(self._diff, found, strict=True)
        ]

    def _check_derivatives(self, perturbed: Sequence[bool]) -> None:
        """Raise if the function is differentiated by something that the rule is not for.

        Raises:
            NoDerivativeError: It names what.
        """
        if not any(perturbed):
            return
        tree = jax.tree.unflatten(self._rest_tree, range(len(self._rest)))
        paths = [keys for keys, _ in jax.tree_util.tree_leaves_with_path(tree)]
        first = paths[self._traced[list(perturbed).index(True)]]
        name = self._lift.parameters.describe
        kind, number = first[0].idx, getattr(first[1], "idx", 0)
        places = (
            "values that a DiffState leaves out",
            f"argument {name(self._nondiff[number])}, which is in nondiff_argnums"
            if kind == 1
            else "",
            "a keyword argument that has no position",
            "what it closes over",
        )
        raise NoDerivativeError(describe(self._lift.function), places[kind])

    # -- changes ----------------------------------------------------------------------------------

    def _note(self, inside: Inside, found: Flat) -> None:
        """Remember which values a run changed: all are returned to jax."""
        effects: Effects = found.static.value
        for number, part in enumerate(self._call.signature.parts):
            if part.kept:
                values = found.values_of(number, part)
                given = inside.given[number]
                for leaf, value in zip(effects.changed[number], values, strict=False):
                    if not is_unchanged(given[leaf], value):
                        self._changed.add((number, leaf))

    def _only_changed(self, found: Flat) -> Flat:
        """Return the same with the old values where nothing is to be written.

        In the default mode later uses of an argument go through the rule, changed or not, so that
        it must be written. Elsewhere the rule gets no cotangents of arguments, and so later uses
        of what was not changed must go past it.
        """
        places = self._call.places

        def is_wanted(number: int, leaf: int, value: Any) -> bool:
            if (number, leaf) in self._changed:
                return True
            return self._goes_through_rule(places[number].leaves[leaf])

        return only_wanted(self._call, found, is_wanted)

    def _goes_through_rule(self, leaf: Any) -> bool:
        """Whether later uses of a value that did not change are to go through the rule."""
        if not self._lift.modes[1] or not isinstance(leaf, Variable):
            return False
        # One of another trace cannot be written.
        return bool(leaf._nnx_trace == context.trace)


def _takes(function: Any, name: str) -> bool:
    """Whether a function has a parameter, or any keyword arguments."""
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _plain(leaf: Any) -> Any:
    return leaf.value if isinstance(leaf, CustomVJPPrimal) else leaf


def _instantiated(leaf: Any) -> Any:
    return ad.zeros_like_aval(leaf.aval) if isinstance(leaf, SymbolicZero) else leaf
