"""All objects that a program makes of a slow nnx: snapshots, structure, errors that undo."""

from __future__ import annotations

import functools
import typing as tp

from tests.fuzz.slow_objects import (
    BatchStat,
    Cache,
    Carry,
    DiffState,
    Not,
    Param,
    Pytree,
    RuleError,
    Sequence,
    Slot,
    State,
    StateAxes,
    Variable,
    differ,
    get,
    is_array,
    items,
    slot_id,
    walk,
)


class Objects:
    """The classes of the library, and all objects that were made of them.

    Attributes:
        facts: What happened that flax does otherwise, in the words of `compare.EXCUSES`.
    """

    Pytree, Variable, Param, BatchStat, Cache = Pytree, Variable, Param, BatchStat, Cache
    Carry, Not, StateAxes, DiffState, State = Carry, Not, StateAxes, DiffState, State

    def __init__(self) -> None:
        self.facts: set[str] = set()
        self.depth = 0  # of transforms
        self.mapping = 0  # of vmap
        made = self.made = []  # type: list[tp.Any]

        class Registered:
            def __new__(cls, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
                new = object.__new__(cls)
                made.append(new)
                return new

        self.Module = type("Module", (Registered, Pytree), {})
        self.List = type("List", (Registered, Sequence), {})
        for cls in (Variable, Param, BatchStat, Cache):
            setattr(self, cls.__name__, type(cls.__name__, (Registered, cls), {}))

    # -- the world as a whole -----------------------------------------------------------------------

    def slots(self, objects: tp.Sequence[tp.Any] | None = None) -> list[Slot]:
        """Return every place that holds an array, of some or all objects."""
        found: list[Slot] = []
        seen: set[int] = set()

        def inside(holder: tp.Any) -> None:
            if id(holder) in seen:
                return
            seen.add(id(holder))
            for key, value in items(holder):
                if is_array(value) and not isinstance(holder, tuple):
                    found.append((holder, key))
                elif isinstance(value, list | dict | tuple):
                    inside(value)

        for x in self.made if objects is None else objects:
            if isinstance(x, Variable):
                found.append((x, None))
            else:
                inside(x)
        return found

    def snapshot(self) -> tp.Callable[[], None]:
        """Return what brings every object back to how it is now."""
        number = len(self.made)
        kept: list[tuple[tp.Any, tp.Any]] = []

        def keep(x: tp.Any) -> None:
            if isinstance(x, list | dict):
                kept.append((x, x.copy()))
            children = vars(x).items() if isinstance(x, Pytree) else items(x)
            for _, value in children:
                if isinstance(value, list | dict | tuple):
                    keep(value)

        for x in self.made:
            if isinstance(x, Variable):
                kept.append((x, (x.raw, dict(x.metadata))))
            else:
                kept.append((x, (type(x), dict(vars(x)))))
                keep(x)

        def restore() -> None:
            del self.made[number:]
            for x, content in kept:
                if isinstance(x, Variable):
                    x.raw, x.metadata = content[0], dict(content[1])
                elif isinstance(x, list):
                    x[:] = content
                elif isinstance(x, dict):
                    x.clear()
                    x.update(content)
                else:
                    x.__class__ = content[0]
                    vars(x).clear()
                    vars(x).update(content[1])

        return restore

    def reached(self, number: int, result: tp.Any = None) -> list[tp.Any]:
        """Return the first `number` objects, then those that they and a result reach, in order."""
        found: list[tp.Any] = list(self.made[:number])
        seen = {id(x) for x in found}

        def visit(x: tp.Any) -> None:
            if isinstance(x, Variable | Pytree):
                if id(x) in seen:
                    return
                seen.add(id(x))
                found.append(x)
            for _, child in items(x):
                visit(child)

        for x in self.made[:number]:
            for _, child in items(x):
                visit(child)
        visit(result)
        return found

    def structure(
        self,
        number: int,
        result: tp.Any = None,
        deep: bool = True,
        metadata: bool = True,
        statics: bool = True,
    ) -> tp.Any:
        """Describe without values the first `number` objects, and what they and a result reach.

        With `deep=False` only the first ones are described.
        """

        def has_part(x: tp.Any) -> bool:
            return is_array(x) or isinstance(x, Variable | Pytree | list | dict | tuple)

        found = self.reached(number, result)
        index = {id(x): n for n, x in enumerate(found)}

        def view(x: tp.Any) -> tp.Any:
            if id(x) in index:
                return "object", index[id(x)]
            if is_array(x):
                return "array", x.shape
            if isinstance(x, list | dict | tuple):
                return type(x).__name__, [(k, view(v)) for k, v in items(x)]
            return type(x).__name__, repr(x)

        views = [view(result)]
        for x in found if deep else found[:number]:
            if isinstance(x, Variable):
                notes = sorted(x.metadata.items()) if metadata else ()
                views.append((type(x).__name__, x.raw.shape, notes))
            else:
                parts = {k: v for k, v in vars(x).items() if statics or has_part(v)}
                views.append((type(x).__name__, view(parts)))
        return views

    def guarded(self, function: tp.Callable, fixed: bool = False) -> tp.Callable:
        """An error inside leaves all objects as they were; `fixed` forbids to change structure."""

        @functools.wraps(function)
        def call(*args: tp.Any, **kwargs: tp.Any) -> tp.Any:
            restore, number = self.snapshot(), len(self.made)
            structure = self.structure(number, metadata=False) if fixed else None
            given = {slot_id(s): (s, get(s)) for _, s in walk((*args, *kwargs.values()))}
            nodes = [
                (x, list(items(x)))
                for x in self.reached(0, (*args, *kwargs.values()))
                if isinstance(x, Pytree)
            ]
            self.depth += 1
            try:
                result = function(*args, **kwargs)
                if fixed and any(s[1] is not None and get(s) is not x for s, x in given.values()):
                    self.facts.add("array in fixed structure")
                if fixed and self.structure(number, None, False, False) != structure:
                    raise RuleError("the structure changed")
                left = {slot_id(s) for _, s in walk((*args, *kwargs.values(), result))}
                stay = {id(x) for x in self.reached(0, (*args, *kwargs.values(), result))}
                if any(
                    get(s) is not x
                    for name, (s, x) in given.items()
                    if name not in left and s[1] is None
                ) or any(id(x) not in stay and differ(items(x), old) for x, old in nodes):
                    self.facts.add("removed")
                return result
            except Exception:
                restore()
                raise
            finally:
                self.depth -= 1

        return call
