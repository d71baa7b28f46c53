"""Eight threads that read, jit and change one model: what each may see, and what is left in the end.

Each operation has a time at which it began and one at which it ended. Whatever order the operations
took effect in, a read cannot see a write that began after it ended, nor one that was overwritten
before it began.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import threading
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx
from tests.fuzz.slow_walk import leaves, walk
from tests.support import switching

THREADS = 8
Time = int


class Layer(nnx.Module):
    """A layer with a mode."""

    def __init__(self) -> None:
        self.w = nnx.Param(jnp.zeros(()))
        self.deterministic = False


class Model(nnx.Module):
    """Layers whose values are always written together, and a List that grows and shrinks."""

    def __init__(self, size: int) -> None:
        self.layers = nnx.List([Layer() for _ in range(size)])
        self.first = self.layers[0].w
        self.grown = nnx.List([nnx.BatchStat(jnp.zeros(()))])
        self.itself = self


@nnx.jit
def write_all(model: Model, value: jax.Array) -> None:
    for layer in model.layers:
        layer.w[...] = value


@nnx.jit
def read_all(model: Model) -> jax.Array:
    return jnp.stack([model.first[...], *(layer.w[...] for layer in model.layers)])


@nnx.jit
def read_modes(model: Model) -> jax.Array:
    return jnp.stack([jnp.full_like(layer.w[...], layer.deterministic) for layer in model.layers])


@nnx.jit
def read_grown(model: Model) -> jax.Array:
    return jnp.stack([x[...] for x in model.grown])


@dataclasses.dataclass
class Event:
    """One operation: when it began and ended, and the number that it wrote or saw."""

    begin: Time
    end: Time
    value: float


@dataclasses.dataclass
class History:
    """What the threads did and saw.

    Attributes:
        writes: Of all layers together: the number of each write is its own.
        reads: The number that all layers had.
        wrong: What no order of the operations explains.
    """

    writes: list[Event] = dataclasses.field(default_factory=lambda: [Event(-2, -1, 0.0)])
    reads: list[Event] = dataclasses.field(default_factory=list)
    wrong: list[str] = dataclasses.field(default_factory=list)

    def check(self) -> None:
        """Add the reads that saw a write too early, or one that was overwritten."""
        by_value = {write.value: write for write in self.writes}
        for read in self.reads:
            seen = by_value.get(read.value)
            if seen is None:
                self.wrong.append(f"{read} saw what nobody wrote")
            elif seen.begin > read.end:
                self.wrong.append(f"{read} saw {seen}, which began later")
            else:
                between = [w for w in self.writes if w.begin > seen.end and w.end < read.begin]
                if between:
                    self.wrong.append(f"{read} saw {seen}, overwritten by {between[0]}")


class Threads:
    """One model, and threads whose operations are drawn from a seed.

    Args:
        seed: What everything is drawn from.
        operations: How many each thread does.
    """

    def __init__(self, seed: int | str, operations: int = 25) -> None:
        self.random = random.Random(f"threads {seed}")
        self.model = Model(self.random.choice((2, 5, 20, 60)))
        self.operations = operations
        self.clock = itertools.count()
        self.numbers = itertools.count(1)
        self.history = History()

    def run(self) -> list[str]:
        """Run all threads to the end and return what is wrong."""
        readers: list[tp.Callable[[], None]] = [
            self.read, self.read, self.read_one, self.read_modes, self.read_grown, self.copy, self.split,
            self.walk, self.walk,
        ]  # fmt: skip
        writers: list[tp.Callable[[], None]] = [self.write, self.write, self.update, self.read]
        roles: list[list[tp.Callable[[], None]]] = [[self.switch], [self.grow], writers, writers]
        if self.random.random() < 0.5:
            roles[0] = readers  # calm: nothing but values changes
        if self.random.random() < 0.5:
            roles[1] = readers
        roles += [readers] * (THREADS - len(roles))
        start = threading.Barrier(THREADS)
        threads = [
            threading.Thread(target=self.work, args=(start, role, self.random.random()))
            for role in roles
        ]
        with switching.often():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.history.check()
        self.check_end()
        return self.history.wrong

    def work(
        self, start: threading.Barrier, role: list[tp.Callable[[], None]], seed: float
    ) -> None:
        drawn = random.Random(seed)
        start.wait()
        for _ in range(self.operations):
            operation = drawn.choice(role)
            try:
                operation()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
                text = f"{operation.__name__}: {type(error).__name__}: {error}"
                self.history.wrong.append(text[:500])
                return

    # -- operations ---------------------------------------------------------------------------------

    def write(self) -> None:
        """Write all layers in a jitted function."""
        number = float(next(self.numbers))
        begin = next(self.clock)
        write_all(self.model, jnp.asarray(number))
        self.history.writes.append(Event(begin, next(self.clock), number))

    def update(self) -> None:
        """Write all layers by a State."""
        number = float(next(self.numbers))
        # The first layer's weight is known by its first path.
        others = [("layers", n, "w") for n in range(1, len(self.model.layers))]
        paths: list[tuple[tp.Any, ...]] = [("first",), *others]
        state = nnx.from_flat_state([(path, jnp.asarray(number)) for path in paths])
        begin = next(self.clock)
        nnx.update(self.model, state)
        self.history.writes.append(Event(begin, next(self.clock), number))

    def saw(self, begin: Time, values: tp.Sequence[float], what: str) -> None:
        end = next(self.clock)
        if len(set(values)) > 1:
            self.history.wrong.append(f"{what}: parts of several writes: {list(values)}")
        self.history.reads.append(Event(begin, end, float(values[0])))

    def read(self) -> None:
        """Read all layers in a jitted function."""
        begin = next(self.clock)
        self.saw(begin, np.asarray(read_all(self.model)).tolist(), "a jitted read")

    def read_one(self) -> None:
        """Read one layer."""
        begin = next(self.clock)
        self.saw(begin, [float(self.model.layers[-1].w[...])], "a read")

    def copy(self) -> None:
        """Clone the model and read the clone."""
        begin = next(self.clock)
        made = nnx.clone(self.model)
        end_values = [float(layer.w[...]) for layer in made.layers]
        assert made.first is made.layers[0].w
        assert made.itself is made
        self.saw(begin, end_values, "a clone")

    def split(self) -> None:
        """Split and merge: the Variables are those of the model."""
        made = nnx.merge(*nnx.split(self.model))
        assert made.first is self.model.first
        assert made.itself is made
        self.modes([layer.deterministic for layer in made.layers], "split and merge")

    def switch(self) -> None:
        """Change the mode of all layers, one after the other."""
        (self.model.eval if self.random.random() < 0.5 else self.model.train)()

    def read_modes(self) -> None:
        """Read the modes as a jitted function sees them."""
        self.modes(np.asarray(read_modes(self.model)).tolist(), "modes in a jitted function")

    def modes(self, modes: list[tp.Any], what: str) -> None:
        """Layers change in order: at each moment some first ones have the new mode, the rest the old."""
        if sum(a != b for a, b in itertools.pairwise(modes)) > 1:
            self.history.wrong.append(f"{what}: {[int(m) for m in modes]}")

    def grow(self) -> None:
        """Append to the List, or shorten it; it always holds 0, 1, 2, ..."""
        grown = self.model.grown
        if len(grown) > 3 or (len(grown) > 1 and self.random.random() < 0.4):
            grown.pop()
        else:
            grown.append(nnx.BatchStat(jnp.asarray(float(len(grown)))))

    def read_grown(self) -> None:
        """Read the List in a jitted function."""
        self.counted(np.asarray(read_grown(self.model)).tolist(), "a jitted function")

    def walk(self) -> None:
        """Read the List in the ways that need no record."""
        model = self.model
        paths = {id(x): path for path, x in nnx.iter_graph(model.grown)}
        assert len(paths) == len(set(paths.values()))
        self.counted([float(x[...]) for x in model.grown], "its elements")
        self.counted([float(x) for x in jax.tree.leaves(model.grown)], "its leaves")
        copied = nnx.recursive_map(lambda path, value: value, model.grown)
        self.counted([float(x[...]) for x in copied], "recursive_map")

    def counted(self, found: list[float], what: str) -> None:
        """The List always holds 0, 1, 2, ..."""
        if found != [float(n) for n in range(len(found))]:
            self.history.wrong.append(f"the List in {what}: {found}")

    # -- the end ------------------------------------------------------------------------------------

    def check_end(self) -> None:
        """Eager and jitted reads agree, and views of the model with the slow walk."""
        model, wrong = self.model, self.history.wrong
        values = [float(model.first[...]), *(float(layer.w[...]) for layer in model.layers)]
        if values != np.asarray(read_all(model)).tolist():
            wrong.append("after all threads ended: eager and jitted values differ")
        modes = [float(layer.deterministic) for layer in model.layers]
        if modes != np.asarray(read_modes(model)).tolist():
            wrong.append("after all threads ended: eager and jitted modes differ")
        expected = walk(model)
        for name, made in (("merge", nnx.merge(*nnx.split(model))), ("clone", nnx.clone(model))):
            if walk(made) != expected:
                wrong.append(f"after all threads ended: {name} gives another graph")
        found = [id(x) for _, x in nnx.to_flat_state(nnx.state(model))]
        if sorted(found) != sorted(id(x) for _, x in leaves(model)):
            wrong.append("after all threads ended: the State has other Variables")


def play(seed: int | str) -> list[str]:
    """Run the threads of a seed; return what is wrong."""
    return Threads(seed).run()
