"""TN108: ``M.init``, ``M.create_abstract``, ``M.partial_init`` are calls of M under a transform."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted
from typed_nnx_codegen.migrate.file import File, with_commas
from typed_nnx_codegen.migrate.patterns.definition_first import DefinitionFirst, Result
from typed_nnx_codegen.migrate.patterns.method_calls import is_quick
from typed_nnx_codegen.migrate.registry import register

_METHODS = frozenset({"create_abstract", "init", "partial_init"})
_CANNOT_DEFER = (
    "write the call in a function of its own for `nnx.eval_shape`; it cannot move as it is"
)
_TO_WRITE = {
    "create_abstract": "write `nnx.eval_shape(lambda: M(...))`",
    "partial_init": "make it with `nnx.jit(lambda: M(...))()`, then `nnx.update(model, state)`",
}


@register
class Constructors(DefinitionFirst):
    """A Module is made by a call of its class; what else it can be is a transform's business.

    `M.init(...)` gave the State and the definition of a new Module. `M.create_abstract(...)` is
    `nnx.eval_shape`; Rngs from outside become parameters. `nnx.TrainState(graphdef, params=, tx=)` is
    `nnx.TrainState.create`. Results that are used in another place than an assignment or a `return` get
    a marker, and so does `M.partial_init(state)(...)`: a call under `nnx.jit`, and `nnx.update` with the
    State that is there.
    """

    code = "TN108"
    title = "`M.init`, `M.create_abstract` and `M.partial_init` are calls of M under a transform"
    since = (0, 9, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

- abstract = nnx.Linear.create_abstract(2, 3, rngs=nnx.Rngs(0))
+ abstract = nnx.eval_shape(lambda: nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._called: set[cst.BaseExpression] = set()

    def plan(self) -> None:
        """Find the calls, and what is called again."""
        self._called = {node.func for node in self.file.analysis.known.of(cst.Call)}
        super().plan()

    # -- pairs: `state, static = M.init(...)` -------------------------------------------------

    def result_of(self, call: cst.Call) -> Result | None:
        """Return what ``M.init(...)`` gives, and an abstract Module that is unpacked."""
        name = self._method(call)
        orders = self.file.analysis.split_orders
        if name == "init" and call not in self._called:
            return Result((), orders.states_first(call))
        if name == "create_abstract" and orders.told(call) is not None:
            return Result((), orders.told(call))
        return None

    def new_call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Return the parts of a new Module."""
        made = _constructed(updated)
        if self._method(original) == "init":
            return self.file.call("nnx.split", made)
        inner = self._abstract(original, made)
        if inner is None:
            self.spare(original)
            return updated
        return self.file.call("nnx.split", inner)

    # -- Modules ------------------------------------------------------------------------------

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call of one of the methods."""
        if self._is_of_train_state(original):
            return updated.with_changes(func=cst.Attribute(updated.func, cst.Name("create")))
        if not isinstance(original.func, cst.Attribute) or original.func.attr.value not in _METHODS:
            return updated
        name = self._method(original)
        if name == "create_abstract" and original not in self._uses:
            return self._abstract(original, _constructed(updated)) or updated
        if name == "init" and original in self._called:
            self.file.decide(
                original, "make the Module by a call of its class: `M(..., rngs=rngs)`"
            )
        elif name == "partial_init" or (not name and self._is_of_nnx(original.func)):
            to_write = _TO_WRITE[original.func.attr.value]
            self.file.decide(
                original, to_write if name else f"if this is a class of Modules, {to_write}"
            )
        return super().leave_Call(original, updated)

    def _method(self, call: cst.Call) -> str:
        """Return which of the methods a call surely calls; empty for none."""
        function = call.func
        if not isinstance(function, cst.Attribute) or function.attr.value not in _METHODS:
            return ""
        method = self.file.method(call)
        if method is None or not method.on_class or method.cls != "Module":
            return ""
        return method.name

    def _is_of_train_state(self, call: cst.Call) -> bool:
        """Whether a call is ``nnx.TrainState(graphdef, params=..., tx=...)``, of flax 0.8.0."""
        if self.file.name(call.func) != "nnx.TrainState":
            return False
        named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
        return {"params", "tx"} <= named and "opt_state" not in named

    def _is_of_nnx(self, function: cst.Attribute) -> bool:
        if function.attr.value == "init":
            return False
        return self.file.is_unknown(function)

    def _abstract(self, original: cst.Call, made: cst.Call) -> cst.Call | None:
        later = deferred(self.file, original, made)
        if later is None:
            self.file.decide(original, _CANNOT_DEFER)
            return None
        return self.file.call("nnx.eval_shape", later.function, *later.given)


def _constructed(call: cst.Call) -> cst.Call:
    """Return a call of the class instead of one of its methods."""
    assert isinstance(call.func, cst.Attribute)
    return call.with_changes(func=call.func.value)


# -- calls that run later ---------------------------------------------------------------------------


_RNGS = re.compile(r"(^|[_.])rngs?$")


@dataclass(frozen=True)
class Deferred:
    """A call in a lambda.

    Attributes:
        function: The lambda.
        given: The arguments that it is to be called with.
    """

    function: cst.Lambda
    given: tuple[cst.Arg, ...]


def deferred(file: File, original: cst.Call, made: cst.Call) -> Deferred | None:
    """Return a call in a lambda; None where it would mean something else there.

    Rngs and models from outside are parameters: under a transform they can only be used so.

    Args:
        file: The file.
        original: The call before, with the same arguments.
        made: The call.
    """
    if file.scope.kind == "class" or any(
        isinstance(node, (cst.Await, cst.NamedExpr, cst.Yield)) for node in descendants(original)
    ):
        return None
    names: dict[str, cst.BaseExpression] = {}
    args: list[cst.Arg] = []
    for before, after in zip(original.args, made.args, strict=True):
        if before.star or not _comes_from_outside(file, before):
            args.append(after)
            continue
        if not is_quick(before.value):
            return None
        name = _parameter(before)
        if name in names and dotted(names[name]) != dotted(after.value):
            return None
        names[name] = after.value
        args.append(after.with_changes(value=cst.Name(name)))
    parameters = cst.Parameters([cst.Param(cst.Name(name)) for name in names])
    space = cst.SimpleWhitespace(" " if names else "")
    function = cst.Lambda(parameters, made.with_changes(args=args), whitespace_after_lambda=space)
    return Deferred(function, tuple(with_commas([cst.Arg(value) for value in names.values()])))


def _comes_from_outside(file: File, arg: cst.Arg) -> bool:
    """Whether an argument is an Rngs or a model that the code around has."""
    if isinstance(arg.value, cst.Call) and file.name(arg.value.func) == "nnx.Rngs":
        return False
    if file.is_a(arg.value, "Pytree", "Rngs") is True:
        return True
    named = arg.keyword.value if arg.keyword is not None else dotted(arg.value)
    return bool(_RNGS.search(named)) and file.is_unknown(arg.value)


def _parameter(arg: cst.Arg) -> str:
    if arg.keyword is not None:
        return arg.keyword.value
    return dotted(arg.value).rpartition(".")[2]
