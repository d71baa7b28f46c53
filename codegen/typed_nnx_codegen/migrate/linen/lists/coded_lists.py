"""Lists of arrays that loops of submodules make: their sizes as a comprehension."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.lists.running_lists import RunningLists
from typed_nnx_codegen.migrate.linen.lists.size_lists import CodedList
from typed_nnx_codegen.migrate.linen.names.bound_names import names_in
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.iteration import inner_name, trial
from typed_nnx_codegen.migrate.linen.running.values import Array, Seq, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import Atom, Dim, Piece, as_dim


@dataclass(frozen=True)
class Span:
    """What a loop of a submodule goes over.

    Attributes:
        number: The loop.
        target: What it binds, with names that no other loop has.
        names: Those names as they are written.
        header: What it goes over.
    """

    number: int
    target: str
    names: tuple[str, ...]
    header: Piece

    @classmethod
    def of(cls, target: cst.BaseExpression, header: Piece, number: int) -> Span:
        """Return what a loop goes over.

        Args:
            target: Its target, as it is written.
            header: What it goes over.
            number: The loop.
        """
        text = code_of(target)
        for name in names_in(target):
            text = re.sub(rf"\b{name}\b", inner_name(name, number), text)
        return cls(number, text, tuple(names_in(target)), header)


def coded_lists(
    lists_in: RunningLists,
    before: Mapping[str, Value],
    names: dict[str, Value],
    span: Span | None,
    frame: Frame,
    run: Callable[[], None],
) -> dict[str, Value]:
    """Return the lists of arrays that a loop of a submodule adds to, where their sizes are known.

    Args:
        lists_in: Gives the code for the sizes of lists.
        before: What names stand for before the loop.
        names: What they stand for in any iteration.
        span: What the loop goes over; None where that is not known.
        frame: Where it is.
        run: Goes through its body.
    """
    lists = {
        name: value
        for name, value in before.items()
        if _is_of_arrays(value) and names.get(name, value) != value
    }
    if span is None or frame.records or not lists:
        return {}
    empty: dict[str, Value] = {name: Seq((), is_list=True) for name in lists}
    after = trial({**names, **empty}, frame, run)
    found: dict[str, Value] = {}
    for name, value in lists.items():
        added = after.get(name)
        first = lists_in.code_of(value, frame)
        if not isinstance(added, Seq) or not added.items or first is None:
            continue
        sizes = [_size_in(item, span) for item in added.items]
        known = [size for size in sizes if size is not None]
        if len(known) == len(sizes):
            element = added.items[0]
            code = _comprehension(known, span, frame)
            code = code if first == "[]" else f"{first} + {code}"
            found[name] = CodedList(element, loops=tuple(frame.recorder.loops), code=code)
    return found


def _is_of_arrays(value: Value) -> bool:
    if isinstance(value, CodedList):
        return True
    return isinstance(value, Seq) and all(isinstance(item, Array) for item in value.items)


def _size_in(value: Value, span: Span) -> Dim | None:
    """Return the last size of an array over the target of a loop; None where it is not known."""
    size = value.shape.axis(-1) if isinstance(value, Array) else None
    if size is None:
        return None
    home = f"loop{span.number}"
    values: dict[Atom, Dim] = {}
    for atom in size.atoms():
        if isinstance(atom, Piece) and atom.home == home:
            values[atom] = as_dim(Piece(atom.code))
        if isinstance(atom, Piece) and re.search(rf"_of_loop(?!{span.number}\b)", atom.code):
            return None
    return size.replaced(values)


def _comprehension(sizes: list[Dim], span: Span, frame: Frame) -> str:
    target = span.target
    for name in span.names:
        inner = inner_name(name, span.number)
        if not any(re.search(rf"\b{name}\b", code) for code in _codes(sizes)):
            target = re.sub(rf"\b{inner}\b", name, target)
            sizes = [_renamed(size, inner, name) for size in sizes]
    token = frame.recorder.templates.token
    loop = f"for {target} in {token(as_dim(span.header))}"
    codes = [token(size) for size in sizes]
    if len(codes) == 1:
        return f"[{codes[0]} {loop}]"
    return f"[size {loop} for size in ({', '.join(codes)})]"


def _codes(sizes: list[Dim]) -> list[str]:
    return [atom.code for size in sizes for atom in size.atoms() if isinstance(atom, Piece)]


def _renamed(size: Dim, before: str, after: str) -> Dim:
    values: dict[Atom, Dim] = {
        atom: as_dim(replace(atom, code=re.sub(rf"\b{before}\b", after, atom.code)))
        for atom in size.atoms()
        if isinstance(atom, Piece)
    }
    return size.replaced(values)
