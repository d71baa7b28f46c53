"""Lists of arrays whose sizes the constructor has, also where loops over submodules change them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import Condition, Site
from typed_nnx_codegen.migrate.linen.domain.dims import ItemSize, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import Change, Frame
from typed_nnx_codegen.migrate.linen.domain.references import Headed, Repeated
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
from typed_nnx_codegen.migrate.linen.evaluate.tuples import rebind
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_JOINING: Final = ("jax.numpy.concatenate", "jax.numpy.concat", "numpy.concatenate")
# An item of a list of which nothing else is known.
ARRAY: Final = Array(Shape((), Lead("", None)))
_SUFFIX: Final = re.compile(r"_(features|sizes)(_\d+)?$")


@dataclass(frozen=True)
class SizedList(Repeated):
    """A list of arrays whose last sizes a local of the constructor has, in the same order.

    Attributes:
        local: The local.
        loops: The loops around what it is called with, where it is kept for that.
        conditions: The branches around that.
    """

    local: str = ""
    loops: tuple[int, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def base(self) -> str:
        """The name of the list, for locals with sizes of its items."""
        return _SUFFIX.sub("", self.local)

    @property
    def sizes(self) -> str:
        """The expression for the sizes as they are now; empty where an iteration goes on."""
        return self.local

    def is_seen_by(self, site: Site) -> bool:
        """Whether its sizes are there where a submodule is constructed."""
        loops, conditions = len(self.loops), len(self.conditions)
        return site.loops[:loops] == self.loops and site.conditions[:conditions] == self.conditions


@dataclass(frozen=True)
class CodedList(SizedList):
    """A list of arrays whose last sizes an expression says, not a local.

    Attributes:
        code: The expression, a template.
    """

    code: str = ""

    @property
    def sizes(self) -> str:
        """The expression for the sizes."""
        return self.code


@dataclass(frozen=True)
class RunningList(CodedList):
    """A list of arrays in an iteration of a loop over submodules.

    Attributes:
        code: The expression for the sizes that it has now, over what `local` is when an iteration
            begins.
        depth: How many branches there are around the loop.
    """

    code: str = field(default="", compare=False)
    depth: int = 0

    @property
    def sizes(self) -> str:
        """Nothing: what it is now is no more when the iteration ends."""
        return ""


def is_followed(frame: Frame) -> bool:
    """Whether the constructor goes along, or does so where it makes the submodules of a loop."""
    recorder = frame.recorder
    return (
        frame.records
        and not frame.verbatim
        and 0 not in recorder.call_loops
        and not recorder.pending
        and not any(one.is_of_call for one in recorder.conditions)
    )


def last_size(code: ConstructorCode, value: Value, frame: Frame) -> str | None:
    """Return the code of the last size of an array; None where it cannot be said."""
    size = value.shape.axis(-1) if isinstance(value, Array) else None
    if size is None or not code.sizes_are_visible(size, frame):
        return None
    return frame.recorder.slots.name(size)


def is_joined_last(name: str, value: SizedList, node: cst.Call, frame: Frame) -> bool:
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


def with_last(value: Value, code: str, home: str = "") -> Array:
    """Return an item of a list with the expression for its last size."""
    shape = value.shape if isinstance(value, Array) else Shape((), Lead("", None))
    shape = shape.expanded(1)
    return Array(Shape((*shape.dims[:-1], as_dim(ItemSize(code, home))), shape.lead))


def arrays_in(value: Value) -> tuple[Value, ...] | None:
    """Return the arrays of a list; None where it holds something else."""
    items: tuple[Value, ...]
    match value:
        case Seq(items=items):
            pass
        case Repeated(element=element):
            items = (element,)
        case _:
            return None
    return items if all(isinstance(item, Array) for item in items) else None


def any_item(element: Value, values: Value) -> Value:
    """Return what any item of a list stands for to whatever takes them all: it has one size.

    Args:
        element: The item, as far as nothing else is known.
        values: The list.
    """
    sizes = values.sizes if isinstance(values, SizedList) else ""
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


class RunningLists:
    """Goes through what such loops do with lists.

    Args:
        code: Writes expressions for the constructor.
    """

    def __init__(
        self,
        code: ConstructorCode,
    ) -> None:
        self._code = code

    # -- loops --------------------------------------------------------------------------------

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
        for name, value in list(frame.names.items()):
            is_sized = isinstance(value, SizedList) and value.local not in frame.recorder.unsized
            code = self.code_of(value, frame) if is_sized or name in names else None
            if code is None:
                continue
            local = local_for(name, "sizes", place, frame, loop)
            element = value.element if isinstance(value, Repeated) else ARRAY
            recorder = frame.recorder
            frame.names[name] = RunningList(
                element,
                local=local,
                code=local,
                loops=(*recorder.loops, loop),
                depth=len(recorder.conditions),
            )
            found[name] = Begun(value, code, local)
        return found

    def code_of(self, value: Value, frame: Frame) -> str | None:
        """Return the expression for the last sizes of the arrays of a list; None if not known."""
        match value:
            case CodedList(code=code):
                return code
            case SizedList(local=local):
                return local
            case Seq(items=items):
                codes = [last_size(self._code, item, frame) for item in items]
                known = [code for code in codes if code is not None]
                return f"[{', '.join(known)}]" if len(known) == len(codes) else None
        return None

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
            is_list = isinstance(value, Seq) and all(
                isinstance(item, Array) for item in value.items
            )
            now = after.get(name)
            if not is_list or now == value or not isinstance(now, Repeated):
                continue
            ends = now.head + now.tail if isinstance(now, Headed) else ()
            if all(_is_open(one, running, loop) for one in ends or (now.element,)):
                found.append(name)
        return found

    def end(
        self,
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
            if not isinstance(value, CodedList) or value.loops[: len(around)] != around:
                continue
            is_sure = isinstance(value, RunningList) and value.local not in recorder.unsized
            if one is None or value.local != one.local or not is_sure:
                # What an iteration makes is gone with its locals.
                frame.names[name] = Repeated(value.element)
                continue
            first, update = as_dim(Piece(one.code)), as_dim(Piece(value.code))
            recorder.log.append(Change(Piece(value.local), first, update, loop, also))
            after: Value = SizedList(value.element, local=value.local)
            if value.code == value.local:
                after = one.value
            elif isinstance(one.value, RunningList):
                after = replace(one.value, code=value.local)
            frame.names[name] = after

    # -- what an iteration does ---------------------------------------------------------------

    def method(self, receiver: CodedList, name: str, node: cst.Call, frame: Frame) -> Value | None:
        """Return what a method of the list returns; None where it is as of any list."""
        values = [frame.seen(arg.value) or UNKNOWN for arg in node.args]
        match name, values:
            case "append", [value]:
                return self._changed(receiver, self._added(receiver, (value,), frame), frame)
            case "extend", [Seq(items=items)]:
                return self._changed(receiver, self._added(receiver, items, frame), frame)
            case "insert", [Const(value=0), value]:
                size = last_size(self._code, value, frame)
                code = None if size is None else f"[{size}] + {receiver.code}"
                return self._changed(receiver, code, frame)
            case "pop", [] | [Const(value=-1)]:
                return self._taken(receiver, "-1", ":-1", frame)
            case "pop", [Const(value=0)]:
                return self._taken(receiver, "0", "1:", frame)
            case (("index" | "count" | "copy"), _):
                return None
        self._changed(receiver, None, frame)
        return None

    def _taken(self, receiver: CodedList, item: str, rest: str, frame: Frame) -> Value | None:
        if self._changed(receiver, _part(receiver.code, rest), frame) is None:
            return None
        return with_last(receiver.element, _part(receiver.code, item))

    def _added(self, receiver: CodedList, values: tuple[Value, ...], frame: Frame) -> str | None:
        codes = [last_size(self._code, value, frame) for value in values]
        known = [code for code in codes if code is not None]
        return f"{receiver.code} + [{', '.join(known)}]" if len(known) == len(codes) else None

    @staticmethod
    def _changed(receiver: CodedList, code: str | None, frame: Frame) -> Value | None:
        if code is None or not _is_sure(receiver, frame):
            _forget(receiver, frame)
            return None
        rebind(receiver, replace(receiver, code=code), frame)
        return NONE

    def total(self, left: Value, right: Value, frame: Frame) -> Value | None:
        """Return the sum of two lists; None as of any list."""
        base = left if isinstance(left, SizedList) else right
        if not isinstance(base, SizedList):
            return None
        codes = [self.code_of(one, frame) for one in (left, right)]
        if None in codes or not _is_sure(base, frame):
            if isinstance(base, CodedList):
                _forget(base, frame)
            return None
        code = f"{codes[0]} + {codes[1]}"
        if isinstance(base, RunningList):
            return replace(base, code=code)
        return CodedList(base.element, loops=tuple(frame.recorder.loops), code=code)

    def chosen(self, condition: Piece, one: Value, other: Value, frame: Frame) -> Value | None:
        """Return what is one list where a condition holds, else the other one; None if not lists."""
        base = one if isinstance(one, SizedList) else other
        if not isinstance(base, SizedList) or isinstance(base, RunningList):
            return None
        first, second = (self.code_of(value, frame) for value in (one, other))
        if first is None or second is None:
            return None
        asked = frame.recorder.slots.name(as_dim(condition))
        code = f"({first} if {asked} else {second})"
        return CodedList(base.element, loops=tuple(frame.recorder.loops), code=code)

    def item(self, base: CodedList, index: cst.BaseSlice, frame: Frame) -> Value | None:
        """Return an item of the list, or the list of a slice; None as of any list."""
        parts: tuple[cst.BaseExpression | None, ...] = ()
        if isinstance(index, cst.Slice):
            parts = (index.lower, index.upper, index.step)
        elif isinstance(index, cst.Index):
            parts = (index.value,)
        codes = ["" if one is None else self._place(one, frame) for one in parts]
        if None in codes or not _is_sure(base, frame):
            return None
        if not isinstance(index, cst.Slice):
            return with_last(base.element, _part(base.code, codes[0] or ""))
        text = ":".join(code or "" for code in codes[: 3 if codes[2] else 2])
        return replace(base, code=_part(base.code, text))

    def _place(self, node: cst.BaseExpression, frame: Frame) -> str | None:
        """Return the code of a place in a list; the number of an iteration is counted along."""
        value = frame.seen(node)
        if isinstance(value, Const):
            return str(value.value)
        names = {
            one.value: self._counter(one, frame)
            for one in descendants(node)
            if isinstance(one, cst.Name) and isinstance(frame.lookup(one.value), Position)
        }
        if not names:
            return self._code.of(node, frame)
        known: dict[str, Value] = {name: Code(local) for name, local in names.items()}
        inner = Frame(frame.recorder, frame.analysis, frame.instance, frame.method, known, frame)
        return self._code.of(node, inner)

    def _counter(self, node: cst.Name, frame: Frame) -> str:
        """Return the local that counts the iterations which a name has the number of."""
        value = frame.lookup(node.value)
        assert isinstance(value, Position)
        local = local_for(node.value, "count", node, frame, value.loop)
        counter = Piece(local)
        change = Change(counter, as_dim(0), as_dim(counter) + 1, value.loop)
        frame.recorder.log.append(change)
        return local

    def zipped(self, node: cst.Call, frame: Frame) -> Value | None:
        """Return `zip` of submodules that a loop makes and lists of arrays; None for other ones."""
        values = [frame.seen(arg.value) for arg in node.args]
        made = [one for one in values if isinstance(one, Repeated) and one.loop is not None]
        is_there = is_followed(frame) and not frame.recorder.call_loops
        if not made or not is_there or any(arg.keyword or arg.star for arg in node.args):
            return None
        items: list[Value] = []
        for value in values:
            element = value.element if isinstance(value, Repeated) else UNKNOWN
            if isinstance(value, SizedList) and value.local not in frame.recorder.unsized:
                element = self._first(value, made[0], node, frame)
            items.append(element)
        return Repeated(Seq(tuple(items)), made[0].loop, also=made[0].also)

    def _first(self, value: SizedList, made: Repeated, node: cst.Call, frame: Frame) -> Value:
        """Return the item of a list that goes with one of the submodules."""
        code = self.code_of(value, frame)
        if code is None:
            return value.element
        local = local_for(value.base, "rest_sizes", node, frame, made.loop)
        rest = as_dim(Piece(f"{local}[1:]"))
        change = Change(Piece(local), as_dim(Piece(code)), rest, made.loop, made.also)
        frame.recorder.log.append(change)
        return with_last(value.element, f"{local}[0]", f"loop{made.loop}")

    def over(self, name: str, value: CodedList, node: cst.Call, frame: Frame) -> Value | None:
        """Return what a function makes of the list; None as of any list."""
        if not _is_sure(value, frame):
            return None
        if name == "builtins.len":
            return Code(f"len({value.code})")
        if name == "builtins.reversed":
            return replace(value, code=_part(value.code, "::-1"))
        if name in ("builtins.list", "builtins.tuple"):
            return value
        if is_joined_last(name, value, node, frame):
            return with_last(value.element, f"sum({value.code})")
        return None


def _part(code: str, index: str) -> str:
    is_sum = "+" in code
    return f"({code})[{index}]" if is_sum else f"{code}[{index}]"


def _forget(value: CodedList, frame: Frame) -> None:
    """Stop to keep the sizes of a list."""
    if isinstance(value, RunningList):
        frame.recorder.unsized.add(value.local)
    else:
        rebind(value, Repeated(value.element), frame)


def _is_sure(value: SizedList, frame: Frame) -> bool:
    """Whether the sizes of a list are known, and every iteration does with it what is done now."""
    recorder = frame.recorder
    if not isinstance(value, CodedList):
        is_there = is_followed(frame) and not recorder.call_loops
        return is_there and value.local not in recorder.unsized
    if not isinstance(value, RunningList):
        return True
    is_there = frame.records and tuple(recorder.loops) == value.loops
    is_always = len(recorder.conditions) == value.depth
    return is_there and is_always and value.local not in recorder.unsized


def _is_open(value: Value, running: Collection[str], loop: int) -> bool:
    """Whether nothing says the last size of an array for all iterations, if a value is one."""
    if not isinstance(value, Array):
        return value == UNKNOWN
    size = value.shape.axis(-1)
    return size is None or any(
        isinstance(atom, Piece) and (atom.home == f"loop{loop}" or atom.code in running)
        for atom in size.atoms()
    )
