"""The single statements of random programs: what they make, read, write and restructure."""

from __future__ import annotations

import random
import typing as tp

from tests.fuzz.helpers import NAMES
from tests.fuzz.source import Line, Statement


class Statements:
    """Draws statements from a seed."""

    def __init__(self, seed: int | str) -> None:
        self.seed = str(seed)
        self.random = random.Random(f"program {seed}")
        self.rank = self.random.choice((1, 1, 1, 2))
        self.shape = ", ".join(["2"] * self.rank)
        self.closures = self.random.random() < 0.4
        self.structural = self.random.random() < 0.6
        self.writable: list[str] | None = None  # under vmap: what may differ between elements
        self.count = 0
        self.functions: list[tuple[str, str, int, bool]] = []  # name, how to call, objects, loops

    def one(self, *choices: tp.Any) -> tp.Any:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def variable(self, value: str | None = None) -> str:
        """Return an expression for a new Variable."""
        cls = self.one("Param", "Param", "Param", "BatchStat", "Variable")
        value = value or f"H.arr({self.random.randrange(-9, 10) / 8}, {self.shape})"
        note = f", note={self.random.randrange(3)}" if self.chance(0.2) else ""
        return f"nnx.{cls}({value}{note})"

    def attribute(self, roots: tp.Sequence[str], n: int) -> str:
        """Return an expression for an attribute of root `n`."""
        other = self.one(*roots)
        earlier = self.one(*roots[:n]) if n else other
        match self.random.randrange(9):
            case 0 | 1:
                return self.variable()
            case 2:
                return f"{earlier}.a" if n else self.variable()
            case 3:
                return f"{other}"
            case 4:
                return f"H.arr(0.2, {self.shape})"
            case 5:
                return f"nnx.List([{self.variable()}, {self.one(self.variable(), earlier)}])"
            case 6:
                return f"H.data([{self.variable()}, {self.one('H.arr(0.1, ' + self.shape + ')', earlier)}])"
            case 7:
                return f"H.data(({self.variable()}, {other}))"
            case _:
                return f"H.data({{'k': {self.variable()}}})"

    def change(self, roots: tp.Sequence[str], structure: bool) -> list[Statement]:
        """Return a statement that reads or changes objects."""
        some = self.random.sample(list(roots), self.random.randrange(1, len(roots) + 1))
        near = ", ".join(some)
        kind = self.one(*["read"] * 6, *["write"] * 5, *(["structure"] * 12 if structure else []))
        if kind != "read" and self.writable is not None and self.chance(0.9):
            if not self.writable:
                kind = "read"
            else:
                near = self.one(*self.writable)
        n = self.random.randrange(6)
        write = {"read": self.read, "write": self.write, "structure": self.restructure}[kind]
        return [Line(write(n, near))]

    def read(self, n: int, near: str) -> str:
        """Return a line that reads."""
        return self.one(
            f"x = H.read(x, H.v({n}, {near}), {self.one(0.5, 1.0, 1.5)})",
            f"x = H.read(x, H.v({n}, {near}), {self.one(0.5, 1.0, 1.5)})",
            f"x = H.read_all(x, {near})",
            f"x = x + H.static(H.m({n}, {near}))",
            f"x = x + H.note(H.v({n}, {near}))",
        )

    def write(self, n: int, near: str) -> str:
        """Return a line that changes values."""
        which = self.one("nnx.Param", "nnx.BatchStat", "...", "nnx.Not(nnx.Param)")
        write = f"H.write(H.v({n}, {near}), x, {self.one(0, 0, 0, 1, 2, 3)})"
        return self.one(write, write, write, f"H.update_by_state(H.m({n}, {near}), {which})")

    def restructure(self, n: int, near: str) -> str:
        """Return a line that changes structure."""
        k, name = self.random.randrange(6), self.one(*NAMES)
        module, new = f"H.m({n}, {near})", self.one(self.variable("x"), f"H.o({k}, {near})")
        return self.one(
            f"{module}.{name} = {new}",
            f"{module}.{name} = {new}",
            f"H.delete({module}, {name!r})",
            f"H.drop({module}, {k})",
            f"H.drop({module}, {k})",
            f"{module}.mode = {self.one('train', 'eval')!r}",
            f"{module}.config = H.config({k})",
            f"H.swap_class({module})",
            f"H.set_note(H.v({n}, {near}), {self.random.randrange(3)})",
            f"H.l({n}, {near}).append({self.variable('x')})",
            f"H.pop(H.l({n}, {near}){self.one('', '', ', 0')})",
            f"H.p({n}, {near}).append({self.one(new, 'x')})",
            f"H.put({module}, {self.one('arr', name)!r}, x)",
            f"{module}.{name} = H.clone(H.o({k}, {near}))",
            f"H.swap({module}, 'a', {name!r})",
            f"H.first(H.l({n}, {near}), {new})",
        )
