"""Lists of submodules, arrays and settings in local names, and what functions make of them."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, dotted
from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.domain.classes import Field
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece, as_dim, chosen
from typed_nnx_codegen.migrate.linen.domain.expr import Content
from typed_nnx_codegen.migrate.linen.domain.frames import Frame, Recorder
from typed_nnx_codegen.migrate.linen.domain.references import (
    BoundMethod,
    Choice,
    Grown,
    Headed,
    ModuleValue,
    Repeated,
    SizedList,
    Sometimes,
    sites_in,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Code,
    CodeTuple,
    Const,
    Lead,
    OfShapes,
    Position,
    Seq,
    Shape,
    ShapeOf,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.iteration import as_key, element_of
from typed_nnx_codegen.migrate.linen.evaluate.merging import Merging, is_rebuilt
from typed_nnx_codegen.migrate.linen.evaluate.sized_lists import SizedLists
from typed_nnx_codegen.migrate.linen.evaluate.tuples import CHANGING, changed_by, rebind, rest_of
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed, dim_of, items_of, wanted_shape
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

# Code that has names for what is spelled later.
_NAME: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
# What is the same in every iteration of a loop.
_EVERYWHERE: Final = frozenset({"self", "len", "isinstance", "int", "bool", *keyword.kwlist})


def counting(value: Value) -> Value:
    """Return a list as it begins an iteration that notes what it appends.

    Args:
        value: What it stands for in any iteration.
    """
    is_list = isinstance(value, Repeated) and (sites_in(value) or isinstance(value, Grown))
    return Grown(value.element) if is_list and isinstance(value, Repeated) else value


def grown(before: Value, stable: Value, after: Value, number: int, recorder: Recorder) -> Value:
    """Return what a name stands for after a loop of the constructor.

    Args:
        before: What it stands for before the loop.
        stable: What it stands for in any iteration.
        after: What the last iteration leaves; the submodules in it are those that count.
        number: The loop.
        recorder: What is written down.
    """
    if isinstance(after, Grown):
        added = _of_iteration(after, number, recorder)
        if added is not None:
            return _continued(before, added)
        after = Repeated(after.element)
        if isinstance(stable, Headed):
            after = Headed(after.element, head=stable.head)
    sites = sites_in(rest_of(after) if isinstance(after, Headed) else after)
    return after if isinstance(after, Repeated) and sites else stable


def _of_iteration(after: Grown, number: int, recorder: Recorder) -> Repeated | None:
    """Return what a loop adds to a list; None where iterations differ."""
    if not all(_is_built(part, number, len(recorder.conditions)) for part in after.parts):
        return None
    match after.parts:
        case ():
            return None
        case [ModuleValue() as one] if one.site.loops[-1:] == (number,):
            return Repeated(one, number)
        case [Choice() as one] if all(site.loops[-1:] == (number,) for site in sites_in(one)):
            return Repeated(one, number)
    return Grown(_any_of(after.parts), number, parts=after.parts)


def _is_built(part: Value, number: int, depth: int) -> bool:
    """Whether an iteration of a loop builds what it appends, under so many conditions."""
    if isinstance(part, Sometimes):
        return all(_is_built(one, number, depth + 1) for one in (*part.parts, *part.orelse))
    if isinstance(part, Grown):
        return all(_is_built(one, number, depth) for one in part.parts)
    if isinstance(part, Choice):
        # A branch within the expression says which one it is.
        sites = sites_in(part)
        return all(
            number in site.loops and len(site.conditions) == depth + 1 for site in sites
        ) and len(sites) == len(part.options)
    return all(number in site.loops and len(site.conditions) == depth for site in sites_in(part))


def sometimes(one: Value, other: Value, code: str, recorder: Recorder) -> Grown | None:
    """Return a list of submodules that is longer on one side of a branch; None for other values.

    Args:
        one: The list where the condition holds.
        other: The list where it does not.
        code: The condition, which the constructor decides.
        recorder: What is written down.
    """
    first, second = _parts_of(one), _parts_of(other)
    condition = condition_of(code, recorder)
    if first is None or second is None or first == second or condition is None:
        return None
    common = 0
    while first[common : common + 1] == second[common : common + 1]:
        common += 1
    added, others = first[common:], second[common:]
    if not any(sites_in(part) for part in (*first, *second)):
        return None
    part = Sometimes(_any_of((*added, *others)), condition=condition, parts=added, orelse=others)
    before = first[:common]
    return Grown(_any_of((*before, part)), parts=(*before, part))


def condition_of(code: str, recorder: Recorder) -> Piece | None:
    """Return a condition that the constructor decides, for sizes; None where it asks arguments."""
    slots = recorder.slots

    def spelled(content: Content) -> str:
        is_known = isinstance(content, Dim) and all(
            isinstance(atom, Piece) for atom in content.atoms()
        )
        return content.code() if isinstance(content, Dim) and is_known else slots.name(content)

    node = slots.filled(cst.parse_expression(code), spelled)
    if list(slots.within(node)):
        return None
    text = code_of(node)
    home = f"loop{recorder.loops[-1]}" if recorder.loops and not is_of_fields(text) else ""
    return Piece(text, home)


def is_of_fields(code: str) -> bool:
    """Whether an expression has nothing in it but fields: it is the same everywhere."""
    return _EVERYWHERE.issuperset(_NAME.findall(code))


def _parts_of(value: Value) -> tuple[Value, ...] | None:
    match value:
        case Grown(loop=None, parts=parts):
            return parts
        case Seq(items=items, is_list=True):
            return items
    return None


def _continued(before: Value, added: Repeated) -> Value:
    """Return a list with what a loop adds to it."""
    match before:
        case Grown(loop=None):
            return with_part(before, added)
        case Seq(items=()):
            return added
        case Seq(items=items) if not isinstance(added, Grown):
            return Headed(_any_of((*items, added)), added.loop, head=items)
        case Seq(items=items):
            return Grown(_any_of((*items, added)), parts=(*items, added))
        case Repeated():
            return Grown(_any_of((before, added)), parts=(before, added))
    return UNKNOWN


def with_part(value: Grown, *parts: Value) -> Grown:
    """Return a list with more at its end."""
    every = (*value.parts, *parts)
    return replace(value, element=_any_of((Repeated(value.element), *parts)), parts=every)


def _any_of(parts: tuple[Value, ...]) -> Value:
    """Return what any item stands for, of a list with these parts."""
    found: list[Value] = []
    for part in parts:
        item = part.element if isinstance(part, Repeated) else part
        for one in item.options if isinstance(item, Choice) else (item,):
            if one != UNKNOWN:
                found = [each for each in found if each != one and not is_rebuilt(each, one)]
                found.append(one)
    return found[0] if len(found) == 1 else Choice(tuple(found)) if found else UNKNOWN


def is_continued(value: Headed) -> bool:
    """Whether a list is a few submodules, and behind them those that one loop makes."""
    first = [site for item in value.head for site in sites_in(item)]
    rest = sites_in(later_in(value))
    others = {id(site) for site in (*first, *rest)}
    is_whole = all(id(site) in others for site in sites_in(value.element))
    return value.loop is not None and bool(rest) and is_whole and not any(s.loops for s in first)


def later_in(value: Headed) -> Value:
    """Return what the loop makes that goes on with a list."""
    sites = [site for site in sites_in(value.element) if site.loops == (value.loop,)]
    return Choice(tuple(ModuleValue(site) for site in sites))


class HeldItems:
    """Goes through calls on lists and dicts.

    Args:
        sized_lists: Goes through lists of arrays whose sizes are known.
        merging: Joins values.
    """

    def __init__(
        self,
        sized_lists: SizedLists,
        merging: Merging,
    ) -> None:
        self._sized_lists = sized_lists
        self._merging = merging

    def over_values(
        self, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value | None:
        """Return what `zip`, `enumerate` and `reversed` make of lists with submodules; else None."""
        del keywords
        if not any(isinstance(arg, Repeated) for arg in args):
            return None
        repeated = next(arg for arg in args if isinstance(arg, Repeated))
        elements = tuple(element_of(arg)[0] for arg in args)
        if name == "builtins.zip":
            return Repeated(Seq(elements), repeated.loop, also=repeated.also)
        if name == "builtins.enumerate":
            loop = repeated.loop
            number = UNKNOWN if loop is None or len(args) > 1 else Position("", loop)
            return Repeated(Seq((number, elements[0])), loop, also=repeated.also)
        if name in ("builtins.list", "builtins.tuple") and isinstance(repeated, Headed):
            return repeated
        if name in ("builtins.reversed", "builtins.list", "builtins.tuple", "builtins.iter"):
            return Repeated(elements[0], repeated.loop if name != "builtins.reversed" else None)
        return None

    def container_method(
        self, callee: BoundMethod, passed: Sequence[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what a method of a list or dict returns; lists in local names change."""
        receiver = callee.receiver
        values = [one.value for one in passed]
        if isinstance(receiver, SizedList):
            found = self._sized_lists.method(receiver, callee.name, node, frame)
            if found is not None:
                return found
            receiver = Repeated(receiver.element)
        match callee.name, receiver:
            case ("append", Seq(items=items)) if len(values) == 1:
                self._rebind(node, Seq((*items, *values), is_list=True), frame)
                return NONE
            case ("append", Grown()) if len(values) == 1:
                self._rebind(node, with_part(receiver, *values), frame)
                return NONE
            case ("extend", Grown()) if isinstance(values[0], Seq):
                self._rebind(node, with_part(receiver, *values[0].items), frame)
                return NONE
            case ("append", Repeated(element=element)) if len(values) == 1:
                joined = self._merging.joined(element, values[0], frame)
                self._rebind(node, replace(receiver, element=joined), frame)
                return NONE
            case ("pop", Seq(items=items)) if items and not values:
                self._rebind(node, Seq(items[:-1], is_list=True), frame)
                return items[-1]
            case ("pop", Repeated(element=element)):
                return element
            case ("items", Table(items=table)):
                return Seq(tuple(Seq((as_key(key), value)) for key, value in table.items()))
            case ("values", Table(items=table)):
                return Seq(tuple(table.values()))
            case ("keys", Table(items=table)):
                return Seq(tuple(as_key(key) for key in table))
            case ("get", Table(items=table)) if values and isinstance(values[0], Const):
                return table.get(values[0].value, values[1] if len(values) > 1 else NONE)
            case ("items", Repeated(element=element)):
                return Repeated(Seq((UNKNOWN, element)), receiver.loop)
            case ("values", Repeated()):
                return receiver
            case ("copy", Seq() | Table(cls=None)):
                return replace(receiver)
        keywords = {one.keyword: one.value for one in passed if one.keyword}
        is_open = any(one.star for one in passed)
        args = [one.value for one in passed if not one.keyword]
        changed = changed_by(receiver, callee.name, args, keywords)
        if changed is None:
            return UNKNOWN
        rebind(receiver, UNKNOWN if is_open else changed[0], frame)
        return changed[1]

    @staticmethod
    def _rebind(node: cst.Call, value: Value, frame: Frame) -> None:
        match node.func:
            case cst.Attribute(value=cst.Name(value=name)) if name in frame.names:
                frame.names[name] = value


_CHANGING: Final = CHANGING | {"add", "discard"}
_GIVING: Final = frozenset({"pop", "popitem", "setdefault"})


def note_setting_call(writer: ConstructorCode, node: cst.Call, frame: Frame) -> Value | None:
    """Note a method call that changes a list or dict: the constructor changes it, too.

    Returns:
        What it returns; None where nothing of that kind is called, or nothing is written.
    """
    match node.func:
        case cst.Attribute(value=cst.Name(value=name) as owner, attr=cst.Name(value=method)) if (
            method in _CHANGING
        ):
            codes = [_argument(writer, arg, frame) for arg in node.args]
            known = [code for code in codes if code is not None]
            change = f".{method}({', '.join(known)})" if len(known) == len(codes) else ""
            local = frame.recorder.fresh(f"{name}_item") if method in _GIVING else ""
            if _change(name, change, frame, local):
                return Code(local) if local else NONE
            if frame.lookup(name) == UNKNOWN:
                frame.values[owner] = frame.values[node.func] = UNKNOWN
    return None


def note_setting_item(
    writer: ConstructorCode, target: cst.Subscript, source: cst.BaseExpression | None, frame: Frame
) -> None:
    """Note that an item of a list or dict is assigned."""
    match target:
        case cst.Subscript(
            value=cst.Name(value=name), slice=[cst.SubscriptElement(slice=cst.Index(value=key))]
        ):
            place = writer.of(key, frame)
            value = None if source is None else writer.of(source, frame)
            is_known = place is not None and value is not None
            _change(name, f"[{place}] = {value}" if is_known else "", frame)
        case cst.Subscript(value=cst.Name(value=name)):
            _change(name, "", frame)


def _argument(writer: ConstructorCode, arg: cst.Arg, frame: Frame) -> str | None:
    code = writer.of(arg.value, frame)
    keyword = f"{arg.keyword.value}=" if arg.keyword is not None else ""
    return None if code is None else f"{arg.star}{keyword}{code}"


def _change(name: str, change: str, frame: Frame, result: str = "") -> bool:
    """Write a change into the constructor, where it has the list; return whether it is written."""
    value = frame.lookup(name)
    recorder = frame.recorder
    if not isinstance(value, Code | OfShapes) or frame.verbatim:
        return False
    if frame.records and not frame.binds_locals:
        return False  # locals of the constructor come when it counts
    is_local = value.code in recorder.locals and not value.home
    is_of_call = any(one.is_of_call for one in recorder.conditions) or bool(recorder.call_loops)
    if frame.records and is_local and change and not is_of_call:
        if result:
            recorder.write(f"{result} = {value.code}{change}", f"{result}, {value.code}")
        else:
            recorder.write(f"{value.code}{change}", value.code)
        return True
    _forget(value, frame)
    return False


def _forget(value: Value, frame: Frame) -> None:
    current: Frame | None = frame
    while current is not None:
        for name, one in current.names.items():
            if one is value or one == value:
                current.names[name] = UNKNOWN
        current = current.outer


_TUPLES: Final = ("tuple", "Tuple")


def with_ends(value: Value, left: Value, right: Value) -> Value:
    """Return the sum of two tuples with what is known of its last items.

    Args:
        value: The sum, as code.
        left: The first tuple.
        right: The second tuple.
    """
    is_sum = isinstance(value, Code) and isinstance(left, Code)
    return _coded(value, right) if is_sum and items_of(right) is not None else value


def starred_tuple(node: cst.Tuple | cst.List, items: list[Value]) -> Value | None:
    """Return a tuple that unpacks the shape of an array; None where it unpacks something else."""
    parts: list[Value] = []
    for element, item in zip(node.elements, items, strict=True):
        is_starred = isinstance(element, cst.StarredElement)
        if is_starred and not isinstance(item, ShapeOf | Seq):
            return None
        parts.append(item if is_starred else Seq((item,)))
    found = reduce(lambda one, other: shapes.binary("+", one, other), parts)
    return found if isinstance(found, ShapeOf) else None


def with_starred(value: Value, node: cst.Tuple | cst.List, items: list[Value]) -> Value:
    """Return a tuple that unpacks fields with what is known of its last items."""
    stars = [k for k, one in enumerate(node.elements) if isinstance(one, cst.StarredElement)]
    last = items[stars[-1] + 1 :]
    return _coded(value, Seq(tuple(last))) if last else value


def one_by_one(one: Field, code: str) -> CodeTuple | None:
    """Return a field whose type says how many numbers it holds; None for other fields."""
    match one.annotation.annotation:
        case cst.Subscript(value=kind, slice=slices) if dotted(kind).rpartition(".")[2] in _TUPLES:
            kinds = [code_of(each) for each in slices]
        case _:
            return None
    if any(kind.rstrip(", ") != "int" for kind in kinds) or not _agrees(one.default, len(kinds)):
        return None
    dims = tuple(as_dim(Piece(f"{code}[{k}]")) for k in range(len(kinds)))
    return CodeTuple(code, shape=Shape(dims))


def either_tuple(value: Code, condition: Piece | None, one: Value, other: Value) -> Code:
    """Return one of two tuples of numbers with its sizes; other code as it is.

    Args:
        value: The code of the choice.
        condition: The condition, as the constructor says it.
        one: The tuple where it holds.
        other: The tuple else.
    """
    first, second = (items_of(side) or () for side in (one, other))
    dims = [(dim_of(a), dim_of(b)) for a, b in zip(first, second, strict=False)]
    known = [chosen(condition, a, b) for a, b in dims if a and b] if condition else []
    if not known or not len(known) == len(first) == len(second):
        return value
    return CodeTuple(value.code, value.home, shape=Shape(tuple(known)), is_sure=True)


def _agrees(default: cst.BaseExpression | None, count: int) -> bool:
    """Whether the default of a field is not of another form than its type says."""
    match default:
        case None:
            return True
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return len(elements) == count
    return False


def _coded(value: Value, last: Value) -> Value:
    if not isinstance(value, Code):
        return value
    return CodeTuple(value.code, value.home, shape=Shape(wanted_shape(last).dims, Lead("", None)))
