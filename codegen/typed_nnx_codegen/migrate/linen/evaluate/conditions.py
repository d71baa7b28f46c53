"""What conditions tell: which are certain, ranks that they imply, submodules that exist only under them."""

from __future__ import annotations

import keyword
import re
from collections import abc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, is_docstring
from typed_nnx_codegen.migrate.linen.domain.class_plan import Condition
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import (
    ArgumentPresence,
    ArgumentSize,
    Piece,
    as_dim,
)
from typed_nnx_codegen.migrate.linen.domain.frames import Frame, FunctionRef, Recorder
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    ClassRef,
    EnumMember,
    FieldModule,
    ModuleValue,
    Ref,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    OPEN,
    Array,
    Code,
    Const,
    Seq,
    ShapeOf,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.layers import find_layer


def decided(operator: str, left: Value, right: Value) -> bool | None:
    """Return the outcome of a comparison that is sure: of literals, and of arrays with None."""
    if isinstance(left, Const) and isinstance(right, Const):
        if operator in ("is", "=="):
            return left == right
        if operator in ("is not", "!="):
            return left != right
    if isinstance(left, EnumMember) and isinstance(right, EnumMember):
        is_same = left.is_same(right)
        if is_same is not None and operator in ("is", "==", "is not", "!="):
            return is_same == (operator in ("is", "=="))
    if operator in ("is", "is not") and right == NONE:
        if isinstance(left, (EnumMember, Seq, ModuleValue, ShapeOf, Ref, ClassRef, FunctionRef)):
            is_field = getattr(left, "code", "").startswith("self.")
            return None if is_field else operator == "is not"
        if isinstance(left, Code) and left.holds:
            return operator == "is not"
        if isinstance(left, Size) and not isinstance(left.dim.atom, Piece):
            return operator == "is not"
        if isinstance(left, Array) and not left.origin and not left.is_optional:
            return operator == "is not" if left.shape.axis(-1) is not None else None
    return None


def instance_of(value: Value, kind: Value, *, believes: bool = False) -> bool | None:
    """Return whether a value is an object of a class, or of one of several; None if not sure.

    Args:
        value: The value.
        kind: The class, or several of them.
        believes: Whether settings and arguments are taken for what their types say that they are.
    """
    names = _builtin_names(kind)
    if names is not None:
        if believes and isinstance(value, Code) and value.holds in _HELD:
            return issubclass(_HELD[value.holds], tuple(names))
        if believes and isinstance(value, Array) and value.is_said:
            return False
        return _of_builtins(value, names)
    if isinstance(kind, Seq):
        found = [instance_of(value, one, believes=believes) for one in kind.items]
        return True if True in found else (None if None in found else False)
    wanted = _class_of(kind)
    if wanted is None:
        return None
    match value:
        case ModuleValue(site=site) if not site.alternatives:
            return _inherits(site.target, wanted)
        case FunctionRef():
            return False
        case Ref(name=name, code=""):
            # A function of jax or Linen, no object of a module.
            is_function = name.startswith(_FUNCTIONS) and find_layer(name) is None
            return False if is_function else None
    return None


_ABSTRACT: Final = ("collections.abc", "typing")
_BUILTINS: Final[dict[str, type]] = {
    **{f"builtins.{one.__name__}": one for one in (int, float, str, bool, complex)},
    **{f"builtins.{one.__name__}": one for one in (list, tuple, dict)},
    **{
        f"{module}.{one.__name__}": one
        for module in _ABSTRACT
        for one in (abc.Iterable, abc.Sequence)
    },
}


_HELD: Final[dict[str, type]] = {"number": int, "text": str}


def _builtin_names(kind: Value) -> set[type] | None:
    """Return the types of Python that a question names; None where it names others."""
    kinds = kind.items if isinstance(kind, Seq) else (kind,)
    found = {_BUILTINS.get(one.name) if isinstance(one, Ref) else None for one in kinds}
    return None if None in found else {one for one in found if one is not None}


def _of_builtins(value: Value, kinds: set[type]) -> bool | None:
    """Return whether a value is an object of one of some types of Python; None if not sure."""
    match value:
        case Const(value=literal):
            return isinstance(literal, tuple(kinds))
        case Seq() if {list, tuple} <= kinds or kinds & {abc.Iterable, abc.Sequence}:
            return True
        case Seq() if not {list, tuple} & kinds:
            return False
        case Array(origin="", shape=shape) if shape.dims:
            return False
        case Size(dim=dim) if isinstance(dim.atom, ArgumentSize):
            return int in kinds
    return None


_FUNCTIONS: Final = ("flax.linen.", "jax.numpy.", "jax.nn.", "jax.lax.")
_MODULE: Final = "flax.linen.Module"


def _class_of(kind: Value) -> str | LinenClass | None:
    """Return the class of modules that a question names; None where it names another one."""
    match kind:
        case ClassRef(cls=cls, code=code) if not code.startswith("self."):
            return cls
        case Ref(name=name, code=""):
            return name if name == _MODULE or find_layer(name) is not None else None
    return None


def _inherits(target: str | LinenClass, wanted: str | LinenClass) -> bool | None:
    if wanted == _MODULE:
        return True
    if isinstance(target, str):
        return target == wanted
    if isinstance(wanted, LinenClass):
        return wanted in target.ancestry()
    return None if any(one.foreign for one in target.ancestry()) else False


def truth_of(value: Value) -> bool | None:
    """Return whether a value is true; None where that is not sure."""
    match value:
        case Const(value=literal):
            return bool(literal)
        case Seq(items=items):
            return bool(items)
        case ModuleValue():
            return True
    return None


Told = dict[str, tuple[Array, Array]]


def take_told(
    test: cst.BaseExpression | None,
    *,
    outcome: bool,
    frame: Frame,
    body: Sequence[cst.CSTNode] = (),
) -> Told:
    """Note the rank of an array where a question about it has an outcome.

    Args:
        test: The question.
        outcome: Whether it is answered with yes.
        frame: Where it is asked.
        body: What is done where it has that outcome.

    Returns:
        By name the array before, and with its rank.
    """
    told: Told = {}
    for name, rank in _told(test, body, outcome=outcome):
        array = frame.names.get(name)
        if isinstance(array, Array) and array.shape.rank is None:
            shape = array.shape.with_rank(rank)
            if shape is not None:
                ranked = replace(array, shape=shape)
                frame.names[name] = ranked
                told[name] = (array, ranked)
    return told


def forget(told: Told, frame: Frame) -> None:
    """Leave the branch in which the ranks of arrays are known."""
    for name, (before, ranked) in told.items():
        if frame.names.get(name) is ranked:
            frame.names[name] = before


def _told(
    test: cst.BaseExpression | None, body: Sequence[cst.CSTNode], *, outcome: bool
) -> Iterator[tuple[str, int]]:
    """Yield the names of arrays and their ranks."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right) if outcome:
            yield from _told(left, body, outcome=True)
            yield from _told(right, body, outcome=True)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _told(inner, body, outcome=not outcome)
        case cst.Comparison(
            left=left,
            comparisons=[
                cst.ComparisonTarget(operator=operator, comparator=cst.Integer() as number)
            ],
        ):
            name = _asked(left)
            rank = _rank_of(operator, number.evaluated_value, outcome=outcome)
            if outcome and _gets_axis(name, body):
                # The axis that is missing is taken to be just one.
                rank = _missing_rank(operator, number.evaluated_value) or rank
            if rank is not None:
                yield name, rank


def _rank_of(operator: cst.BaseCompOp, number: int, *, outcome: bool) -> int | None:
    """Return the rank that an array has by a comparison of it; None where it tells none."""
    is_equal = isinstance(operator, cst.Equal)
    is_asked = is_equal or isinstance(operator, cst.NotEqual)
    return number if is_asked and is_equal is outcome else None


def _missing_rank(operator: cst.BaseCompOp, number: int) -> int | None:
    """Return the rank of an array that gets an axis where it has fewer than some number."""
    rank = {cst.LessThan: number - 1, cst.LessThanEqual: number}.get(type(operator))
    return rank or None


def _gets_axis(name: str, body: Sequence[cst.CSTNode]) -> bool:
    """Whether statements bind a name to an array with one more axis."""
    for statement in body:
        for node in descendants(statement):
            match node:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=bound))]):
                    if bound == name and any(_is_new_axis(one) for one in descendants(node.value)):
                        return True
    return False


def _is_new_axis(node: cst.CSTNode) -> bool:
    match node:
        case cst.Name(value="expand_dims" | "newaxis"):
            return True
        case cst.SubscriptElement(slice=cst.Index(value=cst.Name(value="None"))):
            return True
    return False


def _asked(node: cst.BaseExpression) -> str:
    """Return the name whose rank an expression is; empty where it is something else."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="ndim")):
            return name
        case cst.Call(
            func=cst.Name(value="len"),
            args=[
                cst.Arg(
                    value=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="shape"))
                )
            ],
        ):
            return name
        case cst.Call(
            func=cst.Attribute(attr=cst.Name(value="ndim")),
            args=[cst.Arg(value=cst.Name(value=name))],
        ):
            return name
    return ""


def is_submodule(value: Value) -> bool:
    """Whether a value is a submodule, or one of several."""
    if isinstance(value, Choice):
        return all(map(is_submodule, value.options))
    return isinstance(value, ModuleValue | FieldModule)


def stands_for_one(value: Value) -> bool:
    """Whether a value is what objects without a submodule have in its place."""
    return value == NONE or _is_function(value)


def _is_function(value: Value) -> bool:
    if isinstance(value, Ref):
        return find_layer(value.name) is None
    return isinstance(value, FunctionRef)


def module_or_function(one: Value, other: Value) -> Choice | None:
    """Return what stands for either of a submodule and a function; None for other values."""
    for first, second in ((one, other), (other, one)):
        if is_submodule(first) and isinstance(second, FunctionRef):
            options = first.options if isinstance(first, Choice) else (first,)
            return Choice((*options, second))
    return None


def takes_place(
    before: Value,
    first: Iterable[Condition],
    after: Value,
    then: Iterable[Condition],
) -> bool:
    """Whether an attribute that held a submodule is assigned a function, or the other way round.

    Args:
        before: What it held.
        first: The branches around that assignment.
        after: What it is assigned.
        then: The branches around this assignment.
    """
    pairs = ((before, after), (after, before))
    if not any(is_submodule(one) and _is_function(other) for one, other in pairs):
        return False
    sides = {one.number: one.side for one in first}
    return all(sides.get(one.number, one.side) is one.side for one in then)


def there_if(value: Value, one: Value, other: Value, code: str) -> Value:
    """Return what may be there, a submodule or array, with the condition that decides; else the value."""
    if isinstance(value, Choice):
        if is_submodule(one) and stands_for_one(other):
            return replace(value, condition=code)
        if is_submodule(other) and stands_for_one(one):
            return replace(value, condition=negated(code))
        return value
    if NONE not in (one, other):
        return value
    condition = code if other == NONE else negated(code)
    before = one if other == NONE else other
    if isinstance(before, Array) and isinstance(value, Array):
        is_given = before.is_optional and bool(before.origin)
        if before.condition == OPEN or (
            before.is_optional and not before.condition + before.origin
        ):
            return value
        if before.condition:
            condition = f"({condition} and {before.condition})"
        return replace(value, condition=condition, origin=before.origin if is_given else "")
    return value


def negated(code: str) -> str:
    """Return the code of the condition that holds where another one does not."""
    match cst.parse_expression(code):
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return code_of(inner)
    return f"(not {code})"


def assigned_if(value: Value, before: Value, after: Value, recorder: Recorder) -> Value:
    """Return what an attribute stands for that a branch assigns again: the last one counts."""
    conditions = recorder.conditions
    codes = [recorder.branch_codes.get(one.number, "") for one in conditions]
    if not all(codes) or not codes:
        return value
    parts = [
        code if one.side else negated(code) for one, code in zip(conditions, codes, strict=True)
    ]
    whole = parts[0] if len(parts) == 1 else f"({' and '.join(f'({part})' for part in parts)})"
    if isinstance(before, Choice) and before.condition and is_submodule(after):
        return Choice((after, before), condition=whole)
    return there_if(value, after, before, whole)


def asked_in(node: cst.Call, callee: FunctionRef) -> cst.BaseExpression | None:
    """Return `x is None` or `x is not None` for a call of a function that asks it; None for others."""
    match callee.node, node.args:
        case (
            cst.FunctionDef(params=cst.Parameters(params=[parameter]), body=body),
            [cst.Arg(value=cst.Name() as given, keyword=None, star="")],
        ):
            lines = [one for one in body.body if not is_docstring(one)]
        case _:
            return None
    match lines:
        case [
            cst.SimpleStatementLine(
                body=[
                    cst.Return(
                        value=cst.Comparison(
                            left=cst.Name(value=name),
                            comparisons=[
                                cst.ComparisonTarget(
                                    operator=cst.Is() | cst.IsNot(),
                                    comparator=cst.Name(value="None"),
                                )
                            ],
                        ) as asked
                    )
                ]
            )
        ] if name == parameter.name.value:
            return asked.with_changes(left=given)
    return None


def asked_for_none(node: cst.Comparison, frame: Frame) -> cst.BaseExpression | None:
    """Return `x is None` as the constructor says it; None for another comparison.

    The size of an argument tells the constructor whether it is given; else the condition of the
    branch does that decides.
    """
    match node:
        case cst.Comparison(
            left=(cst.Name() | cst.Attribute()) as left,
            comparisons=[
                cst.ComparisonTarget(
                    operator=(cst.Is() | cst.IsNot()) as operator,
                    comparator=cst.Name(value="None"),
                )
            ],
        ):
            code = _there(frame.seen(left), left, frame)
            if not code:
                return None
            return cst.parse_expression(code if isinstance(operator, cst.IsNot) else negated(code))
    return None


def _there(value: Value | None, node: cst.BaseExpression, frame: Frame) -> str:
    """Return the condition on which a value is not None; empty where the constructor has none."""
    match value:
        case Array(condition=condition) if condition == OPEN:
            return ""
        case Array(is_optional=True, origin=str(origin), condition=condition) if origin:
            if not isinstance(node, cst.Name):
                return ""
            presence = frame.recorder.slots.name(as_dim(ArgumentPresence(origin)))
            given = f"{presence} is not None"
            return f"({condition} and {given})" if condition else f"({given})"
        case Array(condition=condition):
            return condition
        case Choice(options=options, condition=condition) if not frame.records:
            return condition if NONE in options else ""
    return ""


_NAME: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
# What is the same in every iteration of a loop.
_EVERYWHERE: Final = frozenset({"self", "len", "isinstance", "int", "bool", *keyword.kwlist})


def condition_of(code: str, recorder: Recorder) -> Piece | None:
    """Return a condition that the constructor decides, for sizes; None where it asks arguments."""
    text = recorder.slots.text_of_pieces(code)
    if text is None:
        return None
    is_everywhere = not recorder.loops or is_of_fields(text)
    return Piece(text, () if is_everywhere else (recorder.loops[-1],))


def is_of_fields(code: str) -> bool:
    """Whether an expression has nothing in it but fields: it is the same everywhere."""
    return _EVERYWHERE.issuperset(_NAME.findall(code))
