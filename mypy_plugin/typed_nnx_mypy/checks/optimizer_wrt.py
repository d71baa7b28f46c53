"""``nnx-optimizer-wrt``: gradients of another filter or model than the Optimizer's.

flax's Optimizer has no type arguments, so its model and filter are in entries of its type, as with
States.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy.nodes import TypeInfo
from mypy.types import Instance, Type, get_proper_type

from typed_nnx_codegen.facts.assigned import value_of
from typed_nnx_codegen.facts.filter_syntax import read_filter
from typed_nnx_codegen.facts.filters import (
    FILTER,
    Everything,
    Filter,
    decode,
    describe,
    entries_of,
    has_unknown,
    of_class,
    with_entries,
)
from typed_nnx_codegen.facts.kinds import Kind, kind_of, short_name
from typed_nnx_codegen.facts.leaves import is_present, leaves_of
from typed_nnx_codegen.facts.states import StateView
from typed_nnx_mypy.call import Argument, Call
from typed_nnx_mypy.errorcodes import OPTIMIZER_WRT
from typed_nnx_mypy.models.bindings import view_at
from typed_nnx_mypy.models.fit import misfit, relation
from typed_nnx_mypy.models.surgery import is_new
from typed_nnx_mypy.registry import infers, on_call

_MODEL: Final = "__nnx_optimized__"


@dataclass(frozen=True)
class OptimizerView:
    """An Optimizer, with what is known of it.

    Attributes:
        model: The type of the model that it was made for.
        wrt: Which of its leaves it updates.
    """

    model: Instance
    wrt: Filter


def _optimizer_view(found: Type | None) -> OptimizerView | None:
    """Return what is known of an Optimizer; None where nothing is."""
    entries = entries_of(found)
    model = get_proper_type(entries.get(_MODEL))
    if not isinstance(model, Instance) or FILTER not in entries:
        return None
    return OptimizerView(model, decode(entries[FILTER]))


@infers("Optimizer", "ModelAndOptimizer")
def optimizer_knows_its_model(call: Call) -> Type | None:
    """Have the type of an Optimizer say which model and which `wrt` it is made with."""
    found, given = get_proper_type(call.result), call.argument("model", 0)
    if not isinstance(found, Instance) or given is None or call.has_stars:
        return None
    wrt = _wrt(call)
    if not isinstance(given.type, Instance) or kind_of(given.type) is not Kind.PYTREE:
        return None
    return None if wrt is None else with_entries(found, {_MODEL: given.type, FILTER: wrt})


def _wrt(call: Call) -> Filter | None:
    given = call.keyword("wrt")
    if given is None:
        symbol = call.checker.symbol(f"{call.runtime}.Param")
        is_default = call.name == "ModelAndOptimizer" and symbol is not None
        if symbol is None or not is_default or not isinstance(symbol.node, TypeInfo):
            return None
        return of_class(symbol.node)
    found = read_filter(given.expression, given.type, call.checker)
    return None if has_unknown(found) else found


@on_call("Optimizer", "ModelAndOptimizer")
def model_comes_first(call: Call) -> None:
    """Report a model in place of the transformation: optax may have no types."""
    given = call.argument("tx", 1)
    if given is None or call.has_stars or not isinstance(given.type, Instance):
        return
    is_model = kind_of(given.type) is Kind.PYTREE and given.type.type.get("update") is None
    if is_model and not call.checker.has_error(call.node):
        call.report(
            OPTIMIZER_WRT,
            f"{call.name}: `tx` is a {short_name(given.type)}; expected a transformation of optax. "
            f"Fix: nnx.{call.name}(model, tx, wrt=...)",
            given.expression,
        )


@on_call("Optimizer", "ModelAndOptimizer")
def wrt_chooses_something(call: Call) -> None:
    """Report a `wrt` that takes nothing of a model that has just been made."""
    given, wrt = call.argument("model", 0), _wrt(call)
    if given is None or wrt is None or call.has_stars:
        return
    if is_present(given.type, wrt, call.checker) is not False:
        return
    # What other code may have done to the model is looked for last: that reads the whole file.
    every = leaves_of(given.type, Everything(), call.checker).items
    is_trainable = any(kind_of(leaf.type) is Kind.VARIABLE for leaf in every)
    if is_trainable and is_new(given.expression, call.node, call.checker):
        call.report(
            OPTIMIZER_WRT,
            f"{call.name}: `wrt` chooses nothing of {short_name(given.type)}: none of its "
            f"Variables is of the filter `{describe(wrt)}`, and `update` would change nothing. "
            "Fix: name what is trained, wrt=nnx.Param",
        )


@on_call("Optimizer.update")
def gradients_are_of_model(call: Call) -> None:
    """Report a model or gradients that are not of what the Optimizer was made for."""
    view, given = _optimizer(call), call.positional
    if view is None or len(given) != 2 or not isinstance(given[0].type, Instance):
        return
    model, gradients = given
    if _is_model(call, view, model):
        _check_gradients(call, OptimizerView(given[0].type, view.wrt), gradients)


@on_call("ModelAndOptimizer.update")
def gradients_are_of_own_model(call: Call) -> None:
    """Report gradients that are not of the model that the Optimizer keeps."""
    view, given = _optimizer(call), call.positional
    if view is not None and len(given) == 1:
        _check_gradients(call, view, given[0])


def _optimizer(call: Call) -> OptimizerView | None:
    """Return what is known of the Optimizer whose method is called."""
    optimizer = call.subject()
    if optimizer is None or call.has_stars:
        return None
    made = value_of(optimizer.expression, call.checker)
    view = _optimizer_view(call.receiver)
    # Of an attribute of a class in another file it is not known what else it may be.
    if made is None or _optimizer_view(call.checker.known_type(made)) != view:
        return None
    return view


def _is_model(call: Call, view: OptimizerView, model: Argument) -> bool:
    """Report a model of another class; tell whether it may be of the right one."""
    if not isinstance(model.type, Instance) or kind_of(model.type) is not Kind.PYTREE:
        return False
    if relation(view.model, model.type) != "unrelated":
        return True
    theirs = StateView(model.type, model.type, view.wrt)
    found = misfit(call, view.model, view.wrt, [(model, theirs)])
    if found is not None:
        call.report(
            OPTIMIZER_WRT,
            f"{call.name}: the optimizer was made for {short_name(view.model)}; got "
            f"{short_name(model.type)}, {found}. Fix: give it the model that it was made for",
            model.expression,
        )
    return found is None


def _check_gradients(call: Call, view: OptimizerView, given: Argument) -> None:
    gradients = view_at(given.expression, given.type, call.checker)
    kinship = relation(view.model, gradients.model) if gradients is not None else None
    if gradients is None or kinship not in ("same", "unrelated"):
        return
    found = misfit(call, view.model, view.wrt, [(given, gradients)])
    if found is None:
        return
    wrt, model = describe(view.wrt), short_name(view.model)
    if kinship == "same":
        words = (
            f"the gradients are of the filter `{describe(gradients.filter)}`, {found}; expected "
            f"those of `wrt`, `{wrt}`. Fix: nnx.grad(loss, argnums=nnx.DiffState(0, {wrt}))"
        )
    else:
        words = (
            f"the gradients are of {short_name(gradients.model)}, {found}; expected those of "
            f"{model}. Fix: give it the gradients of its model"
        )
    call.report(OPTIMIZER_WRT, f"{call.name}: {words}", given.expression)
