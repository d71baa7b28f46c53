"""Modules that older transform classes made, and what a file does with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted
from typed_nnx_codegen.migrate.analysis.values import External, Instance, ProjectClass, Value
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.axes import NONE, ZERO, CannotTell
from typed_nnx_codegen.migrate.patterns.held_state import holds_other_state
from typed_nnx_codegen.migrate.patterns.transform_calls import is_repeatable, keyword_of

CONSTRUCTOR: Final = ".constructor"
_KNOWN: Final = frozenset(
    {"length", "axis_size", "variable_axes", "state_axes", "split_rngs", "variable_broadcast"}
    | {"variable_carry", "in_axes", "in_args_axes", "out_axes", "scan_output"}
)


@dataclass(frozen=True)
class Stacked:
    """A Module that is made as a stack: ``self.layers = nnx.Scan(Block, length=n)(rngs=rngs)``.

    Attributes:
        transform: ``nnx.vmap`` or ``nnx.scan``.
        block: The class.
        count: How many are made.
        rngs: The position of the argument with the random keys.
        attribute: The attribute that it becomes.
        in_axes: The axes of what it is called with, after itself, where the class was told.
        out_axes: The axes of what it gives.
        gives_output: Whether a scan gives the carry and an output, and not the carry alone.
    """

    transform: str
    block: cst.BaseExpression
    count: cst.BaseExpression
    rngs: int
    attribute: str
    in_axes: tuple[cst.BaseExpression, ...] | cst.BaseExpression
    out_axes: cst.BaseExpression | None
    gives_output: bool


def stacked(file: File, made: cst.Call, attribute: str) -> Stacked:
    """Return what is known of a stack of Modules.

    Args:
        file: The file.
        made: The call that makes it, of the class that a transform gave.
        attribute: The attribute that it becomes.

    Raises:
        CannotTell: It is made in a way that has no sure translation.
    """
    given = made.func
    assert isinstance(given, cst.Call)
    name = file.name(given.func).removesuffix(CONSTRUCTOR)
    transform = {"nnx.Vmap": "nnx.vmap", "nnx.Scan": "nnx.scan"}[name]
    block = _block(file, given)
    for arg in given.args[1:]:
        if arg.star or arg.keyword is None or arg.keyword.value not in _KNOWN:
            raise CannotTell("some of its options have no translation")
    sized = keyword_of(given, "length") or keyword_of(given, "axis_size")
    if sized is None:
        raise CannotTell("it does not say how many it makes")
    if not _splits_all(given):
        raise CannotTell("not all random keys are split")
    _check_axes(file, given, block)
    out_axes = keyword_of(given, "out_axes")
    in_axes = _in_axes(given)
    if transform == "nnx.scan" and (in_axes is not ZERO or out_axes is not None):
        raise CannotTell("its axes have no translation")
    return Stacked(
        transform,
        block,
        sized.value,
        _rngs(file, made),
        attribute,
        in_axes,
        out_axes.value if out_axes is not None else None,
        _gives_output(given),
    )


def _splits_all(given: cst.Call) -> bool:
    arg = keyword_of(given, "split_rngs")
    return arg is None or isinstance(arg.value, cst.Ellipsis) or dotted(arg.value) == "True"


def _gives_output(given: cst.Call) -> bool:
    arg = keyword_of(given, "scan_output")
    if arg is None:
        return True
    if isinstance(arg.value, cst.Name) and arg.value.value in {"True", "False"}:
        return arg.value.value == "True"
    raise CannotTell("whether it gives an output is computed")


def _block(file: File, given: cst.Call) -> cst.BaseExpression:
    if not given.args or given.args[0].keyword is not None or given.args[0].star:
        raise CannotTell("it does not name a class")
    node = given.args[0].value
    value = file.value(node)
    if not dotted(node) or not isinstance(value, (ProjectClass, External)):
        raise CannotTell("it does not name a class")
    return node


def _check_axes(file: File, given: cst.Call, block: cst.BaseExpression) -> None:
    """Raise `CannotTell` unless all state surely has the first axis."""
    for name in ("variable_broadcast", "variable_carry"):
        arg = keyword_of(given, name)
        if arg is not None and not (isinstance(arg.value, cst.Name) and arg.value.value == "None"):
            raise CannotTell("its axes have no translation")
    axes = keyword_of(given, "state_axes") or keyword_of(given, "variable_axes")
    if axes is None:
        return
    if not isinstance(axes.value, cst.Dict):
        raise CannotTell("its axes are computed")
    filters: list[cst.BaseExpression] = []
    for element in axes.value.elements:
        if not isinstance(element, cst.DictElement) or not element.value.deep_equals(ZERO):
            raise CannotTell("its axes have no translation")
        filters.append(element.key)
    if any(isinstance(one, cst.Ellipsis) for one in filters):
        return
    if not any(file.name(one) == "nnx.Param" for one in filters):
        raise CannotTell("its axes have no translation")
    if holds_other_state(_object(file.value(block))) is not False:
        raise CannotTell("the class may have other state than Params, and that had no axis")


def _object(cls: Value) -> Value:
    if isinstance(cls, ProjectClass):
        return Instance(cls)
    return Instance(cls.public) if isinstance(cls, External) else cls


def _in_axes(given: cst.Call) -> tuple[cst.BaseExpression, ...] | cst.BaseExpression:
    """Return the axes of the arguments: `in_axes` has one of the Module too, `in_args_axes` not."""
    arg = keyword_of(given, "in_axes")
    older = keyword_of(given, "in_args_axes")
    if arg is None and older is None:
        return ZERO
    value = arg.value if arg is not None else older.value if older is not None else ZERO
    if isinstance(value, cst.Integer) or value.deep_equals(NONE):
        return value
    if isinstance(value, (cst.Tuple, cst.List)):
        axes = tuple(element.value for element in value.elements)
        return axes[1:] if arg is not None else axes
    raise CannotTell("its axes are computed")


def _rngs(file: File, made: cst.Call) -> int:
    """Return the position of the one argument that is an Rngs."""
    found: list[int] = []
    for index, arg in enumerate(made.args):
        if arg.star:
            raise CannotTell("its arguments are unpacked")
        if derives(file.value(arg.value), "Rngs") is True:
            found.append(index)
        elif any(
            derives(file.value(node), "Rngs", "Module") is not False
            for node in descendants(arg.value)
            if isinstance(node, (cst.Name, cst.Attribute, cst.Call)) and not is_repeatable(node)
        ):
            raise CannotTell("its arguments are computed")
    if len(found) != 1:
        raise CannotTell("it cannot be seen which of its arguments are the Rngs")
    return found[0]


def calls_of(file: File, attribute: str, owner: cst.ClassDef) -> list[cst.Call]:
    """Return the calls of an attribute of self.

    Raises:
        CannotTell: The attribute is used in another way too, or with arguments by keyword.
    """
    inside = set(descendants(owner))
    calls = {node.func: node for node in inside if isinstance(node, cst.Call) and _simple(node)}
    uses = [
        node
        for node in descendants(file.analysis.tree)
        if isinstance(node, cst.Attribute) and node.attr.value == attribute
    ]
    targets = set(_targets(owner))
    found: list[cst.Call] = []
    for node in uses:
        if node in targets:
            continue
        if node not in calls or dotted(node) != f"self.{attribute}":
            raise CannotTell(f"`{attribute}` is not only called, with arguments by position")
        found.append(calls[node])
    if len(targets.intersection(uses)) != 1:
        raise CannotTell(f"`{attribute}` is set more than once")
    return found


def _simple(call: cst.Call) -> bool:
    return bool(call.args) and all(arg.keyword is None and not arg.star for arg in call.args)


def _targets(owner: cst.ClassDef) -> Iterator[cst.BaseExpression]:
    for node in descendants(owner):
        if isinstance(node, cst.AssignTarget):
            yield node.target


def gives_carry_and_output(file: File, block: cst.BaseExpression) -> bool | None:
    """Whether calls of a class give a pair; None where that cannot be seen."""
    value = file.value(block)
    function = value.methods.get("__call__") if isinstance(value, ProjectClass) else None
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return None
    returned = [
        node.value for node in descendants(function.node.body) if isinstance(node, cst.Return)
    ]
    if not returned:
        return None
    pairs = {isinstance(one, cst.Tuple) and len(one.elements) == 2 for one in returned}
    return pairs.pop() if len(pairs) == 1 else None
