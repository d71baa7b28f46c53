"""The models that callers use: live ones, and what constructs them with which sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.callers.caller_helpers import WITH_SIZES
from typed_nnx_codegen.migrate.linen.callers.constructions import Use
from typed_nnx_codegen.migrate.linen.callers.held_modules import held_sizes
from typed_nnx_codegen.migrate.linen.callers.kinds import Deferred, Inline, Live, call_parts
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering, joined
from typed_nnx_codegen.migrate.linen.callers.sizes import (
    NoSizes,
    Sizes,
    is_pure,
    parameters_for,
    sizes_for,
    sizes_of_names,
    union,
)
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan


class Models:
    """Writes the models of uses.

    Args:
        code: Writes expressions.
    """

    def __init__(self, code: Rendering) -> None:
        self._code = code
        self._hoisted: set[str] = set()
        self._told: set[str] = set()

    def model(self, use: Use, sizes: Callable[[], Sizes]) -> str:
        """Return the model of a use, or what constructs it: the first argument of helpers."""
        kind = self._code.kinds.of_use(use)
        receiver = use.node.value
        if isinstance(kind, Inline):
            assert isinstance(receiver, cst.Call)
            return self._code.deferred(receiver, sizes())
        if isinstance(kind, Live) or (isinstance(kind, Deferred) and kind.preset is not None):
            return self._code.render(receiver)
        return self._sized(use, sizes().text)

    def _sized(self, use: Use, text: str) -> str:
        """Return what constructs the model of a use, with sizes."""
        receiver = self._code.render(use.node.value)
        if not text:
            return receiver
        function = self._code.refer("functools.partial")
        if not self.is_alike(use):
            function = self._code.helper(WITH_SIZES)
        return f"{function}({receiver}, {text})"

    def new_model(self, use: Use, sizes: Callable[[], Sizes], rngs: str) -> str:
        """Return the construction of the model of a use."""
        kind = self._code.kinds.of_use(use)
        receiver = use.node.value
        if isinstance(kind, Inline):
            assert isinstance(receiver, cst.Call)
            return self._code.constructed(receiver, sizes(), rngs)
        if isinstance(kind, Live):
            return self._code.constructed(use.constructions[0].node, sizes(), rngs)
        is_known = isinstance(kind, Deferred) and kind.preset is not None
        text = "" if is_known else sizes().text
        if text and not self.is_alike(use):
            return f"{self._sized(use, text)}(rngs={rngs})"
        return f"{self._code.render(receiver)}({joined([text, f'rngs={rngs}'])})"

    def _plans(self, use: Use) -> list[ClassPlan]:
        return [self._code.plan_of(cls) for cls in use.classes]

    def takes_sizes(self, use: Use) -> bool:
        """Whether the constructor of what a use is of takes sizes."""
        return any(plan.lifted for plan in self._plans(use))

    def is_alike(self, use: Use) -> bool:
        """Whether all modules that a use may be of take the same sizes."""
        plans = self._plans(use)
        return all(plan.lifted == plans[0].lifted for plan in plans)

    def sizes_of_names(self, use: Use) -> Sizes:
        """Return the sizes over the parameters of the method that is called."""
        names = [[p.name.value for p in parameters_for(cls, "__call__")] for cls in use.classes]
        if any(one != names[0] for one in names):
            raise NoSizes("the modules that it may be are called with other arguments")
        found = union([sizes_of_names(plan, "__call__") for plan in self._plans(use)])
        self._tell_missing(use.node, found)
        return found

    def sizes(self, use: Use, call: cst.Call, skip: int, *, is_kept: bool) -> Sizes:
        """Return the sizes that the arguments of a call tell.

        Args:
            use: The use.
            call: The call of it.
            skip: How many arguments come before those of the method.
            is_kept: Whether the arguments are written once more.
        """
        method, args = call_parts(call, self._code.analysis, skip)

        def sizes() -> Sizes:
            return union(
                [
                    sizes_for(plan, method, args, self._code.analysis, self._code.render)
                    for plan in self._plans(use)
                ]
            )

        found = sizes()
        found = replace(found, used=(*found.used, *self._hold(use, method, args)))
        hoisted = False
        for node in {id(one): one for one in found.used}.values():
            count = sum(one is node for one in found.used) + is_kept
            if count > 1 and not is_pure(node, self._code.analysis):
                self._hoist(node)
                hoisted = True
        self._tell_missing(call, found)
        if hoisted:
            self._hold(use, method, args)
        return sizes() if hoisted else found

    def _hold(
        self, use: Use, method: str, args: Sequence[cst.Arg]
    ) -> tuple[cst.BaseExpression, ...]:
        """Find the sizes of modules that are given for fields; return the arguments in them."""
        used: list[cst.BaseExpression] = []
        code = self._code
        for one in code.constructions.every.values():
            if one.owner is None or one.owner not in use.constructions:
                continue
            plan, inner = code.plan_of(one.owner.cls), code.plan_of(one.cls)
            sizes = held_sizes(one, plan, inner, method, args, code.analysis, code.render)
            if not sizes.missing:
                code.held[one.node] = sizes
                used += sizes.used
        return tuple(used)

    def _tell_missing(self, node: cst.CSTNode, sizes: Sizes) -> None:
        for reason in sizes.missing:
            if reason in self._told:
                continue
            self._told.add(reason)
            self._code.mark(node, f"{reason}: give it where the model is constructed")

    def _hoist(self, node: cst.BaseExpression) -> None:
        """Give an argument a name above its statement, so that it is evaluated once."""
        statement = self._code.places.statement(node)
        if statement is None or not self._code.places.runs_once(node):
            raise NoSizes(f"`{code_of(node)}` would be evaluated twice")
        name = "inputs"
        while name in self._code.file.names.before or name in self._hoisted:
            name += "_"
        self._hoisted.add(name)
        self._code.plan.before.setdefault(statement, []).append(
            f"{name} = {self._code.render(node)}"
        )
        self._code.plan.code[node] = name

    def header(self, cls: LinenClass) -> list[str]:
        """Return the parameters of `__call__` for a lambda."""
        found: list[str] = []
        is_keyword_only = False
        method = cls.method("__call__")
        for one in parameters_for(cls, "__call__"):
            if (
                method is not None
                and one in method.node.params.kwonly_params
                and not is_keyword_only
            ):
                found.append("*")
                is_keyword_only = True
            default = f"={code_of(one.default)}" if one.default is not None else ""
            found.append(f"{one.name.value}{default}")
        return found
