"""The file that mypy checks, and the types that it has found so far.

mypy has no hook on assignments, statements or functions. What there is to know of them is found from
the place of a call: the file's tree, the function around it and the types found so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mypy import nodes
from mypy.lookup import lookup_fully_qualified
from mypy.nodes import CallExpr, Expression, FuncDef, LambdaExpr, MypyFile, Node, TypeInfo
from mypy.types import AnyType, Instance, ProperType, TupleType, Type, TypeOfAny, get_proper_type

from typed_nnx_codegen.facts.children import Tree, descendants, tree_of
from typed_nnx_codegen.facts.internals import Internals
from typed_nnx_codegen.facts.names import name_of, runtime_of

_LOOKING_AHEAD: Final[list[Expression]] = []


class Checker(Internals):
    """The type checker of one file.

    Args:
        api: What mypy gives to a hook.
    """

    # -- the file -----------------------------------------------------------------------------

    @property
    def tree(self) -> MypyFile:
        """The file that is being checked."""
        return self.api.tree

    @property
    def syntax(self) -> Tree:
        """What stands in the file."""
        return tree_of(self.tree, self.round)

    def is_of_runtime(self) -> bool:
        """Tell whether the file is part of a runtime itself."""
        return bool(runtime_of(self.tree.fullname))

    def parent(self, node: Node) -> Node | None:
        """Return the node that `node` stands in."""
        return self.syntax.parent(node)

    def above(self, node: Node) -> Iterator[Node]:
        """Yield the nodes around `node`, nearest first."""
        tree = self.syntax
        while (parent := tree.parent(node)) is not None:
            yield parent
            node = parent

    def function_around(self, node: Node) -> FuncDef | LambdaExpr | None:
        """Return the innermost function or lambda that `node` stands in."""
        known = self.syntax.functions
        if node not in known:
            found = (each for each in self.above(node) if isinstance(each, FuncDef | LambdaExpr))
            known[node] = next(found, None)
        return known[node]

    # -- types --------------------------------------------------------------------------------

    def type_of(self, expression: Expression) -> ProperType:
        """Return the type of an expression, checked now where it was not yet."""
        known = self.known_type(expression)
        if known is not None:
            return known
        return self._type_ahead(expression, None)

    def type_as(self, expression: Expression, expected: Type) -> ProperType:
        """Return the type that an expression has where another one is expected of it."""
        return self._type_ahead(expression, expected)

    def type_alone(self, expression: Expression) -> ProperType:
        """Return the type that an expression has where none is expected of it."""
        return self._type_ahead(expression, None)

    @property
    def is_looking_ahead(self) -> bool:
        """Whether an expression is checked before mypy gets there: what is wrong is reported then."""
        return bool(_LOOKING_AHEAD)

    def _type_ahead(self, expression: Expression, expected: Type | None) -> ProperType:
        _LOOKING_AHEAD.append(expression)
        try:
            return get_proper_type(self.type_of_new(expression, expected))
        finally:
            _LOOKING_AHEAD.pop()

    def is_right(self, expression: Expression) -> bool:
        """Tell whether mypy finds nothing wrong in an expression of which nothing is expected."""
        _LOOKING_AHEAD.append(expression)
        try:
            return not self.errors_in(expression)
        finally:
            _LOOKING_AHEAD.pop()

    def type_elsewhere(self, expression: Expression) -> ProperType | None:
        """Return the type of an expression, of a call of NNX or jax also where it was not kept.

        mypy forgets the types of expressions when it is done with a file, and its daemon checks
        only the functions again that an edit concerns. Then the call is checked once more.
        """
        known = self.known_type(expression)
        if known is not None or not isinstance(expression, CallExpr):
            return known
        if (
            not isinstance(expression.callee, nodes.RefExpr)
            or name_of(expression.callee.fullname) is None
        ):
            return None
        if any(each is expression for each in _LOOKING_AHEAD):
            return None  # it is made of itself, in a loop
        function, around = self.function_around(expression), self.functions_around
        is_here = function in around if function is not None else len(around) == 1
        return None if is_here or not _is_simple(expression) else self.type_of(expression)

    def known_type(self, expression: Expression) -> ProperType | None:
        """Return the type that was found for an expression; None where it was not checked yet."""
        found = self.api.lookup_type_or_none(expression)
        return get_proper_type(found) if found is not None else None

    def symbol(self, fullname: str) -> nodes.SymbolTableNode | None:
        """Return what a full name stands for; None where its module was not read."""
        return lookup_fully_qualified(fullname, self.api.modules)

    def named(self, name: str) -> nodes.SymbolTableNode | None:
        """Return what a dotted name stands for, where the top of the file names it."""
        first, *others = name.split(".")
        found = self.tree.names.get(first)
        for each in others:
            module = found.node if found is not None else None
            found = module.names.get(each) if isinstance(module, MypyFile) else None
        return found

    def instance(self, fullname: str, arguments: list[Type] | None = None) -> Instance | None:
        """Return the type of the objects of a class; None where its module was not read."""
        symbol = self.symbol(fullname)
        if symbol is None or not isinstance(symbol.node, TypeInfo):
            return None
        return Instance(symbol.node, arguments if arguments is not None else [])

    def row(self, items: list[Type]) -> TupleType:
        """Return the type of a tuple."""
        unknown = AnyType(TypeOfAny.special_form)
        return TupleType(items, self.api.named_generic_type("builtins.tuple", [unknown]))


def _is_simple(call: CallExpr) -> bool:
    """Tell whether a call may be checked out of its place: its names mean the same everywhere."""
    return not any(
        isinstance(
            each,
            nodes.AssignmentExpr
            | nodes.AwaitExpr
            | nodes.GeneratorExpr
            | LambdaExpr
            | nodes.SuperExpr,
        )
        for each in descendants(call)
    )
