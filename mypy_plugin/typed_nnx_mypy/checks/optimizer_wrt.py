"""``nnx-optimizer-wrt``: gradients of another filter or model than the Optimizer's.

flax's Optimizer has no type arguments, so its model and filter are in entries of its type, as with
States.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mypy.nodes import MemberExpr, TypeInfo
from mypy.types import Instance, Type, get_proper_type

from typed_nnx_mypy.call import Argument, Call
from typed_nnx_mypy.errorcodes import OPTIMIZER_WRT
from typed_nnx_mypy.models.bindings import view_at
from typed_nnx_mypy.models.filter_encoding import (
    FILTER,
    decode,
    entries_of,
    with_entries,
)
from typed_nnx_mypy.models.filter_syntax import read_filter
from typed_nnx_mypy.models.filters import Filter, all_of, describe, has_unknown, of_class
from typed_nnx_mypy.models.fit import (
    in_words,
    missing,
    relation,
    subclass_may_hold,
    unknown_to,
    wait_for,
)
from typed_nnx_mypy.models.kinds import Kind, kind_of, short_name
from typed_nnx_mypy.models.states import StateView
from typed_nnx_mypy.registry import infers, on_call
from typed_nnx_mypy.syntax.assigned import is_changed_in_place, value_of

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
    """Report a model in the place of the transformation: optax may have no types."""
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
    node = call.expression
    if node is None or call.has_stars or not isinstance(node.callee, MemberExpr):
        return None
    made = value_of(node.callee.expr, call.checker)
    view = _optimizer_view(call.receiver)
    # Of an attribute of a class in another file it is not known what else it may be.
    if made is None or _optimizer_view(call.checker.known_type(made)) != view:
        return None
    return view


def _is_model(call: Call, view: OptimizerView, model: Argument) -> bool:
    """Report a model of another class; tell whether it is of the right one, as far as is known."""
    if not isinstance(model.type, Instance) or kind_of(model.type) is not Kind.PYTREE:
        return False
    if relation(view.model, model.type) != "unrelated":
        return True
    if wait_for([view.model, model.type], call.checker):
        return False
    theirs = StateView(model.type, model.type, view.wrt)
    gone = missing(view.model, view.wrt, [theirs], call.checker)
    extra, _ = unknown_to(view.model, theirs, call.checker)
    if subclass_may_hold(model.type, gone, call.checker) or subclass_may_hold(
        view.model, [] if gone else extra, call.checker
    ):
        return False
    if (gone or extra) and not call.checker.is_expected_to_fail(call.node):
        which = f"has no {in_words(gone)}" if gone else f"has {in_words(extra)} too many"
        call.report(
            OPTIMIZER_WRT,
            f"{call.name}: the optimizer was made for {short_name(view.model)}; got "
            f"{short_name(model.type)}, which {which}. Fix: give it the model that it was made for",
            model.expression,
        )
        return False
    return True


def _check_gradients(call: Call, view: OptimizerView, given: Argument) -> None:
    gradients = view_at(given.expression, given.type, call.checker)
    if gradients is None or wait_for([view.model, gradients.model], call.checker):
        return
    kinship = relation(view.model, gradients.model)
    if kinship == "same":
        words = _other_filter(call, view, gradients)
    elif kinship == "unrelated":
        words = _other_model(call, view, gradients)
    else:
        return
    is_meant = is_changed_in_place(
        given.expression, call.checker
    ) or call.checker.is_expected_to_fail(call.node)
    if words and not is_meant:
        call.report(OPTIMIZER_WRT, f"{call.name}: {words}", given.expression)


def _other_filter(call: Call, view: OptimizerView, gradients: StateView) -> str:
    gone = missing(view.model, view.wrt, [gradients], call.checker)
    wrt = describe(view.wrt)
    if not gone:
        return ""
    return (
        f"the gradients are of the filter `{describe(gradients.filter)}`, without {in_words(gone)};"
        f" expected those of `wrt`, `{wrt}`. "
        f"Fix: nnx.grad(loss, argnums=nnx.DiffState(0, {wrt}))"
    )


def _other_model(call: Call, view: OptimizerView, gradients: StateView) -> str:
    asked = all_of([gradients.filter, view.wrt])
    theirs = StateView(gradients.instance, gradients.model, asked)
    extra, _ = unknown_to(view.model, theirs, call.checker)
    gone = [] if extra else missing(view.model, view.wrt, [gradients], call.checker)
    if not (extra or gone) or (
        subclass_may_hold(view.model, extra, call.checker)
        or subclass_may_hold(gradients.model, gone, call.checker)
    ):
        return ""
    wrong = f"with {in_words(extra)} too many" if extra else f"without {in_words(gone)}"
    return (
        f"the gradients are of {short_name(gradients.model)}, {wrong}; expected those of "
        f"{short_name(view.model)}. Fix: give it the gradients of its model"
    )
