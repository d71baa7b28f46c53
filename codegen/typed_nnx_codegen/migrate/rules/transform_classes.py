"""TN114: ``nnx.Remat(Block)(...)`` and the other classes of transforms are functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import children, code_of, has_star
from typed_nnx_codegen.migrate.analysis.values import ProjectClass
from typed_nnx_codegen.migrate.file import with_commas
from typed_nnx_codegen.migrate.registry import Rule, register

_FUNCTIONS: Final = {"nnx.JIT": "nnx.jit", "nnx.Jit": "nnx.jit", "nnx.Remat": "nnx.remat"}
_CONSTRUCTOR: Final = ".constructor"
# Options that mean the same for the function.
_SAME: Final = frozenset({"policy", "prevent_cse"})
_RECIPES: Final = {
    "nnx.jit": "`nnx.{old}` is gone: make the Module itself, and put @nnx.jit above its `__call__`",
    "nnx.remat": (
        "`nnx.{old}` is gone: make the Module itself, and put @nnx.remat above its `__call__`, or "
        "call it as nnx.remat(Block.__call__)(block, x)"
    ),
}
_STACK: Final = (
    "`nnx.{old}` is gone: make the stack in a function under @nnx.split_rngs(splits=n) and @nnx.vmap, and "
    "call it as "
)


@register
class TransformClasses(Rule):
    """Transforms of Modules are functions: the classes `Jit`, `Remat`, `Scan` and `Vmap` are gone.

    ``nnx.Remat(Block)(...)`` and ``nnx.Jit`` become ``Block(...)`` with the transform as a
    decorator of ``Block.__call__``, if the file defines the class and uses it in no other way.
    Anything else, and each ``nnx.Scan`` and ``nnx.Vmap``, gets a marker that says what to write:
    how to create a stack of Modules, and how to call it.
    """

    code = "TN114"
    title = "The classes of transforms are functions"
    since = (0, 12, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  class Block(nnx.Module):
      def __init__(self, dim: int, rngs: nnx.Rngs):
          self.linear = nnx.Linear(dim, dim, rngs=rngs)

+     @nnx.remat
      def __call__(self, x):
          return self.linear(x)

- block = nnx.Remat(Block)(8, rngs=nnx.Rngs(0))
+ block = Block(8, rngs=nnx.Rngs(0))
"""
    handles = frozenset(name.removeprefix("nnx.") for name in _FUNCTIONS)
    gone = {
        "Scan": f"{_STACK.format(old='Scan')}nnx.scan(Block.__call__, in_axes=(0, nnx.Carry), "
        "out_axes=nnx.Carry)(blocks, x)",
        "Vmap": f"{_STACK.format(old='Vmap')}nnx.vmap(Block.__call__, in_axes=(0, None))(blocks, x)",
    }

    def plan(self) -> None:
        """Look at all uses of the classes."""
        # The methods that get a transform, with the call that says how; those calls; why others stay.
        self._decorated: dict[cst.CSTNode, cst.Call] = {}
        self._plain: set[cst.Call] = set()
        self._why: dict[cst.Call, str] = {}
        uses = [node for node in self.file.analysis.known.of(cst.Call) if self._function(node)]
        for node in uses:
            self._plan_decorated(node, uses)

    def _function(self, call: cst.Call) -> str:
        """Return the function that a call of a class of a transform is now; empty if it is none."""
        return _FUNCTIONS.get(self.file.name(call.func).removesuffix(_CONSTRUCTOR), "")

    def _plan_decorated(self, node: cst.Call, uses: Sequence[cst.Call]) -> None:
        cls = self.file.value(node.args[0].value) if node.args else None
        if not isinstance(cls, ProjectClass) or "__call__" not in cls.methods or has_star(node):
            self._why[node] = "its class is not in this file"
            return
        options = {arg.keyword.value for arg in node.args[1:] if arg.keyword is not None}
        if len(options) != len(node.args) - 1 or options - _SAME:
            self._why[node] = "its options have no sure translation"
            return
        same = [use for use in uses if use.args and self.file.value(use.args[0].value) is cls]
        within = {use.args[0].value for use in same}
        method = cls.methods["__call__"].node
        reads = [
            other
            for other in _without_annotations(self.file.analysis.tree)
            if isinstance(other, (cst.Name, cst.Attribute))
            and self.file.analysis.values.get(other) is cls
        ]
        alike = {self._way(use) for use in same}
        if any(read not in within for read in reads) or len(alike) != 1:
            self._why[node] = "the class is used in other ways too"
        elif method not in self.file.analysis.scopes or cls.methods["__call__"].decorators:
            self._why[node] = "its `__call__` is not in this file, or has decorators"
        else:
            self._plain.add(node)
            self._decorated[method] = node

    def _way(self, call: cst.Call) -> tuple[str, ...]:
        return (self._function(call), *(code_of(arg.value) for arg in call.args[1:]))

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite the call that gave a class, or mark it."""
        if original in self._plain:
            return updated.args[0].value
        new = self._function(original)
        if new:
            old = self.file.name(original.func).removesuffix(_CONSTRUCTOR).removeprefix("nnx.")
            recipe = _RECIPES[new].format(old=old)
            self.file.decide(original, f"{recipe}; {self._why[original]}")
        return updated

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Put a transform above a `__call__`."""
        given = self._decorated.get(original)
        if given is None:
            return updated
        function = self.file.refer(self._function(given))
        if len(given.args) > 1:
            function = cst.Call(function, with_commas(list(given.args[1:])))
        return updated.with_changes(decorators=[cst.Decorator(function)])


def _without_annotations(tree: cst.CSTNode) -> Iterator[cst.CSTNode]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, cst.Annotation):
            yield node
            stack.extend(children(node))
