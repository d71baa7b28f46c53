"""What rules can ask of the file that they rewrite, and what they tell it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis import nnx_classes
from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.members import ancestry, derives
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    Instance,
    Method,
    ProjectClass,
    Scope,
    Value,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.names import Names
from typed_nnx_codegen.migrate.options import Options


@dataclass(frozen=True)
class MethodCall:
    """A call of a method that NNX defines.

    Attributes:
        cls: The NNX class that defines it, without the package: ``Module``, ``State``.
        name: The method.
        receiver: The expression of the object or class.
        value: What the receiver stands for.
        on_class: Whether the receiver is a class.
    """

    cls: str
    name: str
    receiver: cst.BaseExpression
    value: Value
    on_class: bool


class File:
    """A file that is being migrated.

    Args:
        analysis: What its names and expressions stand for.
        options: What the migration is asked to do.

    Attributes:
        names: Finds and adds the names that rewritten code uses.
        scope: The scope of the node that is being rewritten.
        marks: What rules leave to a person at the statement that is being rewritten.
    """

    def __init__(self, analysis: Analysis, options: Options) -> None:
        self.analysis = analysis
        self.options = options
        self.scope: Scope = analysis.scope
        self._names_of: dict[cst.CSTNode, str] = {}
        self.names = Names(analysis, options)
        self.decisions: list[tuple[cst.CSTNode, str]] = []

    # -- what is there ------------------------------------------------------------------------

    @property
    def target(self) -> str:
        """The runtime that the code is to run on: ``typed_nnx`` or ``flax.nnx``."""
        return self.options.target

    def value(self, node: cst.CSTNode) -> Value:
        """Return what an expression of the file stands for."""
        return self.analysis.values.get(node, UNKNOWN)

    def name(self, node: cst.CSTNode) -> str:
        """Return the public name of what an expression refers to: ``nnx.Linear``, ``jax.tree.map``.

        Empty where it refers to something of the project, or where that is not sure.
        """
        found = self._names_of.get(node)
        if found is None:
            names = {
                option.public if isinstance(option, External) else ""
                for option in options_of(without_none(self.value(node)))
            }
            found = self._names_of[node] = names.pop() if len(names) == 1 else ""
        return found

    def is_a(self, node: cst.CSTNode, *names: str) -> bool | None:
        """Whether an expression is an object of an NNX class (``Module``); None if not sure."""
        return derives(without_none(self.value(node)), *names)

    def is_unknown(self, node: cst.CSTNode) -> bool:
        """Whether nothing is known of an expression."""
        value = self.value(node)
        return value == UNKNOWN or not isinstance(value, Value)

    def method(self, call: cst.Call) -> MethodCall | None:
        """Return the method of NNX that a call calls; None where it is none, or not sure."""
        if not isinstance(call.func, cst.Attribute):
            return None
        found: MethodCall | None = None
        for option in options_of(without_none(self.value(call.func))):
            one = self._method(call.func, option)
            if one is None or (
                found is not None and (one.cls, one.name) != (found.cls, found.name)
            ):
                return None
            found = one
        return found

    def _method(self, function: cst.Attribute, value: Value) -> MethodCall | None:
        name = function.attr.value
        receiver = self.value(function.value)
        if isinstance(value, External):
            owner = self.name(function.value).removeprefix("nnx.")
            if owner == value.public or nnx_classes.method_result(owner, name) is None:
                return None
            return MethodCall(_defining(owner, name), name, function.value, receiver, on_class=True)
        if not isinstance(value, Method) or value.function is not None:
            return None
        match value.receiver:
            case Instance(cls=cls) | (ProjectClass() as cls):
                for base in ancestry(cls)[0]:
                    if isinstance(base, str) and nnx_classes.method_result(base, name) is not None:
                        on_class = isinstance(value.receiver, ProjectClass)
                        return MethodCall(
                            _defining(base, name), name, function.value, receiver, on_class
                        )
        return None

    # -- what is written ----------------------------------------------------------------------

    def refer(self, public: str) -> cst.BaseExpression:
        """Return an expression for a public name; imports it where the file does not have it yet.

        Args:
            public: The name: ``nnx.split``, ``jax.tree.map``, ``functools.partial``.
        """
        return self.names.refer(public, self.scope)

    def call(
        self, public: str, *args: cst.BaseExpression | cst.Arg, **keywords: cst.BaseExpression
    ) -> cst.Call:
        """Return a call of something with a public name."""
        given = [arg if isinstance(arg, cst.Arg) else cst.Arg(as_argument(arg)) for arg in args]
        named = [
            cst.Arg(as_argument(value), keyword=cst.Name(name), equal=TIGHT_EQUAL)
            for name, value in keywords.items()
        ]
        return cst.Call(self.refer(public), with_commas([*given, *named]))

    def decide(self, node: cst.CSTNode, message: str) -> None:
        """Leave a place to a person: the code stays, with a marker above its statement.

        Args:
            node: The node of the file before.
            message: What is to decide, and why the rule does not; one sentence or two.
        """
        self.decisions.append((node, message))


TIGHT_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def as_argument(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression as an argument: a tuple has parentheses there."""
    if isinstance(node, cst.Tuple) and not node.lpar:
        return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node


def with_commas(args: list[cst.Arg]) -> list[cst.Arg]:
    """Return arguments with a comma between each two, keeping the layout that they have."""
    done = [
        arg
        if isinstance(arg.comma, cst.Comma)
        else arg.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        for arg in args[:-1]
    ]
    return [*done, *args[-1:]]


def _defining(cls: str, method: str) -> str:
    for base in nnx_classes.mro(cls):
        if base in nnx_classes.CLASSES and method in nnx_classes.CLASSES[base].methods:
            return base
    return cls
