"""Calls that are written anew: a transformed function called with the module first."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.linen.names.free_names import free_name
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.writing.replacing import code_with

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
