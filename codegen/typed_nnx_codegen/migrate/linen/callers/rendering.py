"""The new code of expressions of callers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.caller_sizes import Sizes
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions
from typed_nnx_codegen.migrate.linen.callers.kinds import Kinds
from typed_nnx_codegen.migrate.linen.callers.places import CallerPlan
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Mark
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.markers import CALLER
from typed_nnx_codegen.migrate.linen.domain.names import names_in_nnx
from typed_nnx_codegen.migrate.linen.layers import Helper


class Rendering:
    """Writes the expressions of one file.

    Args:
        file: The file.
        constructions: What the callers of the project do.
        kinds: How constructions are written.
        plan_of: Gives the plan of a module.

    Attributes:
        plan: What is written.
        done: The nodes that were written, or that stay.
        write: Writes a node if it is a use or a construction.
    """

    def __init__(
        self,
        file: File,
        constructions: Constructions,
        kinds: Kinds,
        plan_of: Callable[[LinenClass], ClassPlan],
    ) -> None:
        self.file = file
        self.analysis = file.analysis
        self.constructions = constructions
        self.places = constructions.places(file.analysis)
        self.kinds = kinds
        self.plan_of = plan_of
        self.plan = CallerPlan()
        self.done: set[cst.CSTNode] = set()
        self.write: Callable[[cst.CSTNode], None] | None = None
        # What modules in fields are constructed with, and the streams of the one that has the field.
        self.held: dict[cst.CSTNode, Sizes] = {}
        self.rngs = ""

    def render(self, node: cst.CSTNode) -> str:
        """Return the new code of an expression."""
        replacements: dict[cst.CSTNode, str] = {
            below: code_of(self.file.refer(name))
            for below, name in names_in_nnx(node, self.analysis)
        }
        for below in descendants(node):
            if self.write is not None:
                self.write(below)
            if below in self.plan.code:
                replacements[below] = self.plan.code[below]
        return code_with(node, replacements)

    def refer(self, public: str) -> str:
        """Return how the file spells a public name."""
        return code_of(self.file.refer(public))

    def helper(self, helper: Helper) -> str:
        """Note that the file needs a helper; return its name."""
        self.plan.helpers[helper] = None
        return helper.name

    def mark(self, node: cst.CSTNode, message: str) -> None:
        """Leave something to a person."""
        self.plan.marks.append(Mark(node, message, CALLER))

    def deferred(self, call: cst.Call, sizes: Sizes) -> str:
        """Return what constructs a model later: `partial(MLP, features=3)`."""
        parts = [self.render(call.func), *self.args(call.args), sizes.text]
        if not any(parts[1:]):
            return parts[0]
        return f"{self.refer('functools.partial')}({joined(parts)})"

    def constructed(self, call: cst.Call, sizes: Sizes, rngs: str) -> str:
        """Return what constructs a model now."""
        around, self.rngs = self.rngs, rngs
        parts = [*self.args(call.args), sizes.text, f"rngs={rngs}"]
        self.rngs = around
        return f"{self.render(call.func)}({joined(parts)})"

    def args(self, args: Sequence[cst.Arg]) -> list[str]:
        """Return the new code of the arguments of a constructor."""
        return [self.arg(arg) for arg in args if not _is_parent(arg)]

    def arg(self, arg: cst.Arg) -> str:
        """Return the new code of an argument."""
        keyword = f"{arg.keyword.value}=" if arg.keyword is not None else ""
        return f"{keyword}{arg.star}{self.render(arg.value)}"


def joined(parts: Sequence[str]) -> str:
    """Return arguments as they stand in a call; those that are empty are left out."""
    return ", ".join(part for part in parts if part)


def keyword_of(arg: cst.Arg) -> str:
    """Return the keyword of an argument; empty where it has none."""
    return arg.keyword.value if arg.keyword is not None else ""


def _is_parent(arg: cst.Arg) -> bool:
    """Whether an argument is the `parent` or the `name` that Linen modules take."""
    return keyword_of(arg) in ("parent", "name")
