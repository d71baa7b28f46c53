"""Calls of a model with the very variables that it was made with: they need no variables any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, key_of, text_of
from typed_nnx_codegen.migrate.linen.callers.constructions import Construction, Use
from typed_nnx_codegen.migrate.linen.callers.kinds import Live
from typed_nnx_codegen.migrate.linen.callers.places import Places, same_variable
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass

# Collections that calls of a module may change without being told to.
OTHERS = frozenset({"cache", "intermediates", "perturbations"})
# Methods of modules that change what the model holds when it is called.
_CHANGING = frozenset({"sow", "perturb", "put_variable", "make_rng"})
# Layers that change what they hold when they are called.
_CHANGING_LAYERS = ("Attention", "MultiHeadDotProductAttention", "SpectralNorm")


def plans_below(plan: ClassPlan, plan_of: Callable[[LinenClass], ClassPlan]) -> Iterator[ClassPlan]:
    """Yield the plan of a module and those of the modules in it, each once."""
    waiting = [plan]
    seen: set[LinenClass] = set()
    while waiting:
        current = waiting.pop()
        if current.cls in seen:
            continue
        seen.add(current.cls)
        yield current
        inner = [site.target for site in current.sites]
        waiting += [plan_of(target) for target in inner if isinstance(target, LinenClass)]


def named_collections(plan: ClassPlan) -> set[str]:
    """Return the collections of the variables of a module, those without a name of their own apart."""
    return {one.linen.partition("/")[0] for one in plan.entries if "/" in one.linen}


class DirectCalls:
    """Finds the calls of one model that can be calls of the model itself.

    Args:
        one: The construction.
        kind: How it is written.
        places: Where the nodes of its file stand.
        plan_of: Gives the plan of a module.

    Attributes:
        uses: The uses of `apply` that become calls.
        statement: The statement that assigned the variables, if nothing reads them any more.
    """

    def __init__(
        self,
        one: Construction,
        kind: Live,
        places: Places,
        plan_of: Callable[[LinenClass], ClassPlan],
    ) -> None:
        self._one = one
        self._places = places
        self._plan_of = plan_of
        self.uses: set[Use] = set()
        self.statement: cst.CSTNode | None = None
        if kind.init.name == "init" and self._only_reads(one.cls):
            self._find(kind)

    def _only_reads(self, cls: LinenClass) -> bool:
        """Whether calls of a module change nothing in it."""
        for current in plans_below(self._plan_of(cls), self._plan_of):
            if current.marks or current.stores_rngs or current.asks_mode:
                return False
            if named_collections(current) & OTHERS:
                return False
            for owner in current.cls.ancestry():
                for node in descendants(owner.node):
                    if isinstance(node, cst.Attribute) and node.attr.value in _CHANGING:
                        return False
            for site in current.sites:
                is_layer = not isinstance(site.target, LinenClass)
                if is_layer and str(site.target).endswith(_CHANGING_LAYERS):
                    return False
        return True

    def _find(self, kind: Live) -> None:
        init = kind.init
        assert init.call is not None
        statement = self._places.statement(init.node)
        name, is_params = _assigned(statement, init.call)
        if not name or statement is None:
            return
        home = self._places.function(statement)
        found: list[tuple[cst.Name, Use | None]] = []
        by_first = {
            _variables(use.call, name, is_params=is_params): use
            for use in self._one.uses
            if use.name == "apply" and use.call is not None
        }
        for node in same_variable(name, home, self._one.analysis.tree, self._places):
            if self._places.statement(node) is statement:
                continue
            use = by_first.get(node)
            if use is None and not self._is_read(node):
                return
            found.append((node, use))
        direct = {use for _, use in found if use is not None and self._is_plain(use)}
        self.uses = direct
        if all(use in direct for _, use in found) and home is not None:
            self.statement = statement

    def _is_read(self, node: cst.Name) -> bool:
        """Whether a name is read in a way that changes nothing: an argument, an item."""
        parent = self._places.parent(node)
        if isinstance(
            parent, (cst.Arg, cst.DictElement, cst.StarredDictElement, cst.Return, cst.Element)
        ):
            return not any(
                isinstance(one, (cst.AssignTarget, cst.Del)) for one in self._places.around(node)
            )
        if isinstance(parent, cst.Subscript) and parent.value is node:
            above = self._places.parent(parent)
            return not isinstance(above, (cst.AssignTarget, cst.AugAssign, cst.Del, cst.Attribute))
        return isinstance(parent, cst.Assign)

    @staticmethod
    def _is_plain(use: Use) -> bool:
        assert use.call is not None
        for arg in use.call.args[1:]:
            keyword = arg.keyword.value if arg.keyword is not None else ""
            if keyword in ("rngs", "mutable", "capture_intermediates", "variables"):
                return False
            if keyword == "method" and not isinstance(arg.value, (cst.SimpleString, cst.Attribute)):
                return False
            if arg.star == "**":
                return False
        return True


def _assigned(statement: cst.CSTNode | None, call: cst.Call) -> tuple[str, bool]:
    """Return the variable that has what `init` gives, and whether that is `params` only."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ):
            if value is call:
                return name, False
            if isinstance(value, cst.Subscript) and value.value is call:
                return (name, True) if key_of(value) == "params" else ("", False)
    return "", False


def _variables(call: cst.Call, name: str, *, is_params: bool) -> cst.CSTNode | None:
    """Return the name in the first argument of `apply`, where that is all of the variables."""
    first = call.args[0].value if call.args and call.args[0].keyword is None else None
    if not is_params:
        return first if isinstance(first, cst.Name) and first.value == name else None
    match first:
        case cst.Dict(elements=[cst.DictElement(key=key, value=cst.Name() as value)]):
            return value if text_of(key) == "params" and value.value == name else None
    return None
