"""The arguments that the migration added to constructors, as a caller computes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Lifted
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import code_with

# Functions that make arrays, and where their shape is among the arguments.
_CREATIONS: Final = {
    **{
        f"{module}.{name}": 0
        for module in ("jax.numpy", "numpy")
        for name in ("ones", "zeros", "empty", "full")
    },
    **{f"jax.random.{name}": 1 for name in ("normal", "uniform")},
    "jax.ShapeDtypeStruct": 0,
    "jax.random.randint": 1,
}
# Those that need nothing but a shape.
_BY_SHAPE: Final = frozenset(
    f"{module}.{name}" for module in ("jax.numpy", "numpy") for name in ("ones", "zeros", "empty")
)
_PURE: Final = ("jax.", "numpy.")
_SIMPLE: Final = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Tuple, cst.List)


@dataclass(frozen=True)
class Sizes:
    """The arguments that the migration added to a constructor.

    Attributes:
        items: Their names and expressions.
        used: The arguments of the call that the expressions contain, those twice that occur twice.
        missing: Why some of them are not known.
    """

    items: tuple[tuple[str, str], ...]
    used: tuple[cst.BaseExpression, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """They as keywords of a call."""
        return ", ".join(f"{name}={code}" for name, code in self.items)


class NoSizes(Exception):
    """Why it is not known how to compute the arguments."""


def parameters_for(cls: LinenClass, method: str) -> list[cst.Param]:
    """Return the parameters of a method without the object.

    Raises:
        NoSizes: The module has no such method.
    """
    found = cls.method(method)
    if found is None:
        raise NoSizes(f"`{cls.name}` has no method `{method}` of its own")
    return list(found.parameters())


def sizes_for(
    plan: ClassPlan,
    method: str,
    args: Sequence[cst.Arg],
    analysis: Analysis,
    render: Callable[[cst.CSTNode], str],
) -> Sizes:
    """Return the arguments that a constructor gets, from those of a call of one of its methods.

    Args:
        plan: The plan of the module.
        method: The method that is called.
        args: Its arguments.
        analysis: The file.
        render: Gives the new code of an expression.

    Raises:
        NoSizes: The module has no such method.
    """
    if not plan.lifted:
        return Sizes(())
    given = _bound(plan.cls, method, args)
    items: list[tuple[str, str]] = []
    used: list[cst.BaseExpression] = []
    missing: list[str] = []
    for one in plan.lifted:
        try:
            items.append((one.name, _size(one, plan, method, given, analysis, render, used)))
        except NoSizes as reason:
            missing.append(str(reason))
    return Sizes(tuple(items), tuple(used), tuple(missing))


def check_sizes(plan: ClassPlan, method: str, *, by_calls: bool) -> None:
    """See that the arguments of a call have all sizes that a constructor needs.

    `with_input_sizes` of `typed_nnx.migrated` takes them at run time, by the names of parameters.

    Args:
        plan: The plan of the module.
        method: The method that is called.
        by_calls: Whether it finds out others by calling the model.

    Raises:
        NoSizes: They have not.
    """
    names = [one.name.value for one in parameters_for(plan.cls, method)] if plan.lifted else []
    for one in plan.lifted:
        if one.default or not one.argument:
            continue  # a marker stands where it is constructed
        if by_calls and one.is_found_by_calls:
            continue
        first = _first(one.argument)
        named = one.name.removesuffix("_features").removesuffix("_shape")
        spelled = re.sub(r"_+", "_", re.sub(r"\W+", "_", one.argument)).strip("_")
        is_of_first = named == "in" and (one.method == method or names[:1] == [one.argument])
        if first not in names or not (is_of_first or spelled == named):
            raise NoSizes(f"`{one.name}` of `{plan.cls.name}` depends on what `{one.method}` gets")


def _first(expression: str) -> str:
    return re.split(r"\W", expression.lstrip("("), maxsplit=1)[0]


def _bound(
    cls: LinenClass, method: str, args: Sequence[cst.Arg]
) -> dict[str, cst.BaseExpression | None]:
    """Return the arguments of a method by name; None where it is the default of the parameter."""
    found = cls.method(method)
    if found is None:
        raise NoSizes(f"`{cls.name}` has no method `{method}` of its own")
    params = found.node.params
    positional = [*params.posonly_params, *params.params][1 if found.is_bound else 0 :]
    given: dict[str, cst.BaseExpression | None] = {
        one.name.value: one.default for one in parameters_for(cls, method) if one.default
    }
    position = 0
    for arg in args:
        if arg.star == "*":
            position = len(positional)
        elif arg.star:
            continue
        elif arg.keyword is not None:
            given[arg.keyword.value] = arg.value
        elif position < len(positional):
            given[positional[position].name.value] = arg.value
            position += 1
    return given


def _size(
    one: Lifted,
    plan: ClassPlan,
    method: str,
    given: dict[str, cst.BaseExpression | None],
    analysis: Analysis,
    render: Callable[[cst.CSTNode], str],
    used: list[cst.BaseExpression],
) -> str:
    if not one.argument:
        raise NoSizes(f"nothing tells `{one.name}` of `{plan.cls.name}`")
    if one.method != method:
        raise NoSizes(f"`{one.name}` of `{plan.cls.name}` depends on what `{one.method}` gets")
    first = _first(one.argument)
    node = given.get(first)
    if node is None:
        raise NoSizes(f"`{one.name}` of `{plan.cls.name}` depends on `{first}`, which is not given")
    used.append(node)
    if one.argument == first and not one.is_of_items and not one.is_number:
        literal = shape_of(node, one.axis, analysis, render)
        if literal:
            return literal
    array = _of_same_shape(node, analysis, render)
    if not isinstance(node, _SIMPLE) and not getattr(node, "lpar", ()):
        array = f"({array})"
    parsed = cst.parse_expression(one.expression)
    names: dict[cst.CSTNode, str] = {
        below: array for below in names_in(parsed) if below.value == first
    }
    return code_with(parsed, names)


def _of_same_shape(
    node: cst.BaseExpression, analysis: Analysis, render: Callable[[cst.CSTNode], str]
) -> str:
    """Return an array of the same shape: what else it is made of may come from the module."""
    match node:
        case cst.Call(func=func, args=[_, _, *_]):
            value = analysis.values.get(func, UNKNOWN)
            shape = _argument(node, 0, "shape")
            if isinstance(value, External) and value.name in _BY_SHAPE and shape is not None:
                return f"{render(func)}({render(shape)})"
    return render(node)


def names_in(node: cst.CSTNode) -> list[cst.Name]:
    """Return the names in an expression that are no attributes of something."""
    found: list[cst.Name] = []
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, cst.Name):
            found.append(current)
        elif isinstance(current, (cst.Attribute, cst.Arg)):
            waiting.append(current.value)
        else:
            waiting += current.children
    return found


def shape_of(
    node: cst.BaseExpression,
    axis: int | None,
    analysis: Analysis,
    render: Callable[[cst.CSTNode], str],
) -> str:
    """Return the shape of an array, or one dimension of it, where its creation spells it."""
    number = node.expression if isinstance(node, cst.UnaryOperation) else node
    if axis is None and isinstance(number, cst.BaseNumber):
        return "()"  # a number of Python has no `shape`
    if not isinstance(node, cst.Call):
        return ""
    value = analysis.values.get(node.func, UNKNOWN)
    position = _CREATIONS.get(value.name) if isinstance(value, External) else None
    if position is None:
        return ""
    shape = _argument(node, position, "shape")
    if not isinstance(shape, (cst.Tuple, cst.List)):
        return ""
    if not all(isinstance(one, cst.Element) for one in shape.elements):
        return ""
    items = [render(one.value) for one in shape.elements]
    if axis is None:
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return items[axis] if -len(items) <= axis < len(items) else ""


def _argument(call: cst.Call, position: int, keyword: str) -> cst.BaseExpression | None:
    for number, arg in enumerate(call.args):
        if arg.star:
            return None
        if arg.keyword is None and number == position:
            return arg.value
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg.value
    return None


def is_pure(node: cst.CSTNode, analysis: Analysis) -> bool:
    """Whether an expression may be evaluated twice, or never."""
    for below in descendants(node):
        if isinstance(below, (cst.Await, cst.Yield, cst.NamedExpr)):
            return False
        if isinstance(below, cst.Call):
            value = analysis.values.get(below.func, UNKNOWN)
            is_known = isinstance(value, External) and value.name.startswith(_PURE)
            is_shape = isinstance(below.func, cst.Attribute) and below.func.attr.value in (
                *("reshape", "astype", "shape", "transpose"),
            )
            if not (is_known or is_shape):
                return False
    return True


def call_parts(call: cst.Call, skip: int) -> tuple[str, list[cst.Arg]]:
    """Return the method that `init` or `apply` calls, and the arguments that it passes on.

    Args:
        call: The call.
        skip: How many of the first arguments it keeps for itself.

    Raises:
        NoSizes: It is not known which method that is.
    """
    method = "__call__"
    args: list[cst.Arg] = []
    for number, arg in enumerate(call.args):
        keyword = arg.keyword.value if arg.keyword is not None else ""
        if keyword == "method":
            method = method_name(arg.value)
        elif keyword in ("rngs", "variables", "mutable", "capture_intermediates"):
            continue
        elif keyword or arg.star or number >= skip:
            args.append(arg)
    return method, args


def method_of(call: cst.Call) -> str:
    """Return the method that `init` or `apply` calls; `__call__` where only the run tells it."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == "method":
            try:
                return method_name(arg.value)
            except NoSizes:
                return "__call__"
    return "__call__"


def method_name(node: cst.BaseExpression) -> str:
    """Return the method that an expression names.

    Raises:
        NoSizes: It is computed.
    """
    match node:
        case cst.SimpleString():
            return str(node.evaluated_value)
        case cst.Attribute(attr=cst.Name(value=name)):
            return name
        case cst.Name(value="None"):
            return "__call__"
    raise NoSizes(f"which method `{code_of(node)}` is is not known")
