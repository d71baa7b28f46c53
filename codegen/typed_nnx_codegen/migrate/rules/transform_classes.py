"""TN114: ``nnx.Remat(Block)(...)`` and the other classes of transforms are functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    children,
    descendants,
    dotted,
    has_star,
)
from typed_nnx_codegen.migrate.analysis.values import ProjectClass
from typed_nnx_codegen.migrate.file import with_commas
from typed_nnx_codegen.migrate.patterns.axes import ZERO, CannotTell
from typed_nnx_codegen.migrate.patterns.stacked_modules import (
    CONSTRUCTOR,
    Stacked,
    calls_of,
    gives_carry_and_output,
    stacked,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_FUNCTIONS: Final = {
    "nnx.JIT": "nnx.jit",
    "nnx.Jit": "nnx.jit",
    "nnx.Remat": "nnx.remat",
    "nnx.Scan": "nnx.scan",
    "nnx.Vmap": "nnx.vmap",
}
_STACKING: Final = frozenset({"nnx.Scan", "nnx.Vmap"})
# Options that mean the same for the function.
_SAME: Final = frozenset({"policy", "prevent_cse"})
_RECIPES: Final = {
    "nnx.jit": "`nnx.{old}` is gone: make the Module itself, and put @nnx.jit above its `__call__`",
    "nnx.remat": (
        "`nnx.{old}` is gone: make the Module itself, and put @nnx.remat above its `__call__`, or "
        "call it as nnx.remat(Block.__call__)(block, x)"
    ),
    "nnx.scan": (
        "`nnx.{old}` is gone: make the stack in a function under @nnx.split_rngs(splits=n) and "
        "@nnx.vmap, and call it as nnx.scan(Block.__call__, in_axes=(0, nnx.Carry), "
        "out_axes=nnx.Carry)(blocks, x)"
    ),
    "nnx.vmap": (
        "`nnx.{old}` is gone: make the stack in a function under @nnx.split_rngs(splits=n) and "
        "@nnx.vmap, and call it as nnx.vmap(Block.__call__, in_axes=(0, None))(blocks, x)"
    ),
}


@dataclass
class _Plan:
    """What to do with the uses of a class of a transform.

    Attributes:
        decorated: The classes whose `__call__` gets a transform, with the call that says how.
        plain: The calls that become the class itself.
        made: The stacks by the call that makes them.
        called: The stacks by the calls of them.
        why: Why a use has no translation.
    """

    decorated: dict[cst.CSTNode, cst.Call] = field(default_factory=dict)
    plain: set[cst.Call] = field(default_factory=set)
    made: dict[cst.Call, Stacked] = field(default_factory=dict)
    called: dict[cst.Call, Stacked] = field(default_factory=dict)
    why: dict[cst.Call, str] = field(default_factory=dict)


@register
class TransformClasses(Rule):
    """Transforms of Modules are functions: the classes `Jit`, `Remat`, `Scan` and `Vmap` are gone.

    ``nnx.Remat(Block)(...)`` and ``nnx.Jit`` become ``Block(...)`` with the transform above
    ``Block.__call__``, where the file defines the class and uses it in no other way.
    ``self.layers = nnx.Scan(Block, length=n)(..., rngs=rngs)`` becomes a function under
    ``nnx.split_rngs`` and ``nnx.vmap`` that makes the stack, and calls of ``self.layers`` become
    calls of ``nnx.scan`` or ``nnx.vmap``. Anything else gets a marker with what to write.
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

      def __call__(self, x, _):
          return self.linear(x), None

  class Model(nnx.Module):
      def __init__(self, rngs: nnx.Rngs):
-         self.layers = nnx.Scan(Block, variable_axes={nnx.Param: 0}, length=3)(8, rngs=rngs)
+         @nnx.split_rngs(splits=3)
+         @nnx.vmap
+         def create_layers(rngs):
+             return Block(8, rngs=rngs)
+         self.layers = create_layers(rngs)

      def __call__(self, x):
-         x, _ = self.layers(x, None)
+         x, _ = nnx.scan(Block.__call__, in_axes=(0, nnx.Carry, 0), out_axes=(nnx.Carry, 0))(self.layers, x, None)
          return x
"""
    handles = frozenset(name.removeprefix("nnx.") for name in _FUNCTIONS)

    # -- planning -----------------------------------------------------------------------------

    def plan(self) -> None:
        """Look at all uses of the classes."""
        self._plan = _Plan()
        self._taken: set[str] = set()
        uses = [node for node in self.file.analysis.known.of(cst.Call) if self._class_of(node)]
        if not uses:
            return
        self._taken.update(self.file.names.before)
        for node in uses:
            if self._class_of(node) not in _STACKING:
                self._plan_decorated(node, uses)
        self._plan_stacked(set(uses))

    def _class_of(self, call: cst.Call) -> str:
        """Return the class of a transform that a call is given a class; empty if it is none."""
        name = self.file.name(call.func).removesuffix(CONSTRUCTOR)
        return name if name in _FUNCTIONS else ""

    def _plan_decorated(self, node: cst.Call, uses: Sequence[cst.Call]) -> None:
        cls = self.file.value(node.args[0].value) if node.args else None
        if not isinstance(cls, ProjectClass) or "__call__" not in cls.methods or has_star(node):
            self._plan.why[node] = "its class is not in this file"
            return
        options = {arg.keyword.value for arg in node.args[1:] if arg.keyword is not None}
        if len(options) != len(node.args) - 1 or options - _SAME:
            self._plan.why[node] = "its options have no sure translation"
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
            self._plan.why[node] = "the class is used in other ways too"
        elif method not in self.file.analysis.scopes or cls.methods["__call__"].decorators:
            self._plan.why[node] = "its `__call__` is not in this file, or has decorators"
        else:
            self._plan.plain.add(node)
            self._plan.decorated[method] = node

    def _way(self, call: cst.Call) -> tuple[str, ...]:
        options = (cst.Module([]).code_for_node(arg.value) for arg in call.args[1:])
        return (_FUNCTIONS[self._class_of(call)], *options)

    def _plan_stacked(self, uses: set[cst.Call]) -> None:
        for owner in descendants(self.file.analysis.tree):
            if not isinstance(owner, cst.ClassDef):
                continue
            for node in descendants(owner):
                if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.Call):
                    continue
                given = node.value.func
                if given in uses and isinstance(given, cst.Call):
                    self._plan_stack(node, given, owner)

    def _plan_stack(self, node: cst.Assign, given: cst.Call, owner: cst.ClassDef) -> None:
        assert isinstance(node.value, cst.Call)
        if self._class_of(given) not in _STACKING:
            return
        base, _, attribute = dotted(node.targets[0].target).rpartition(".")
        try:
            if base != "self" or len(node.targets) != 1:
                raise CannotTell("it does not become an attribute of self")
            stack = stacked(self.file, node.value, attribute)
            called = calls_of(self.file, attribute, owner)
            for call in called:
                self._check_call(stack, call)
        except CannotTell as reason:
            self._plan.why[given] = str(reason)
            return
        self._plan.made[node.value] = stack
        self._plan.plain.add(given)
        self._plan.called.update(dict.fromkeys(called, stack))

    def _check_call(self, stack: Stacked, call: cst.Call) -> None:
        if isinstance(stack.in_axes, tuple) and len(stack.in_axes) != len(call.args):
            raise CannotTell("its axes do not fit its calls")
        gives_pair = stack.transform == "nnx.scan" and stack.gives_output
        # The older class took nothing else.
        if gives_pair and gives_carry_and_output(self.file, stack.block) is False:
            raise CannotTell("its `__call__` does not give a carry and an output")

    # -- rewriting ----------------------------------------------------------------------------

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite the call that made a Module, or a call of a stack."""
        stack = self._plan.called.get(original)
        if stack is not None:
            return self._call(stack, updated)
        if original in self._plan.decorated.values() or original in self._plan.plain:
            return updated if self._class_of(original) in _STACKING else updated.args[0].value
        old = self._class_of(original)
        if old:
            why = self._plan.why.get(original, "what becomes of it cannot be seen")
            recipe = _RECIPES[_FUNCTIONS[old]].format(old=old.removeprefix("nnx."))
            self.file.decide(original, f"{recipe}; {why}")
        return updated

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Put a transform above a `__call__`."""
        given = self._plan.decorated.get(original)
        if given is None:
            return updated
        function = self.file.refer(_FUNCTIONS[self._class_of(given)])
        if len(given.args) > 1:
            function = cst.Call(function, with_commas(list(given.args[1:])))
        return updated.with_changes(decorators=[cst.Decorator(function)])

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.BaseStatement]:
        """Make a stack in a function of its own."""
        first = original.body[0] if len(original.body) == 1 else None
        if not isinstance(first, cst.Assign) or not isinstance(first.value, cst.Call):
            return updated
        stack = self._plan.made.get(first.value)
        statement = updated.body[0]
        if stack is None or not isinstance(statement, cst.Assign):
            return updated
        assert isinstance(statement.value, cst.Call)
        made = statement.value
        keys = made.args[stack.rngs]
        args = [
            arg.with_changes(value=cst.Name("rngs")) if index == stack.rngs else arg
            for index, arg in enumerate(made.args)
        ]
        name = self._free(f"create_{stack.attribute}")
        result = cst.Return(cst.Call(stack.block, args))
        function = cst.FunctionDef(
            cst.Name(name),
            cst.Parameters([cst.Param(cst.Name("rngs"))]),
            cst.IndentedBlock([cst.SimpleStatementLine([result])]),
            decorators=[
                cst.Decorator(self.file.call("nnx.split_rngs", splits=stack.count)),
                cst.Decorator(self.file.refer("nnx.vmap")),
            ],
            leading_lines=updated.leading_lines,
        )
        call = cst.Call(cst.Name(name), [cst.Arg(keys.value)])
        line = updated.with_changes(body=[statement.with_changes(value=call)], leading_lines=())
        return cst.FlattenSentinel([function, line])

    def _call(self, stack: Stacked, updated: cst.Call) -> cst.Call:
        axes = self._axes(stack, len(updated.args))
        method = self._method(stack, len(updated.args))
        given = cst.Tuple([cst.Element(one) for one in (ZERO, *axes)])
        options = {"in_axes": given}
        out_axes: cst.BaseExpression | None = stack.out_axes
        if stack.transform == "nnx.scan":
            carry = self.file.refer("nnx.Carry")
            both = cst.Tuple([cst.Element(carry), cst.Element(ZERO)])
            out_axes = both if stack.gives_output else carry
        function = self.file.call(stack.transform, method, **options)
        if out_axes is not None:
            function = self.file.call(stack.transform, method, in_axes=given, out_axes=out_axes)
        first = cst.Arg(updated.func)
        return updated.with_changes(func=function, args=with_commas([first, *updated.args]))

    def _method(self, stack: Stacked, count: int) -> cst.BaseExpression:
        """Return the function that calls a Module of a stack."""
        cls = self.file.value(stack.block)
        method = cls.methods.get("__call__") if isinstance(cls, ProjectClass) else None
        parameters = method.node.params if method is not None else None
        if parameters is not None and not _has_more(parameters, count):
            return cst.Attribute(stack.block, cst.Name("__call__"))
        # Axes are given for all parameters, those with defaults too: only these are passed.
        names = ["x"] if count == 1 else [f"x{index}" for index in range(count)]
        given = ", ".join(names)
        return cst.parse_expression(f"lambda module, {given}: module({given})")

    def _axes(self, stack: Stacked, count: int) -> list[cst.BaseExpression]:
        if isinstance(stack.in_axes, tuple):
            return list(stack.in_axes)
        axes: list[cst.BaseExpression] = [stack.in_axes] * count
        if stack.transform == "nnx.scan":
            axes[0] = self.file.refer("nnx.Carry")
        return axes

    def _free(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _without_annotations(tree: cst.CSTNode) -> Iterator[cst.CSTNode]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if not isinstance(node, cst.Annotation):
            yield node
            stack.extend(children(node))


def _has_more(parameters: cst.Parameters, count: int) -> bool:
    """Whether a method takes more than itself and some arguments by position."""
    by_position = len(parameters.posonly_params) + len(parameters.params)
    return (
        by_position != count + 1
        or bool(parameters.kwonly_params)
        or isinstance(parameters.star_arg, cst.Param)
        or parameters.star_kwarg is not None
    )
