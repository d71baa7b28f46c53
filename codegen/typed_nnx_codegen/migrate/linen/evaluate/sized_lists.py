"""Lists of arrays, such as those of skip connections: the constructor keeps the sizes of their items.

A list is an expression for those sizes. Where the constructor goes along with a method, that is a
local of it, which its statements change in the same way. In a loop over submodules that another
loop makes, it is an expression over what the iteration begins with: what it is when the iteration
ends says how the sizes run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    names_of,
)
from typed_nnx_codegen.migrate.linen.domain.code import parsed
from typed_nnx_codegen.migrate.linen.domain.dims import (
    ArgumentItems,
    Atom,
    Binders,
    Dim,
    ItemSize,
    Piece,
    as_dim,
    bound_by,
)
from typed_nnx_codegen.migrate.linen.domain.frames import Change, Frame
from typed_nnx_codegen.migrate.linen.domain.names import names_in
from typed_nnx_codegen.migrate.linen.domain.references import Repeated, SizedList
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Lead,
    Position,
    Seq,
    Shape,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.lists import over_values, rebind
from typed_nnx_codegen.migrate.linen.evaluate.merging import header_of, inner_name, trial
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_JOINING: Final = ("jax.numpy.concatenate", "jax.numpy.concat", "numpy.concatenate")
_KEEPING: Final = ("builtins.list", "builtins.tuple")
# An item of a list of which nothing else is known.
ARRAY: Final = Array(Shape((), Lead("", None)))


@dataclass(frozen=True)
class Begun:
    """A list as it is before a loop.

    Attributes:
        value: What it stands for.
        code: The expression for its sizes.
        local: The local that has them in an iteration.
    """

    value: Value
    code: str
    local: str


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


def is_followed(frame: Frame) -> bool:
    """Whether the constructor goes along, or does so where it makes the submodules of a loop."""
    recorder = frame.recorder
    return (
        frame.records
        and not frame.verbatim
        and () not in recorder.call_loops
        and not recorder.pending
        and not any(one.is_of_call for one in recorder.conditions)
    )


def _is_open(frame: Frame) -> bool:
    """Whether the constructor goes along with what happens now."""
    return is_followed(frame) and not frame.recorder.call_loops


def last_size(code: ConstructorCode, value: Value, frame: Frame) -> str | None:
    """Return the code of the last size of an array; None where it cannot be said."""
    size = value.shape.axis(-1) if isinstance(value, Array) else None
    if size is None or not code.sizes_are_visible(size, frame):
        return None
    return frame.recorder.slots.name(size)


def with_last(value: Value, code: str | None, binders: Binders = ()) -> Array:
    """Return an item of a list with the expression for its last size; None where it is not known."""
    shape = value.shape if isinstance(value, Array) else Shape((), Lead("", None))
    shape = shape.expanded(1)
    size = None if code is None else as_dim(ItemSize(code, binders))
    return Array(Shape((*shape.dims[:-1], size), shape.lead))


def any_item(element: Value, values: Value) -> Value:
    """Return what any item of a list stands for to whatever takes them all: it has one size.

    Args:
        element: The item, as far as nothing else is known.
        values: The list.
    """
    is_there = isinstance(values, SizedList) and not values.is_running
    sizes = values.sizes if isinstance(values, SizedList) and is_there else ""
    return with_last(element, f"{sizes}[0]") if sizes.isidentifier() else element


def local_for(
    name: str, suffix: str, place: cst.CSTNode, frame: Frame, loop: int | None = None
) -> str:
    """Return the local for a size at a place: the same one each time that it is gone through."""
    known = frame.recorder.sized_names
    key = (place, f"{name}_{suffix}", loop)
    if key not in known:
        known[key] = frame.recorder.fresh(f"{name}_{suffix}")
    return known[key]


def given_list(name: str, frame: Frame) -> SizedList:
    """Return a list of arrays that a method is called with: the constructor is told their sizes."""
    recorder = frame.recorder
    local = recorder.fresh(f"{name}_sizes")
    recorder.write(f"{local} = list({recorder.slots.name(as_dim(ArgumentItems(name)))})", local)
    return SizedList(ARRAY, sizes=local, is_local=True)


@dataclass(frozen=True, eq=False)
class SizedLists:
    """Goes through what methods do with such lists."""

    code: ConstructorCode

    # -- making -------------------------------------------------------------------------------

    @staticmethod
    def candidates(frame: Frame) -> list[str]:
        """Return the names of lists that are empty or hold nothing but arrays."""
        if not _is_open(frame):
            return []
        return [
            name
            for name, value in frame.names.items()
            if isinstance(value, Seq) and are_arrays(value.items) and (value.is_list or value.items)
        ]

    def sized(self, name: str, after: Value, place: cst.CSTNode, frame: Frame) -> Value | None:
        """Return a list of arrays with its sizes in the constructor; None where they are not known."""
        before = frame.names[name]
        assert isinstance(before, Seq)
        match after:
            case Seq(items=added):
                pass
            case Repeated(element=element):
                added = (element,)
            case _:
                return None
        items = (*before.items, *added)
        code = self.code_of(before, frame)
        local = local_for(name, "features", place, frame)
        if not items or not are_arrays(items) or code is None or local in frame.recorder.unsized:
            return None
        frame.recorder.write(f"{local} = {code}", local)
        return SizedList(_in_common(items), sizes=local, is_local=True)

    def named(self, name: str, value: SizedList, place: cst.CSTNode, frame: Frame) -> Value:
        """Return a list with a local for its sizes, where a name is bound to it."""
        if not _is_open(frame) or value.local:
            return value
        local = local_for(name, "sizes", place, frame)
        frame.recorder.write(f"{local} = {value.sizes}", local)
        return SizedList(value.element, sizes=local, is_local=True)

    def code_of(self, value: Value, frame: Frame) -> str | None:
        """Return the expression for the last sizes of the arrays of a list; None if not known."""
        match value:
            case SizedList():
                return value.code
            case Seq(items=items):
                codes = [last_size(self.code, item, frame) for item in items]
                known = [code for code in codes if code is not None]
                return f"[{', '.join(known)}]" if len(known) == len(codes) else None
        return None

    # -- changing -----------------------------------------------------------------------------

    def method(self, receiver: SizedList, name: str, node: cst.Call, frame: Frame) -> Value | None:
        """Return what a method of the list returns; None where it is as of any list."""
        values = [frame.seen(arg.value) or UNKNOWN for arg in node.args]
        match name, values:
            case "append", [value]:
                more = Seq((value,))
                return self._extended(_with_others(receiver, more, frame), more, frame)
            case "pop", []:
                return self._popped(receiver, -1, node, frame)
            case "pop", [Const(value=int(place))] if place in (0, -1):
                return self._popped(receiver, place, node, frame)
        return self._changed(receiver, None, frame)

    def _extended(self, receiver: SizedList, more: Value, frame: Frame) -> Value | None:
        added = self.code_of(more, frame)
        if added is None or not _is_sure(receiver, frame):
            return self._changed(receiver, None, frame)
        if _is_changed_in_place(receiver, frame):
            frame.recorder.write(f"{receiver.local} += {added}", receiver.local)
            return NONE
        return self._changed(receiver, f"{receiver.code} + {added}", frame)

    def _popped(
        self, receiver: SizedList, place: int, node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return the first or the last item, which the constructor takes off, too."""
        code = receiver.code
        if _is_changed_in_place(receiver, frame) and _is_sure(receiver, frame):
            item = local_for(receiver.base, "item_features", node, frame)
            taken = f"{code}.pop()" if place else f"{code}.pop(0)"
            frame.recorder.write_before(f"{item} = {taken}", f"{item}, {code}")
            return with_last(receiver.element, item)
        rest = _part(code, ":-1" if place else "1:")
        if self._changed(receiver, rest, frame) is None:
            return None
        return with_last(receiver.element, _part(code, str(place)))

    def _changed(self, receiver: SizedList, code: str | None, frame: Frame) -> Value | None:
        """Let names have a list with other sizes; with None they are not known any more."""
        if code is None or not _is_sure(receiver, frame):
            _forget(receiver, frame)
            return None
        rebind(receiver, self._computed(receiver, code, frame), frame)
        return NONE

    def added(self, left: Value, right: Value, frame: Frame) -> Value | None:
        """Return the list after `list += [array]`; None where it is no such list."""
        if not isinstance(left, SizedList) or not _is_changed_in_place(left, frame):
            return self.total(left, right, frame)
        left = _with_others(left, right, frame)
        return None if self._extended(left, right, frame) is None else left

    def total(self, left: Value, right: Value, frame: Frame) -> Value | None:
        """Return the sum of two lists; None as of any list."""
        base = left if isinstance(left, SizedList) else right
        if not isinstance(base, SizedList):
            return None
        codes = [self.code_of(one, frame) for one in (left, right)]
        if None in codes or not _is_sure(base, frame):
            if not base.is_local:
                _forget(base, frame)
            return None
        other = right if base is left else left
        element = _in_common((base.element, *_items_of(other)))
        return replace(self._computed(base, f"{codes[0]} + {codes[1]}", frame), element=element)

    @staticmethod
    def _computed(base: SizedList, code: str, frame: Frame) -> SizedList:
        """Return a list whose sizes are computed of those of another one."""
        if base.is_running:
            return replace(base, now=code)
        return SizedList(base.element, sizes=code, loops=tuple(frame.recorder.loops))

    # -- reading ------------------------------------------------------------------------------

    def item(self, base: SizedList, node: cst.Subscript, frame: Frame) -> Value | None:
        """Return an item of the list, or the list of a slice; None as of any list."""
        match node.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=place))]:
                parts: tuple[cst.BaseExpression | None, ...] = (place,)
            case [cst.SubscriptElement(slice=cst.Slice(lower=first, upper=last, step=step))]:
                parts = (first, last, step) if step is not None else (first, last)
            case _:
                return None
        counters: dict[str, Position] = {}
        codes = ["" if one is None else self._place(one, counters, frame) for one in parts]
        known = [code for code in codes if code is not None]
        if len(known) != len(codes) or not _is_sure(base, frame):
            return None
        code = _part(base.code, ":".join(known))
        if len(parts) > 1:
            kind = "reversed" if known == ["", "", "-1"] else "part"
            return base.with_code(self._now(base, code, kind, node, frame))
        binders = bound_by(*((one.loop,) for one in counters.values()))
        return with_last(base.element, self._now(base, code, "item", node, frame), binders)

    def _place(
        self, node: cst.BaseExpression, counters: dict[str, Position], frame: Frame
    ) -> str | None:
        """Return the code of a place in a list; the number of an iteration is counted along."""
        names = [one.value for one in (node, *descendants(node)) if isinstance(one, cst.Name)]
        for name in names if frame.records else ():
            value = frame.lookup(name)
            if isinstance(value, Position):
                counters[name] = value
        known: dict[str, Value] = {name: _counter(one, frame) for name, one in counters.items()}
        return self.code.of(node, _with_names(known, frame) if known else frame)

    def over(self, name: str, node: cst.Call, frame: Frame) -> Value | None:
        """Return what a function makes of such a list; None as of any list."""
        if any(arg.keyword is not None and arg.keyword.value != "axis" for arg in node.args):
            return None
        values = [frame.seen(arg.value) or UNKNOWN for arg in node.args]
        if name == "builtins.zip":
            return _zipped(values, frame)
        value = values[0] if values else None
        if not isinstance(value, SizedList) or not _is_sure(value, frame):
            return None
        if _is_joined_last(name, value, node, frame):
            code = self._now(value, f"sum({value.code})", "sum", node, frame)
            return with_last(value.element, code)
        if len(node.args) != 1:
            return None
        if name == "builtins.reversed":
            code = self._now(value, _part(value.code, "::-1"), "reversed", node, frame)
            return value.with_code(code)
        if name in _KEEPING:
            return value.with_code(self._now(value, f"list({value.code})", "copy", node, frame))
        return None

    @staticmethod
    def _now(base: SizedList, code: str, kind: str, node: cst.CSTNode, frame: Frame) -> str:
        """Return what is read of a list now: one in a local of the constructor changes later."""
        if not base.is_local:
            return code
        local = local_for(base.base, f"{kind}_features", node, frame)
        frame.recorder.write_before(f"{local} = {code}", local)
        return local

    def header(self, node: cst.BaseExpression, frame: Frame) -> str | None:
        """Return what a loop of the constructor goes over, with the sizes in the place of lists.

        None where there is no such list in it, or the constructor does not go along.
        """
        names = [one.value for one in (node, *descendants(node)) if isinstance(one, cst.Name)]
        lists = [(name, frame.lookup(name)) for name in names]
        sizes: dict[str, Value] = {
            name: Code(one.local)
            for name, one in lists
            if isinstance(one, SizedList) and one.is_local and _is_sure(one, frame)
        }
        if not sizes or not _is_open(frame):
            return None
        return header_of(node, self.code, _with_names(sizes, frame))

    # -- loops over submodules ----------------------------------------------------------------

    def begun(
        self, names: Iterable[str], place: cst.CSTNode, loop: int | None, frame: Frame
    ) -> dict[str, Begun]:
        """Let lists run in a loop over submodules that another loop makes.

        Args:
            names: The local names of lists whose sizes the loop does not leave alone.
            place: What tells the loop from others.
            loop: The loop that makes the submodules.
            frame: Where it is.

        Returns:
            What the names stood for.
        """
        if loop is None or not is_followed(frame):
            return {}
        found: dict[str, Begun] = {}
        recorder = frame.recorder
        for name, value in list(frame.names.items()):
            is_sized = isinstance(value, SizedList) and value.local not in recorder.unsized
            code = self.code_of(value, frame) if is_sized or name in names else None
            if code is None:
                continue
            local = local_for(name, "sizes", place, frame, loop)
            element = value.element if isinstance(value, Repeated) else ARRAY
            loops = (*recorder.loops, loop)
            depth = len(recorder.conditions)
            frame.names[name] = SizedList(element, sizes=local, now=local, loops=loops, depth=depth)
            found[name] = Begun(value, code, local)
        return found

    @staticmethod
    def lost(
        before: dict[str, Value],
        after: dict[str, Value],
        running: Collection[str],
        loop: int | None,
        frame: Frame,
    ) -> list[str]:
        """Return the names of lists of arrays whose sizes nothing says after a loop.

        Args:
            before: What names stand for before it.
            after: What they stand for then.
            running: The locals of sizes that each iteration changes.
            loop: The loop that makes the submodules.
            frame: Where it is.
        """
        if loop is None or not is_followed(frame):
            return []
        found: list[str] = []
        for name, value in before.items():
            now = after.get(name)
            is_list = isinstance(value, Seq) and are_arrays(value.items)
            if not is_list or now == value or not isinstance(now, Repeated):
                continue
            ends = now.head + now.tail or (now.element,)
            own = {*running} | frame.recorder.targets([loop])
            if any(_is_lost(one, own, loop) for one in ends):
                found.append(name)
        return found

    @staticmethod
    def end(
        begun: dict[str, Begun],
        loop: int | None,
        also: tuple[int, ...],
        frame: Frame,
    ) -> None:
        """Note what an iteration makes of the lists, and what they are after the loop.

        Args:
            begun: What they were before it.
            loop: The loop that makes the submodules.
            also: The loops that make them in other branches.
            frame: Where it is.
        """
        recorder = frame.recorder
        around = (*recorder.loops, loop)
        for name, value in list(frame.names.items()):
            one = begun.get(name)
            is_made = isinstance(value, SizedList) and not value.is_local
            if not isinstance(value, SizedList) or not is_made:
                continue
            if value.loops[: len(around)] != around:
                continue
            is_sure = value.is_running and value.local not in recorder.unsized
            if one is None or value.local != one.local or not is_sure:
                # What an iteration makes is gone with its locals.
                frame.names[name] = Repeated(value.element)
                continue
            first, update = as_dim(Piece(one.code)), as_dim(Piece(value.code))
            recorder.log.append(Change(Piece(value.local), first, update, loop, also))
            after: Value = SizedList(value.element, sizes=value.local, is_local=True)
            if value.code == value.local:
                after = one.value
            frame.names[name] = after

    # -- loops of submodules ------------------------------------------------------------------

    def after_loop(
        self,
        before: Mapping[str, Value],
        names: dict[str, Value],
        span: Span | None,
        frame: Frame,
        run: Callable[[], None],
    ) -> dict[str, Value]:
        """Return the lists of arrays that a loop of a submodule adds to, where their sizes are known.

        Args:
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
            first = self.code_of(value, frame)
            if not isinstance(added, Seq) or not added.items or first is None:
                continue
            sizes = [_size_in(item, span) for item in added.items]
            known = [size for size in sizes if size is not None]
            if len(known) == len(sizes):
                element = added.items[0]
                code = _comprehension(known, span, frame)
                code = code if first == "[]" else f"{first} + {code}"
                found[name] = SizedList(element, sizes=code, loops=tuple(frame.recorder.loops))
        return found


def _with_names(names: dict[str, Value], frame: Frame) -> Frame:
    """Return a frame in which some names stand for something else."""
    return Frame(frame.recorder, frame.analysis, frame.instance, frame.method, names, frame)


def _counter(position: Position, frame: Frame) -> Code:
    """Return the local that counts the iterations of the loop that makes submodules."""
    local = local_for("item", "index", frame.recorder.plan.cls.node, frame, position.loop)
    change = Change(Piece(local), as_dim(0), as_dim(Piece(local)) + 1, position.loop, position.also)
    frame.recorder.log.append(change)
    return Code(local)


def _zipped(values: list[Value], frame: Frame) -> Value | None:
    """Return `zip` of submodules that a loop makes and lists of arrays; None for other ones."""
    sized = [one for one in values if isinstance(one, SizedList) and _is_sure(one, frame)]
    zipped = over_values("zip", values, frame.recorder)
    if not sized or not _is_open(frame) or not isinstance(zipped, Repeated) or zipped.loop is None:
        return None
    index = _counter(Position("", zipped.loop, zipped.also), frame).code
    assert isinstance(zipped.element, Seq)
    items = [
        with_last(item, _part(value.code, index), (zipped.loop,))
        if isinstance(value, SizedList) and value in sized
        else item
        for item, value in zip(zipped.element.items, values, strict=True)
    ]
    return replace(zipped, element=Seq(tuple(items)))


def changes_list(body: cst.CSTNode, name: str) -> bool:
    """Whether statements add to a list in a local name, or take from it."""
    for below in descendants(body):
        match below:
            case (
                cst.Call(func=cst.Attribute(value=cst.Name(value=changed), attr=cst.Name()))
                | cst.AugAssign(target=cst.Name(value=changed))
            ) if changed == name:
                return True
    return False


def _size_in(value: Value, span: Span) -> Dim | None:
    """Return the last size of an array over the target of a loop; None where it is not known."""
    size = value.shape.axis(-1) if isinstance(value, Array) else None
    if size is None:
        return None
    values: dict[Atom, Dim] = {}
    for atom in size.atoms():
        if isinstance(atom, Piece) and span.number in atom.binders:
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
    token = frame.recorder.slots.name
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


def _is_joined_last(name: str, value: SizedList, node: cst.Call, frame: Frame) -> bool:
    """Whether a call joins the arrays of a list along their last axis."""
    axis = _axis(node, frame) if name in _JOINING else None
    rank = value.element.shape.rank if isinstance(value.element, Array) else None
    return axis is not None and (axis == -1 or axis + 1 == rank)


def _axis(node: cst.Call, frame: Frame) -> int | None:
    for position, arg in enumerate(node.args):
        is_axis = arg.keyword.value == "axis" if arg.keyword is not None else position == 1
        if is_axis:
            value = frame.seen(arg.value)
            known = value.value if isinstance(value, Const) else None
            return known if isinstance(known, int) else None
    return 0


def are_arrays(items: Iterable[Value]) -> bool:
    """Whether all of some values are arrays."""
    return all(isinstance(item, Array) for item in items)


def _in_common(items: Iterable[Value]) -> Array:
    """Return what is known of each of some arrays but its last size, which may differ."""
    first, *others = (with_last(one, None).shape for one in items)
    if all(one == first for one in others) and first != with_last(ARRAY, None).shape:
        return Array(first)
    if first.rank is None or any(one.rank != first.rank for one in others):
        return ARRAY
    return Array(Shape((None,) * first.rank))


def _items_of(value: Value) -> Sequence[Value]:
    match value:
        case SizedList(element=element):
            return (element,)
        case Seq(items=items):
            return items
    return (ARRAY,)


def _with_others(value: SizedList, more: Value, frame: Frame) -> SizedList:
    """Return a list that also has other arrays in it."""
    after = replace(value, element=_in_common((value.element, *_items_of(more))))
    if after.element != value.element:
        rebind(value, after, frame)
        return after
    return value


def _is_of_arrays(value: Value) -> bool:
    """Whether a value is a list of arrays, and no iteration has its sizes in a local."""
    if isinstance(value, SizedList):
        return not value.is_local
    return isinstance(value, Seq) and are_arrays(value.items)


def _part(code: str, index: str) -> str:
    is_sum = "+" in code
    return f"({code})[{index}]" if is_sum else f"{code}[{index}]"


def _forget(value: SizedList, frame: Frame) -> None:
    """Stop to keep the sizes of a list."""
    if value.local:
        frame.recorder.unsized.add(value.local)
    if not value.is_running:
        rebind(value, Repeated(_in_common((value.element, ARRAY))), frame)


def _is_changed_in_place(value: SizedList, frame: Frame) -> bool:
    """Whether a loop of the constructor changes a list as the loop of the method does."""
    return value.is_local and bool(frame.recorder.loops)


def _is_sure(value: SizedList, frame: Frame) -> bool:
    """Whether the sizes of a list are known, and every iteration does with it what is done now."""
    recorder = frame.recorder
    if value.local in recorder.unsized:
        return False
    if value.is_running:
        is_there = frame.records and tuple(recorder.loops) == value.loops
        return is_there and len(recorder.conditions) == value.depth
    return not value.is_local or _is_open(frame)


def _is_lost(value: Value, running: set[str], loop: int) -> bool:
    """Whether nothing says the last size of an array for all iterations, if a value is one."""
    if not isinstance(value, Array):
        return value == UNKNOWN
    size = value.shape.axis(-1)
    return size is None or any(
        isinstance(atom, Piece)
        and (loop in atom.binders or not running.isdisjoint(names_of(parsed(atom.code))))
        for atom in size.atoms()
    )
