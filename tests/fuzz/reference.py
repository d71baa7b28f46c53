"""A slow nnx: plain Python objects, and transforms that run the function on them in place.

There is no traversal, no cache and no copy of the objects: a transform writes slices or tracers into
the very objects, calls the function, and collects what it left. It knows nothing of the library
under test and shares no code with it, so it says what a program means.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp

from tests.fuzz.slow_objects import (
    DiffState,
    Path,
    Pytree,
    RuleError,
    Sequence,
    Slot,
    State,
    StateAxes,
    UnclearError,
    Variable,
    arrays_of,
    get,
    is_array,
    items,
    leaf_of,
    matches,
    put,
    same,
    slot_id,
    walk,
    with_arrays,
)
from tests.fuzz.slow_world import Objects


class Reference(Objects):
    """The library: one of these per run of a program."""

    def jit(self, function: tp.Callable, graph_updates: bool = True) -> tp.Callable:
        made = self.guarded(function, not graph_updates)
        made.jitted = graph_updates  # type: ignore[attr-defined]  # a mark for `cached_partial`
        return made

    def remat(self, function: tp.Callable, graph_updates: bool = True) -> tp.Callable:
        return self.guarded(function, not graph_updates)

    def cached_partial(self, function: tp.Callable, *args: tp.Any) -> tp.Callable:
        if not hasattr(function, "jitted"):
            raise RuleError("not jitted")

        bound = self.structure(0, args)

        def call(*rest: tp.Any) -> tp.Any:
            before = self.structure(0, args)
            if before != bound:
                self.facts.add("bound and changed")
            if not function.jitted:
                self.facts.add("bound in fixed structure")
            result = function(*args, *rest)
            if self.structure(0, args) != before:
                raise RuleError("the structure of what is bound changed")
            return result

        return self.guarded(call)

    def grad(self, function: tp.Callable, **options: tp.Any) -> tp.Callable:
        with_value = self.value_and_grad(function, **options)

        def call(*args: tp.Any) -> tp.Any:
            value, gradient = with_value(*args)
            return (gradient, value[1]) if options.get("has_aux") else gradient

        return call

    def value_and_grad(
        self, function: tp.Callable, argnums: tp.Any = 0, has_aux: bool = False
    ) -> tp.Callable:
        several = isinstance(argnums, tuple)
        chosen = argnums if several else (argnums,)

        def call(*args: tp.Any) -> tp.Any:
            self.check_chosen(args, chosen)
            parts: list[tuple[int, list[Path] | None, list[Slot]]] = []
            for one in chosen:
                number, which = self.chosen(args, one)
                if is_array(args[number]):
                    parts.append((number, None, []))
                    continue
                # What several arguments share belongs to the first of them, by position.
                earlier = {slot_id(s) for arg in args[:number] for _, s in walk(arg)}
                leaves = [(p, s) for p, s in walk(args[number]) if matches(which, leaf_of(s))]
                leaves = [(p, s) for p, s in leaves if slot_id(s) not in earlier]
                parts.append((number, [p for p, _ in leaves], [s for _, s in leaves]))
            primals = [
                args[number] if paths is None else [get(s) for s in slots]
                for number, paths, slots in parts
            ]
            result: list[tp.Any] = []

            def pure(values: list[tp.Any]) -> tp.Any:
                given = list(args)
                for (number, paths, slots), value in zip(parts, values, strict=True):
                    if paths is None:
                        given[number] = value
                    else:
                        for slot, one in zip(slots, value, strict=True):
                            put(slot, one)
                out = function(*given)
                result.append(out)
                loss = out[0] if has_aux else out
                return loss, (arrays_of(out), [get(s) for s in self.slots()])

            (_, (arrays, after)), gradients = jax.value_and_grad(pure, has_aux=True)(primals)
            for slot, value in zip(self.slots(), after, strict=True):
                put(slot, value)
            value = with_arrays(result[0], iter(arrays))
            found = [
                gradient if paths is None else State(zip(paths, gradient, strict=True))
                for (_, paths, _), gradient in zip(parts, gradients, strict=True)
            ]
            return value, tuple(found) if several else found[0]

        return self.guarded(call)

    def chosen(self, args: tp.Sequence[tp.Any], one: tp.Any) -> tuple[int, tp.Any]:
        """Return the position that an entry of argnums means, and the filter: none for a Variable."""
        number = one.argnum if isinstance(one, DiffState) else one
        if isinstance(args[number], Variable):
            return number, ...
        return number, one.filter if isinstance(one, DiffState) else self.Param

    def check_chosen(self, args: tp.Sequence[tp.Any], chosen: tp.Sequence[tp.Any]) -> None:
        """Raise if one object is differentiated as part of one argument and not of another."""
        filters = dict(self.chosen(args, one) for one in chosen)
        kinds = {n: n for n in range(len(args))}
        kinds |= {one: -1 for one in chosen if not isinstance(one, DiffState)}  # alike
        found: dict[tp.Any, tuple[bool, int]] = {}
        for n, arg in enumerate(args):
            for _, slot in walk(arg):
                here = n in filters and matches(filters[n], leaf_of(slot)), kinds[n]
                first = found.setdefault(slot_id(slot), here)
                if slot[1] is None and first[0] != here[0] and first[1] != here[1]:
                    raise RuleError("conflicting argnums")

    def axes(
        self, args: tp.Sequence[tp.Any], prefixes: tp.Sequence[tp.Any],
        known: dict[tp.Any, tuple[Slot, tp.Any]] | None = None,
    ) -> dict[tp.Any, tuple[Slot, tp.Any]]:  # fmt: skip
        """Return slot id -> (slot, axis) for all slots that arguments reach; what is known stays so."""
        found = dict(known or {})
        for arg, prefix in zip(args, prefixes, strict=True):
            for _, slot in walk(arg):
                axis = prefix
                if isinstance(prefix, StateAxes):
                    if isinstance(arg, Variable):
                        raise UnclearError("filters for a Variable")
                    axis = next(a for f, a in prefix.items() if matches(f, leaf_of(slot)))
                if slot_id(slot) in (known or ()):
                    continue
                known_axis = found.setdefault(slot_id(slot), (slot, axis))[1]
                if slot[1] is None and known_axis != axis:
                    raise RuleError("conflicting axes") if known is None else UnclearError()
        return found

    def vmap(self, function: tp.Callable, in_axes: tp.Any = 0, out_axes: tp.Any = 0) -> tp.Callable:
        def call(*args: tp.Any) -> tp.Any:
            prefixes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
            before = self.axes(args, prefixes)
            mapped = [slot for slot, axis in before.values() if axis == 0]
            whole = [get(slot) for slot in mapped]
            arrays = [(n, a) for n, a in enumerate(args) if is_array(a) and prefixes[n] == 0]
            sizes = {x.shape[0] for x in (*whole, *(a for _, a in arrays))}
            if len(sizes) != 1:
                raise RuleError("sizes")
            size = sizes.pop()
            restore, number = self.snapshot(), len(self.made)
            runs, structures, slots, result = [], [], [], None
            self.mapping += 1
            for i in range(size):
                restore()
                for slot, value in zip(mapped, whole, strict=True):
                    put(slot, value[i])
                given = list(args)
                for n, a in arrays:
                    given[n] = a[i]
                result = function(*given)
                structures.append(self.structure(number, result))
                slots = self.slots(self.reached(number, result))
                runs.append((arrays_of(result), [get(s) for s in slots]))
            self.mapping -= 1
            if any(one != structures[0] for one in structures):
                raise RuleError("structures")
            outs = result if isinstance(result, tuple) else (result,)
            out_prefixes = out_axes if isinstance(out_axes, tuple) else (out_axes,) * len(outs)
            after = self.axes([*args, *outs], [*prefixes, *out_prefixes], before)
            for slot, *values in zip(slots, *(run[1] for run in runs), strict=True):
                known = after.get(slot_id(slot))
                if known is None and any(not same(value, values[0]) for value in values):
                    # It is part of an object that was removed from a mapped argument, or captured.
                    raise UnclearError("a new value of what was removed")
                put(slot, joined(values, known[1] if known else None))
            axes = [a for out, a in zip(outs, out_prefixes, strict=True) for _ in arrays_of(out)]
            found = [
                joined(list(values), axis)
                for axis, *values in zip(axes, *(run[0] for run in runs), strict=True)
            ]
            return with_arrays(result, iter(found))

        return self.guarded(call)

    def cond(self, pred: tp.Any, true: tp.Callable, false: tp.Callable, *args: tp.Any) -> tp.Any:
        return self.switch(int(bool(pred)), [false, true], *args)

    def switch(self, index: tp.Any, branches: tp.Sequence[tp.Callable], *args: tp.Any) -> tp.Any:
        if self.mapping:
            self.facts.add("branch under vmap")

        def call(*args: tp.Any) -> tp.Any:
            chosen = min(max(int(index), 0), len(branches) - 1)
            restore, number = self.snapshot(), len(self.made)
            structures = []
            for n, branch in enumerate(branches):
                if n != chosen:
                    result = branch(*args)
                    structures.append(self.structure(number, result))
                    restore()
            result = branches[chosen](*args)
            now = self.structure(number, result)
            if any(one != now for one in structures):
                raise RuleError("branches")
            return result

        return self.guarded(call)(*args)

    def shape(self, result: tp.Any) -> tp.Any:
        index = {id(x): n for n, x in enumerate(self.made)}
        if isinstance(result, list | tuple | dict):
            return [(k, self.shape(v)) for k, v in items(result)]
        return result.shape if is_array(result) else index.get(id(result))

    def step(self, function: tp.Callable, *args: tp.Any, scanned: bool = False) -> tp.Any:
        """Run a step of a loop, which must leave the structure as it is."""
        number = len(self.made)
        before, parts = self.structure(number), self.structure(number, statics=False)
        result = function(*args)
        if self.structure(number, deep=False) != before:
            if scanned and self.structure(number, deep=False, statics=False) == parts:
                raise UnclearError("each step begins with the static values of the first")
            raise RuleError("the structure changed in a loop")
        return result

    def while_loop(self, cond: tp.Callable, body: tp.Callable, init: tp.Any) -> tp.Any:
        if self.mapping:
            self.facts.add("branch under vmap")

        def call(carry: tp.Any) -> tp.Any:
            shape = self.shape(carry)
            if not cond(carry):  # the step is traced all the same
                restore = self.snapshot()
                if self.shape(self.step(body, carry)) != shape:
                    raise RuleError("carry")
                restore()
            while cond(carry):
                carry = self.step(body, carry)
                if self.shape(carry) != shape:
                    raise RuleError("carry")
            return carry

        return self.guarded(call)(init)

    def fori_loop(self, low: int, high: int, body: tp.Callable, init: tp.Any) -> tp.Any:
        def call(carry: tp.Any) -> tp.Any:
            shape = self.shape(carry)
            for i in range(low, high):
                carry = self.step(body, jnp.int32(i), carry)
                if self.shape(carry) != shape:
                    raise RuleError("carry")
            return carry

        return self.guarded(call)(init)

    def scan(
        self, function: tp.Callable, in_axes: tuple[tp.Any, ...], out_axes: tuple[tp.Any, ...],
        length: int | None = None, reverse: bool = False,
    ) -> tp.Callable:  # fmt: skip
        def call(*args: tp.Any) -> tp.Any:
            given = list(args)
            at = in_axes.index(self.Carry)
            slots = self.axes(args, [None if a is self.Carry else a for a in in_axes])
            carried = {slot_id(s) for _, s in walk(args[at])}
            mapped = [s for s, axis in slots.values() if axis == 0]
            other = {slot_id(s) for n, a in enumerate(args) if n != at for _, s in walk(a)}
            if carried & other:
                raise RuleError("conflicting axes")
            whole = [get(s) for s in mapped]
            arrays = [(n, a) for n, a in enumerate(args) if is_array(a) and in_axes[n] == 0]
            maps_objects = in_axes.count(0) > len(arrays)
            sizes = {x.shape[0] for x in (*whole, *(a for _, a in arrays))}
            if len(sizes) > 1:
                raise RuleError("sizes")
            size = sizes.pop() if sizes else length
            assert size is not None
            shape = self.shape(args[at])
            lasts: dict[int, list[tp.Any]] = {}
            outs: dict[int, list[tp.Any]] = {}
            ys: tp.Any = None
            still = [s for s, axis in slots.values() if axis is None and slot_id(s) not in carried]
            before = [get(s) for s in still]
            for i in reversed(range(size)) if reverse else range(size):
                for slot, value in zip(mapped, whole, strict=True):
                    put(slot, value[i])
                for n, a in arrays:
                    given[n] = a[i]
                try:
                    given[at], ys = self.step(function, *given, scanned=True)
                except RuleError:
                    if mapped or maps_objects:
                        raise UnclearError("structure of what is mapped") from None
                    raise
                if self.shape(given[at]) != shape:
                    raise RuleError("carry")
                lasts[i] = [get(s) for s in mapped]
                outs[i] = arrays_of(ys)
            if any(get(s) is not x for s, x in zip(still, before, strict=True)):
                self.facts.add("scan changed what has axis None")
            for n, slot in enumerate(mapped):
                put(slot, jnp.stack([lasts[i][n] for i in range(size)]))
            stacked = [jnp.stack([outs[i][n] for i in range(size)]) for n in range(len(outs[0]))]
            return given[at], with_arrays(ys, iter(stacked))

        return self.guarded(call)


def joined(values: list[tp.Any], axis: tp.Any) -> tp.Any:
    """Return the values of the elements in one: stacked, or the one that all have."""
    if axis == 0:
        return jnp.stack(values)
    if not all(same(value, values[0]) for value in values):
        raise RuleError("differs between elements")
    return values[0]


def copied(x: tp.Any, memo: dict[int, tp.Any]) -> tp.Any:
    """Return a deep copy of reference objects."""
    if id(x) in memo:
        return memo[id(x)]
    new: tp.Any
    if isinstance(x, Variable):
        memo[id(x)] = new = type(x)(x.raw, **x.metadata)
        return new
    if isinstance(x, Sequence):
        memo[id(x)] = new = type(x)()
        new.elements = [copied(child, memo) for child in x.elements]
        return new
    if isinstance(x, Pytree):
        memo[id(x)] = new = type(x)()
        vars(new).update({k: copied(v, memo) for k, v in vars(x).items()})
        return new
    if isinstance(x, list | tuple):
        return type(x)(copied(child, memo) for child in x)
    if isinstance(x, dict):
        return {k: copied(v, memo) for k, v in x.items()}
    return x
