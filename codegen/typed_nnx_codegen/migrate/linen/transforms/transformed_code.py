"""Functions under transforms of NNX as code: called with the module first."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.names import free_name
from typed_nnx_codegen.migrate.linen.domain.values import NONE, Const, Value
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed
from typed_nnx_codegen.migrate.linen.transforms.lifts import (
    Lift,
    Refer,
    Spelled,
    Unsupported,
    axes_of,
    axis_code,
    size_setting,
    state_axes,
    static_code,
)

_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b")


@dataclass(frozen=True)
class FunctionCode:
    """A function to transform, and what it is called with.

    Attributes:
        code: The function.
        arguments: What it is called with after the module, as it is written.
        kept: The positions of these among all arguments.
    """

    code: str
    arguments: tuple[cst.BaseExpression, ...]
    kept: tuple[int, ...]


def is_simple(node: cst.BaseExpression) -> bool:
    """Whether an expression may as well be computed within a transform: nothing is called."""
    found: list[cst.CSTNode] = [node]
    while found:
        one = found.pop()
        if isinstance(one, (cst.Call, cst.Lambda, cst.Await, cst.NamedExpr)):
            return False
        found += one.children
    return True


def lambda_of(
    method: str,
    passed: Sequence[Passed],
    closed: frozenset[int],
    names: Sequence[str],
    replacements: Mapping[cst.CSTNode, str],
) -> FunctionCode:
    """Return a function that calls a method of the module that it is given.

    Args:
        method: The method.
        passed: The arguments of the call.
        closed: The positions of arguments that are written into the function.
        names: Names for the parameters, by position.
        replacements: Code for nodes that are written differently.
    """
    codes = {k: code_with(passed[k].node, replacements) for k in closed}
    taken = {"module", *(name for code in codes.values() for name in _IDENTIFIER.findall(code))}
    parameters: list[str] = []
    arguments: list[str] = []
    for position, one in enumerate(passed):
        prefix = f"{one.keyword}=" if one.keyword else one.star
        if position in closed:
            arguments.append(prefix + codes[position])
            continue
        wanted = one.keyword or _name(names, position, one)
        name = free_name("value" if keyword.iskeyword(wanted) else wanted, taken)
        parameters.append(name)
        arguments.append(prefix + name)
    target = "module" if method == "__call__" else f"module.{method}"
    code = f"lambda {', '.join(['module', *parameters])}: {target}({', '.join(arguments)})"
    kept = tuple(k for k in range(len(passed)) if k not in closed)
    return FunctionCode(code, tuple(passed[k].node for k in kept), kept)


def _name(names: Sequence[str], position: int, one: Passed) -> str:
    if one.star:
        return "args"
    if position < len(names):
        return names[position]
    return one.node.value if isinstance(one.node, cst.Name) else f"arg_{position}"


@dataclass(frozen=True)
class ModuleFirst:
    """Writes a call of a module as a call of a transformed function.

    Attributes:
        function: The transformed function.
        arguments: The arguments after the module: nodes of the call, or others.
        is_attribute: Whether the call names the method: ``module.encode(x)``.
    """

    function: str
    arguments: tuple[cst.BaseExpression, ...]
    is_attribute: bool

    def __call__(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the new call."""
        after = {
            id(one.value): other.value
            for one, other in zip(original.args, updated.args, strict=True)
        }
        receiver = updated.func
        if self.is_attribute and isinstance(receiver, cst.Attribute):
            receiver = receiver.value
        values = [receiver, *(after.get(id(one), one) for one in self.arguments)]
        last = len(values) - 1
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args = [
            cst.Arg(value) if k == last else cst.Arg(value, comma=comma)
            for k, value in enumerate(values)
        ]
        return updated.with_changes(func=cst.parse_expression(self.function), args=args)


@dataclass(frozen=True)
class AroundFirst:
    """Writes a transform of a function: the function stays, the rest is new.

    Attributes:
        template: The new call, with ``__function__`` where the function is.
    """

    template: str

    def __call__(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the new call."""
        del original
        after = cst.parse_expression(self.template).visit(
            _Put({"__function__": updated.args[0].value})
        )
        assert isinstance(after, cst.BaseExpression)
        return after


@dataclass(frozen=True)
class Filled:
    """Writes a call as a template with its arguments.

    Attributes:
        template: The code, with ``__0__`` for the first argument and so on.
        arguments: The arguments, nodes of the call.
    """

    template: str
    arguments: tuple[cst.BaseExpression, ...]

    def __call__(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the new call."""
        after = {
            id(one.value): other.value
            for one, other in zip(original.args, updated.args, strict=True)
        }
        values = {
            f"__{k}__": _operand(after.get(id(one), one)) for k, one in enumerate(self.arguments)
        }
        found = cst.parse_expression(self.template).visit(_Put(values))
        assert isinstance(found, cst.BaseExpression)
        return found


def _operand(node: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(node, cst.Lambda) and not node.lpar:
        return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node


class _Put(cst.CSTTransformer):
    """Puts expressions where their placeholders are.

    Args:
        values: The expressions, by placeholder.
    """

    def __init__(self, values: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._values = values

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Put an expression."""
        return self._values.get(original_node.value, updated_node)


@dataclass(frozen=True)
class Mapped:
    """What is known of a function that is transformed, beside its code.

    Attributes:
        collections: The collections of the module that it is called with.
        draws: Whether it draws random keys.
        kept: The positions of the arguments that it is called with, counted without the module;
            the others are written into it.
        count: How many arguments it had.
    """

    collections: frozenset[str]
    draws: bool
    kept: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class Wrapping:
    """Writes transforms.

    Attributes:
        mapped: What is known of the function.
        spelled: Writes settings.
        refer: Spells public names of NNX.
        positional: How many arguments are given by position; the others are the same for all.
    """

    mapped: Mapped
    spelled: Spelled
    refer: Refer
    positional: int

    def wrapped(self, function: str, lifts: Sequence[Lift]) -> str:
        """Return a function under transforms, outermost first."""
        for lift in reversed(lifts):
            name, settings = self.transform(lift)
            plain = f"({function})" if function.startswith("lambda") else function
            function = name.format(", ".join([function, *settings]))
            if lift.condition:
                function = f"({function} if {lift.condition} else {plain})"
        return function

    def transform(self, lift: Lift) -> tuple[str, list[str]]:
        """Return a transform of NNX, with a place for its arguments, and its settings.

        Raises:
            Unsupported: NNX cannot do the same.
        """
        match lift.kind:
            case "remat" | "jit":
                return f"{self.refer(f'nnx.{lift.kind}')}({{}})", self._same(lift)
            case "vmap":
                return self._vmap(lift)
            case "scan":
                return f"{self.refer('nnx.scan')}({{}})", self._scan(lift)
        raise Unsupported(f"`nn.{lift.kind}` is not migrated here")

    def _same(self, lift: Lift) -> list[str]:
        closed = [k + 1 for k in range(self.mapped.count) if k not in self.mapped.kept]
        found: list[str] = []
        for name in lift.kept:
            if name == "static_argnums":
                found.append(f"{name}={static_code(lift, closed, self.spelled)}")
            else:
                found.append(f"{name}={self.spelled(lift.given[name])}")
        return found

    def _metadata(self, lift: Lift) -> list[str]:
        bound = lift.given.get("metadata_params")
        return [] if bound is None else [f"transform_metadata={self.spelled(bound)}"]

    def _is_stacked(self, lift: Lift) -> bool:
        return lift.stacks(self.mapped.collections)

    def _axes(self, lift: Lift, count: int) -> list[Value]:
        return [*axes_of(lift, count), *(NONE for _ in range(self.mapped.count - self.positional))]

    # -- vmap ---------------------------------------------------------------------------------

    def _vmap(self, lift: Lift) -> tuple[str, list[str]]:
        axes = self._axes(lift, self.positional)
        is_stacked = self._is_stacked(lift)
        shares_keys = not is_stacked and self.mapped.draws and lift.splits_any
        state = state_axes(
            lift, self.mapped.collections, self.refer, random=0 if shares_keys else ""
        )
        codes = [axis_code(axes[k], lift, "in_axes", self.spelled) for k in self.mapped.kept]
        settings = [f"in_axes={_tuple([state, *codes])}"]
        out = axis_code(lift.value("out_axes", Const(0)), lift, "out_axes", self.spelled)
        if out != "0":
            settings.append(f"out_axes={out}")
        size = size_setting(lift)
        if size is not None and not is_stacked:
            settings.append(f"axis_size={self.spelled(size)}")
        settings += [*self._same(lift), *self._metadata(lift)]
        name = f"{self.refer('nnx.vmap')}({{}})"
        if shares_keys:
            if size is None:
                raise Unsupported("members draw keys of their own; give `axis_size`")
            name = f"{self.refer('nnx.split_rngs')}(splits={self.spelled(size)})({name})"
        return name, settings

    # -- scan ---------------------------------------------------------------------------------

    def _scan(self, lift: Lift) -> list[str]:
        if not self.mapped.kept or self.mapped.kept[0] != 0:
            raise Unsupported("`nn.scan` is called without a carry")
        axes = self._axes(lift, self.positional - 1)
        is_stacked = self._is_stacked(lift)
        carries_keys = not is_stacked and self.mapped.draws
        if carries_keys and not lift.splits_any:
            raise Unsupported("each step draws the same random numbers")
        state = state_axes(
            lift, self.mapped.collections, self.refer, random="carry" if carries_keys else ""
        )
        codes = [
            axis_code(axes[k - 1], lift, "in_axes", self.spelled) for k in self.mapped.kept[1:]
        ]
        out = axis_code(lift.value("out_axes", Const(0)), lift, "out_axes", self.spelled)
        carry = self.refer("nnx.Carry")
        settings = [f"in_axes={_tuple([state, carry, *codes])}", f"out_axes=({carry}, {out})"]
        size = size_setting(lift)
        if size is not None:
            settings.append(f"length={self.spelled(size)}")
        return [*settings, *self._same(lift), *self._metadata(lift)]


def _tuple(codes: Sequence[str]) -> str:
    inner = ", ".join(codes)
    return f"({inner},)" if len(codes) == 1 else f"({inner})"
