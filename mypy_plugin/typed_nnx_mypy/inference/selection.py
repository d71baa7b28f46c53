"""The types of what `split`, `state`, `pop` and the methods of State select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy import types
from mypy.nodes import (
    ArgKind,
    AssignmentStmt,
    CallExpr,
    Expression,
    LambdaExpr,
    MemberExpr,
    NameExpr,
    RefExpr,
    Var,
)
from mypy.subtypes import is_same_type
from mypy.typeops import make_simplified_union
from mypy.types import AnyType, CallableType, Instance, ProperType, TupleType, Type, get_proper_type

from typed_nnx_codegen.facts.assigned import assigned_once
from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.filter_syntax import CLASSES, read_call
from typed_nnx_codegen.facts.filters import (
    FILTER,
    Everything,
    Filter,
    all_of,
    any_of,
    has_unknown,
    in_order,
    narrowed,
    with_entries,
)
from typed_nnx_codegen.facts.kinds import Kind, is_base_class, kind_of, options
from typed_nnx_codegen.facts.leaves import leaves_of, members_of
from typed_nnx_codegen.facts.names import is_named
from typed_nnx_codegen.facts.states import StateView, declared_view_of, is_state, state_of, view_of
from typed_nnx_mypy.call import Argument, Call, filters_of
from typed_nnx_mypy.models.bindings import at_home, view_at
from typed_nnx_mypy.registry import infers
from typed_nnx_mypy.syntax.uses import function_of_statement

# -- filters ----------------------------------------------------------------------------------


@infers(*CLASSES)
def filter_object(call: Call) -> Type | None:
    """Have the type of a filter object say which filter it is."""
    found = get_proper_type(call.result)
    if call.expression is None or not isinstance(found, Instance):
        return None
    of = read_call(call.expression, found, call.checker)
    return None if has_unknown(of) else with_entries(found, {FILTER: of})


# -- functions over models --------------------------------------------------------------------


@infers("split", "state", "pop")
def selected(call: Call) -> Type | None:
    """Return what `split`, `state` and `pop` give: one State for each filter."""
    node = call.subject()
    if node is None or call.has_stars:
        return None
    taken = in_order(filters_of(call.behind(node), call.checker)) or [Everything()]
    model = node.type if _is_model(node.type, call) else None
    states = None if model is None else [(model, each) for each in taken]
    found = _with_states(call.result, len(taken), states)
    if call.name == "split" and isinstance(node.type, types.TypeVarType):
        return _of_variable(get_proper_type(call.result), node.type)
    return at_home(found, call.expression, call.checker)


def _of_variable(found: ProperType, model: types.TypeVarType) -> Type | None:
    """Return what `split` gives with a GraphDef of a type variable, which mypy takes for its bound."""
    first = get_proper_type(found.items[0]) if isinstance(found, TupleType) else None
    if not isinstance(found, TupleType) or not isinstance(first, Instance) or not first.args:
        return None
    items = [Instance(first.type, [model]), *found.items[1:]]
    return TupleType(items, found.partial_fallback)


def _is_model(found: ProperType, call: Call) -> bool:
    """Tell whether a type has States whose keys the plugin can know."""
    parts, _ = options(found)
    return bool(parts) and all(
        not isinstance(each, types.TypeVarType) and members_of(each, call.checker) is not None
        for each in parts
    )


def _with_states(
    result: Type, count: int, states: Sequence[tuple[ProperType, Filter]] | None
) -> Type | None:
    """Return the type of a result with `count` States, of which all is known that can be.

    Args:
      result: The type by the signature: a State, a tuple of States, or one behind a GraphDef.
      count: How many States it has.
      states: The models and filters of the States, where they are known.
    """
    found = get_proper_type(result)
    if isinstance(found, Instance) and is_state(found.type) and count == 1:
        return _state(found, states[0]) if states is not None else _bare(found)
    items = _items(found, count)
    if items is None or not isinstance(found, TupleType | Instance):
        return None
    for position in range(count):
        at = len(items) - count + position
        item = get_proper_type(items[at])
        if isinstance(item, Instance) and is_state(item.type):
            items[at] = _state(item, states[position]) if states is not None else _bare(item)
    fallback = found.partial_fallback if isinstance(found, TupleType) else found
    return TupleType(items, fallback)


def _state(like: Instance, state: tuple[ProperType, Filter]) -> Instance:
    """Return the type of a State; one with a name of its own knows its fields already."""
    declared = declared_view_of(like)
    # Where mypy has reported an argument, the signature has the model that was expected.
    is_expected = declared is None or is_same_type(declared.model, state[0])
    if like.type.name != "State":
        return like
    return state_of(like, *state) if is_expected else _bare(like)


def _bare(like: Instance) -> Instance:
    """Return the type of a State without what it has from the variable that it is assigned to."""
    return Instance(like.type, like.args)


def _items(found: ProperType, count: int) -> list[Type] | None:
    """Return the items of a tuple type that ends with `count` States."""
    if isinstance(found, Instance) and found.type.fullname == "builtins.tuple":
        return [found.args[0]] * count
    if not isinstance(found, TupleType):
        return None
    items: list[Type] = []
    for each in found.items:
        each_proper = get_proper_type(each)
        if isinstance(each_proper, types.UnpackType):
            rest = get_proper_type(each_proper.type)
            if not isinstance(rest, Instance):
                return None
            # Behind a GraphDef, so one more item than there are States.
            items.extend([rest.args[0]] * (count + 1 - len(items)))
        else:
            items.append(each)
    return items if len(items) >= count else None


# -- States -----------------------------------------------------------------------------------


@infers("State.split", "State.filter", "split_state", "filter_state")
def parts_of_state(call: Call) -> Type | None:
    """Return the parts of a State, which are of the model that it is of."""
    state = call.subject("state")
    given = call.behind(state)
    view = _view_of(state, call)
    if view is None or call.has_stars or not given:
        return None
    taken = in_order(filters_of(given, call.checker))
    states = [(view.model, all_of((view.filter, each))) for each in taken]
    result = call.result
    if isinstance(get_proper_type(result), AnyType):  # too many filters for the signature
        row = call.checker.instance("builtins.tuple", [view.instance])
        result = row if row is not None else result
    found = _with_states(result, len(taken), states)
    return at_home(found, call.expression, call.checker)


def _view_of(state: Argument | None, call: Call) -> StateView | None:
    return view_at(state.expression, state.type, call.checker) if state is not None else None


@infers("merge_state", "State.merge")
def together(call: Call) -> Type | None:
    """Return the State that several States of one model make."""
    given = call.positional
    if not given or call.has_stars or call.keyword("cls") is not None:
        return None
    views = [_view_of(each, call) for each in given]
    first = views[0]
    known = [each for each in views if each is not None and first is not None]
    if first is None or len(known) < len(views):
        return None
    if any(each.model != first.model for each in known):
        return None
    found = get_proper_type(call.result)
    like = found if isinstance(found, Instance) and is_state(found.type) else first.instance
    state = _state(like, (first.model, any_of(each.filter for each in known)))
    return at_home(state, call.expression, call.checker)


@infers("jax.tree.map", "map_state", "State.map")
def mapped(call: Call) -> Type | None:
    """Return the State of the results of a function: its keys stay, its values are others.

    A Pytree of which a function makes arrays stays what it is.
    """
    if call.keyword("is_leaf") is not None:
        return None
    name = "state" if call.name == "map_state" else "tree"
    tree = _first_of_row(call) if call.has_stars else call.subject(name, 1)
    view, found = _view_of(tree, call), get_proper_type(call.result)
    if tree is not None and isinstance(found, AnyType) and kind_of(tree.type) is Kind.PYTREE:
        made = _results(call)
        return tree.type if made is not None and kind_of(made) is Kind.ARRAY else None
    if view is None or not isinstance(found, AnyType | Instance):
        return None
    like = found if isinstance(found, Instance) else view.instance
    if not is_state(like.type) or like.type.name != "State":
        return None
    # jax puts the results into Variables of the same kinds; the other functions return the leaves.
    is_of_values = call.name == "jax.tree.map"
    values = (_results(call) if is_of_values else None) or AnyType(types.TypeOfAny.special_form)
    is_pure = view.is_pure or not is_of_values
    state = state_of(like, view.model, view.filter, values=values, is_pure=is_pure)
    return at_home(state, call.expression, call.checker)


def _first_of_row(call: Call) -> Argument | None:
    """Return the first tree of ``jax.tree.map(f, *states)``."""
    written = call.expression
    if written is None or written.arg_kinds != [ArgKind.ARG_POS, ArgKind.ARG_STAR]:
        return None
    row = call.checker.type_of(written.args[1])
    items = (
        row.items if isinstance(row, TupleType) else row.args if isinstance(row, Instance) else ()
    )
    kinds = {get_proper_type(each) for each in items}
    return (
        Argument(written.args[1], kinds.pop(), ArgKind.ARG_POS, None) if len(kinds) == 1 else None
    )


@infers("jax.block_until_ready", "jax.device_put", "jax.lax.with_sharding_constraint")
def placed(call: Call) -> Type | None:
    """Return the State or the Pytree that a function of jax puts elsewhere: it stays what it is."""
    tree, result = call.argument("x", 0), get_proper_type(call.result)
    if tree is None or call.has_stars or not isinstance(result, AnyType):
        return None
    if view_at(tree.expression, tree.type, call.checker) is not None:
        return at_home(tree.type, call.expression, call.checker)
    return tree.type if kind_of(tree.type) is Kind.PYTREE else None


def _results(call: Call) -> ProperType | None:
    """Return the type of what a function makes of arrays; None where that is not known."""
    given, array = call.argument("f", 0), call.checker.instance("jax.Array")
    found = given.type if given is not None else None
    if isinstance(found, Instance):
        symbol = found.type.get_method("__call__")
        found = get_proper_type(symbol.type) if symbol is not None else None
    if isinstance(found, types.Overloaded):
        found = found.items[0]
    if given is None or not isinstance(found, CallableType):
        return None
    if isinstance(given.expression, LambdaExpr) and array is not None:
        arrays: list[Type] = [array] * len(found.arg_types)
        takes = CallableType(
            arrays, found.arg_kinds, found.arg_names, found.ret_type, found.fallback
        )
        found = call.checker.type_as(given.expression, takes)
    result = get_proper_type(found.ret_type) if isinstance(found, CallableType) else None
    return result if isinstance(result, Instance) else None


@infers("as_pure", "pure")
def pure(call: Call) -> Type | None:
    """Return a State of values, without the Variables around them."""
    view = _view_of(call.subject(), call)
    if view is None or view.instance.type.name != "State":
        return None
    state = state_of(view.instance, view.model, view.filter, values=view.values, is_pure=True)
    return at_home(state, call.expression, call.checker)


@infers("to_flat_state")
def leaves_in_a_row(call: Call) -> Type | None:
    """Return the leaves of a State with their paths: all of its leaves are of a few types."""
    view, found = _view_of(call.subject("state"), call), get_proper_type(call.result)
    if view is None or view.values is not None or view.is_pure or not isinstance(found, Instance):
        return None
    known = leaves_of(view.model, view.filter, call.checker)
    items = [narrowed(view.filter, each.type) for each in known.items if each.passes is not False]
    if not known.is_complete or not items or found.type.name != "FlatState":
        return None
    return Instance(found.type, [make_simplified_union(items)])


@infers("State.__iter__", "to_pure_dict")
def keys(call: Call) -> Type | None:
    """Return the keys of a State: texts, but numbers in that of a list; it is not its values."""
    found, state = get_proper_type(call.result), call.receiver
    view = view_of(state) if state is not None else _view_of(call.subject("state"), call)
    members = members_of(view.model, call.checker) if view is not None else None
    if members is None or not isinstance(found, Instance) or not found.args:
        return None
    names = {type(key).__name__ for key in members.fields}
    if members.other is not None:
        names.add(members.other_key.__name__)
    key = call.checker.instance(f"builtins.{names.pop()}") if len(names) == 1 else None
    is_known = not isinstance(get_proper_type(found.args[0]), AnyType)
    return None if key is None or is_known else Instance(found.type, [key, *found.args[1:]])


# -- GraphDefs --------------------------------------------------------------------------------

_METHODS: Final = ("apply", "merge")


@infers("graphdef")
def graphdef_of_model(call: Call) -> Type | None:
    """Return a GraphDef of the model, as that of `split` is, where flax says ``GraphDef[Any]``.

    GraphDefs of two classes do not fit each other for mypy. So this is done only where the result
    goes nowhere but into `merge`; code that mypy takes today must stay right.
    """
    node = call.argument("node", 0)
    found = get_proper_type(call.result)
    if node is None or call.expression is None or not isinstance(found, Instance):
        return None
    if len(found.args) != 1 or not isinstance(get_proper_type(found.args[0]), AnyType):
        return None
    if kind_of(node.type) not in (Kind.PYTREE, Kind.LIST, Kind.DICT):
        return None
    if isinstance(node.type, Instance) and is_base_class(node.type.type):
        return None
    if not _is_only_merged(call.expression, call.checker):
        return None
    return Instance(found.type, [node.type])


def _is_only_merged(graphdef: CallExpr, checker: Checker) -> bool:
    """Tell whether a GraphDef is merged where it is made, or by its local name and nothing else."""
    if _is_merged(graphdef, checker):
        return True
    match checker.parent(graphdef):
        case AssignmentStmt(lvalues=[NameExpr(node=Var() as variable) as target]) as statement:
            pass
        case _:
            return False
    function = function_of_statement(statement, checker)
    if function is None or not target.is_inferred_def:
        return False
    if assigned_once(variable, checker) is not graphdef:
        return False
    return all(
        _is_merged(each, checker)
        for each in checker.syntax.nodes
        if isinstance(each, NameExpr) and each.node is variable and each is not target
    )


def _is_merged(graphdef: Expression, checker: Checker) -> bool:
    match checker.parent(graphdef):
        case CallExpr(callee=RefExpr(fullname=fullname), args=[first, *_]) if first is graphdef:
            return is_named(fullname, "merge")
        case MemberExpr(name=method):
            return method in _METHODS
        case _:
            return False
