"""Lists of arrays, such as those of skip connections: the constructor keeps a list of their sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.domain.dims import Atom, Dim, ItemSize, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import Frame
from typed_nnx_codegen.migrate.linen.domain.names import names_in
from typed_nnx_codegen.migrate.linen.domain.references import Repeated
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Lead,
    Seq,
    Shape,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.iteration import header_of, inner_name, trial
from typed_nnx_codegen.migrate.linen.evaluate.running_lists import (
    CodedList,
    RunningLists,
    SizedList,
    arrays_in,
    is_followed,
    is_joined_last,
    last_size,
    local_for,
    with_last,
)
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_KEEPING: Final = ("builtins.list", "builtins.tuple")


@dataclass(frozen=True)
class SizedLoop:
    """A loop over such a list, as the constructor runs it over the sizes.

    Attributes:
        target: What is bound in each iteration.
        header: What it goes over.
        sizes: The locals of sizes by the names of the arrays that they are of.
        first: The sizes of the first items, by those locals.
        arrays: Those arrays, but for that size.
        plain: The other names that are bound.
    """

    target: str
    header: str
    sizes: tuple[tuple[str, str], ...] = ()
    first: tuple[tuple[str, str], ...] = ()
    arrays: tuple[tuple[str, Array], ...] = ()
    plain: tuple[str, ...] = ()

    def bind(self, number: int, frame: Frame) -> None:
        """Bind the names of the loop.

        Args:
            number: The loop.
            frame: Where it is.
        """
        home = f"loop{number}"
        arrays = dict(self.arrays)
        for name, local in self.sizes:
            frame.names[name] = with_last(arrays[name], local, home)
        for local, code in self.first:
            frame.recorder.first_sizes[ItemSize(local, home)] = as_dim(ItemSize(code))
        for name in self.plain:
            frame.names[name] = Code(name, home)
            frame.recorder.locals.add(name)


class SizedLists:
    """Goes through what methods do with such lists.

    Args:
        code: Writes expressions for the constructor.
        running_lists: Goes through lists in loops over submodules.
    """

    def __init__(
        self,
        code: ConstructorCode,
        running_lists: RunningLists,
    ) -> None:
        self._code = code
        self._running_lists = running_lists

    # -- making -------------------------------------------------------------------------------

    @staticmethod
    def candidates(frame: Frame) -> list[str]:
        """Return the names of lists that are empty or hold nothing but arrays."""
        if not _is_open(frame):
            return []
        return [
            name
            for name, value in frame.names.items()
            if isinstance(value, Seq)
            and all(isinstance(item, Array) for item in value.items)
            and (value.is_list or value.items)
        ]

    def sized(self, name: str, after: Value, place: cst.CSTNode, frame: Frame) -> Value | None:
        """Return a list of arrays with its sizes in the constructor; None where they are not known.

        Args:
            name: The name of the list.
            after: What an iteration of the loop that changes it leaves.
            place: What tells the loop from others.
            frame: Where it is.
        """
        before = frame.names[name]
        assert isinstance(before, Seq)
        added = arrays_in(after)
        if added is None or not (added or before.items):
            return None
        ranks = {one.shape.rank for one in (*before.items, *added) if isinstance(one, Array)}
        codes = [last_size(self._code, item, frame) for item in before.items]
        known = [code for code in codes if code is not None]
        local = local_for(name, "features", place, frame)
        if len(known) != len(codes) or local in frame.recorder.unsized:
            return None
        frame.recorder.write(f"{local} = [{', '.join(known)}]", local)
        rank = ranks.pop() if len(ranks) == 1 else None
        shape = Shape((), Lead("", None)) if rank is None else Shape((None,) * rank)
        return SizedList(Array(shape), local=local)

    # -- changing -----------------------------------------------------------------------------

    def method(self, receiver: SizedList, name: str, node: cst.Call, frame: Frame) -> Value | None:
        """Return what a method of the list returns; None where it is as of any list."""
        if isinstance(receiver, CodedList):
            return self._running_lists.method(receiver, name, node, frame)
        values = [frame.seen(arg.value) or UNKNOWN for arg in node.args]
        match name, values:
            case "append", [value]:
                return self._added(receiver, (value,), frame)
            case "extend", [Seq(items=items)]:
                return self._added(receiver, items, frame)
            case "pop", []:
                return self._popped(receiver, "", node, frame)
            case "pop", [Const(value=int(place))]:
                return self._popped(receiver, str(place), node, frame)
            case (("index" | "count" | "copy"), _):
                return None
        self._forget(receiver, frame)
        return None

    def _added(self, receiver: SizedList, values: tuple[Value, ...], frame: Frame) -> Value | None:
        codes = [last_size(self._code, value, frame) for value in values]
        known = [code for code in codes if code is not None]
        if len(known) != len(codes) or not self._is_sure(receiver, frame):
            self._forget(receiver, frame)
            return None
        frame.recorder.write(f"{receiver.local} += [{', '.join(known)}]", receiver.local)
        return NONE

    def _popped(
        self, receiver: SizedList, place: str, node: cst.Call, frame: Frame
    ) -> Value | None:
        if not self._is_sure(receiver, frame):
            self._forget(receiver, frame)
            return None
        item = local_for(receiver.base, "item_features", node, frame)
        text = f"{item} = {receiver.local}.pop({place})"
        frame.recorder.write_before(text, f"{item}, {receiver.local}")
        return with_last(receiver.element, item)

    def added(self, left: Value, right: Value, frame: Frame) -> Value | None:
        """Return the list after `list += [array]`; None where it is no such list."""
        running = self._running_lists
        if isinstance(left, CodedList) or not isinstance(left, SizedList):
            return running.total(left, right, frame)
        code = running.code_of(right, frame)
        if code is None or not self._is_sure(left, frame):
            self._forget(left, frame)
            return None
        frame.recorder.write(f"{left.local} += {code}", left.local)
        return left

    @staticmethod
    def _forget(receiver: SizedList, frame: Frame) -> None:
        """Stop to keep the sizes of a list."""
        frame.recorder.unsized.add(receiver.local)
        for name, value in list(frame.names.items()):
            if value == receiver:
                frame.names[name] = Repeated(receiver.element)

    # -- reading ------------------------------------------------------------------------------

    def item(
        self, base: SizedList, index: cst.BaseSlice, node: cst.Subscript, frame: Frame
    ) -> Value | None:
        """Return an item of the list, or the list of a slice; None as of any list."""
        if isinstance(base, CodedList):
            return self._running_lists.item(base, index, frame)
        if not self._is_sure(base, frame):
            return None
        if isinstance(index, cst.Slice):
            parts = (index.lower, index.upper, index.step)
            codes = ["" if one is None else self._code.of(one, frame) for one in parts]
            if None in codes:
                return None
            local = local_for(base.base, "part_features", node, frame)
            text = ":".join(code or "" for code in codes[: 3 if codes[2] else 2])
            frame.recorder.write_before(f"{local} = {base.local}[{text}]", local)
            return replace(base, local=local)
        assert isinstance(index, cst.Index)
        code = self._code.of(index.value, frame)
        if code is None:
            return None
        local = local_for(base.base, "item_features", node, frame)
        frame.recorder.write_before(f"{local} = {base.local}[{code}]", local)
        return with_last(base.element, local)

    def over(self, name: str, node: cst.Call, frame: Frame) -> Value | None:
        """Return what a function makes of such a list; None as of any list."""
        if name == "builtins.zip":
            return self._running_lists.zipped(node, frame)
        first = node.args[0] if node.args else None
        if first is None or first.keyword is not None:
            return None
        value = frame.seen(first.value)
        if isinstance(value, CodedList):
            return self._running_lists.over(name, value, node, frame)
        if not isinstance(value, SizedList) or not self._is_sure(value, frame):
            return None
        base = value.base
        if is_joined_last(name, value, node, frame):
            local = local_for(base, "sum_features", node, frame)
            frame.recorder.write_before(f"{local} = sum({value.local})", local)
            return with_last(value.element, local)
        if name == "builtins.len":
            local = local_for(base, "count", node, frame)
            frame.recorder.write_before(f"{local} = len({value.local})", local)
            return Code(local)
        if name == "builtins.reversed" and len(node.args) == 1:
            local = local_for(base, "reversed_features", node, frame)
            frame.recorder.write_before(f"{local} = {value.local}[::-1]", local)
            return replace(value, local=local)
        if name in _KEEPING and len(node.args) == 1:
            local = local_for(base, "copy_features", node, frame)
            frame.recorder.write_before(f"{local} = list({value.local})", local)
            return replace(value, local=local)
        return None

    def named(self, name: str, value: CodedList, place: cst.CSTNode, frame: Frame) -> Value:
        """Return a list with a local for its sizes, where a name is bound to it."""
        if not _is_open(frame) or value.local:
            return value
        local = local_for(name, "sizes", place, frame)
        frame.recorder.write(f"{local} = {value.code}", local)
        return SizedList(value.element, local=local)

    def kept(self, values: dict[str, Value], node: cst.Call, frame: Frame) -> dict[str, Value]:
        """Return arguments as a submodule is called with them: lists may change later."""
        return {name: self._kept(value, name, node, frame) for name, value in values.items()}

    def _kept(self, value: Value, name: str, node: cst.Call, frame: Frame) -> Value:
        if isinstance(value, CodedList):
            return self.named(name, value, node, frame)
        if not isinstance(value, SizedList) or not self._is_sure(value, frame):
            return value
        recorder = frame.recorder
        local = local_for(name, "sizes", node, frame)
        recorder.write_before(f"{local} = tuple({value.local})", local)
        loops, conditions = tuple(recorder.loops), tuple(recorder.conditions)
        return replace(value, local=local, loops=loops, conditions=conditions)

    # -- loops --------------------------------------------------------------------------------

    def loop(
        self, target: cst.BaseExpression, node: cst.BaseExpression, frame: Frame
    ) -> SizedLoop | None:
        """Return how the constructor goes over such lists; None where there is none of them."""
        if not _is_open(frame):
            return None
        found = self._over(target, node, frame)
        return found if found is not None and found.sizes else None

    def _over(
        self, target: cst.BaseExpression, node: cst.BaseExpression, frame: Frame
    ) -> SizedLoop | None:
        value = frame.seen(node)
        match node, target:
            case _, cst.Name(value=name) if isinstance(value, SizedList):
                is_there = not isinstance(value, CodedList) and self._is_sure(value, frame)
                if not is_there or not isinstance(value.element, Array):
                    return None
                local = local_for(name, "features", node, frame)
                sizes, arrays = ((name, local),), ((name, value.element),)
                first = ((local, f"{value.local}[0]"),)
                return SizedLoop(local, value.local, sizes, first, arrays)
            case cst.Call(func=cst.Name(value="zip"), args=args), cst.Tuple(elements=elements):
                if frame.lookup("zip") is not None or len(args) != len(elements):
                    return None
                if any(arg.keyword is not None or arg.star for arg in args):
                    return None
                pairs = zip(elements, args, strict=True)
                parts = [self._over(one.value, arg.value, frame) for one, arg in pairs]
                return _joined("zip", [one for one in parts if one is not None], len(args))
            case (
                cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=inner)]),
                cst.Tuple(elements=[cst.Element(value=cst.Name(value=index)), item]),
            ) if frame.lookup("enumerate") is None:
                part = self._over(item.value, inner, frame)
                if part is None:
                    return None
                text = part.target if "," not in part.target else f"({part.target})"
                return replace(
                    part,
                    target=f"{index}, {text}",
                    header=f"enumerate({part.header})",
                    plain=(index, *part.plain),
                )
        code = header_of(node, self._code, frame)
        if code is None:
            return None
        return SizedLoop(code_of(target), code, plain=tuple(names_in(target)))

    # -- parts --------------------------------------------------------------------------------

    @staticmethod
    def _is_sure(value: SizedList, frame: Frame) -> bool:
        return _is_open(frame) and value.local not in frame.recorder.unsized


def _is_open(frame: Frame) -> bool:
    """Whether the constructor goes along with what happens now."""
    return is_followed(frame) and not frame.recorder.call_loops


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


def _joined(function: str, parts: list[SizedLoop], count: int) -> SizedLoop | None:
    if len(parts) != count:
        return None
    targets = [f"({one.target})" if "," in one.target else one.target for one in parts]
    return SizedLoop(
        ", ".join(_unwrapped(one) for one in targets),
        f"{function}({', '.join(one.header for one in parts)})",
        tuple(pair for one in parts for pair in one.sizes),
        tuple(pair for one in parts for pair in one.first),
        tuple(pair for one in parts for pair in one.arrays),
        tuple(name for one in parts for name in one.plain),
    )


def _unwrapped(target: str) -> str:
    return target.replace("((", "(").replace("))", ")")


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
