"""``nnx-attribute``: attributes that a Variable, a `MultiMetric` or a `Dict` does not have.

A Variable gives its metadata and what its value has as attributes, a MultiMetric its metrics, a Dict
its entries. So their classes have a ``__getattr__``, for which every name is one. What a new object is given has a
name where it is made: the type of the object carries these names to where it is read.
"""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import DictExpr, Expression, IndexExpr, MemberExpr
from mypy.types import AnyType, Instance, ProperType, Type, TypeOfAny, get_proper_type

from typed_nnx_codegen.facts.assigned import file_of, is_of_other, value_of
from typed_nnx_codegen.facts.filters import entries_of, with_entries
from typed_nnx_codegen.facts.kinds import (
    Kind,
    holds_array,
    holds_data,
    is_pytree,
    is_variable,
    kind_of,
    options,
    short_name,
    value_type,
)
from typed_nnx_codegen.facts.leaves import is_leaf, may_be_subclass, members_of
from typed_nnx_codegen.facts.names import HOOKS, OWN_VARIABLE, VARIABLES, runtime_of
from typed_nnx_mypy.call import Call, StateAccess
from typed_nnx_mypy.errorcodes import ATTRIBUTE
from typed_nnx_mypy.models.bindings import may_be, view_at
from typed_nnx_mypy.models.surgery import may_be_other
from typed_nnx_mypy.registry import infers, infers_access, on_call
from typed_nnx_mypy.reporter import Reporter

# Keys beside the names: where all of them are known, and where they are not.
_MADE: Final = "__made__"
_UNKNOWN: Final = "**"
# Metadata that functions of the runtimes give, and what arrays have and the stubs of jax do not say.
_ANYWHERE: Final = frozenset(
    {"eager_sharding", "hijax", "mesh", "out_sharding", "ref", "sharding_names", "sharding_rules"}
    | {*HOOKS, "clone", "is_ready"}
)


@infers(
    "MultiMetric",
    OWN_VARIABLE,
    *VARIABLES,
    "Variable.copy",
    "Variable.replace",
    "Variable.to_state",
)
def names_given(call: Call) -> Type | None:
    """Return the type of a new object with the names of what it is given."""
    made, written = get_proper_type(call.result), call.expression
    if not isinstance(made, Instance) or written is None:
        return None
    if not is_variable(made.type) and made.type.name != "MultiMetric":
        return None  # what the daemon knew as a Variable before an edit
    named = call.named
    names = {*named}
    if call.has_stars or any(_may_carry(each.type) for each in call.positional):
        names.add(_UNKNOWN)
    if call.receiver is None:
        names.add(_MADE)
    if is_variable(made.type):
        names |= file_of(call.checker).metadata
    unknown = AnyType(TypeOfAny.special_form)
    given = {name: named[name].type if name in named else unknown for name in sorted(names)}
    return with_entries(made, {**entries_of(made), **given})


@infers("Dict")
def entries_given(call: Call) -> Type | None:
    """Return the type of a new Dict with its entries, where its file surely adds no others."""
    made, given = get_proper_type(call.result), {name: e.type for name, e in call.named.items()}
    if not isinstance(made, Instance) or call.expression is None or call.has_stars:
        return None
    for each in call.positional:
        items = each.expression.items if isinstance(each.expression, DictExpr) else [(None, None)]
        for key, value in items:
            if not isinstance(key, nodes.StrExpr) or value is None:
                return None
            given[key.value] = call.checker.type_of(value)
    file = file_of(call.checker)
    owners = (each.owner for values in file.of_attribute.values() for each in values)
    changed = [*file.changed, *(each.expr for each in owners if each is not None)]
    if any(may_be(e, lambda of: kind_of(of) is Kind.DICT, call.checker) for e in changed):
        return None
    return with_entries(made, given)


@infers_access
def entry_exists(access: StateAccess) -> Type | None:
    """Return the type of an entry of a Dict; report one that it surely has not."""
    node, key, checker = access.node, access.key, access.checker
    found, given = access.receiver, entries_of(access.receiver)
    if kind_of(found) is not Kind.DICT or not given or not isinstance(key, str):
        return None
    if access.is_lvalue or key in given:
        return given.get(key)
    file, base = file_of(checker), access.base
    owner = checker.known_type(base.expr) if isinstance(base, MemberExpr) else None
    is_own = isinstance(owner, Instance) and getattr(base, "name", "") in owner.type.names
    if not is_own or file.computed or key in file.keys | file.keywords | file.of_attribute.keys():
        return None
    if not checker.is_expected_to_fail(node):
        names = ", ".join(f"`{each}`" for each in given)
        said = f"Dict: it has no entry `{key}`; its entries are {names}. Fix: one of these"
        access.report(ATTRIBUTE, said)
    return None


def _may_carry(value: ProperType) -> bool:
    """Tell whether a value may bring metadata along, as an initializer with metadata does."""
    return not isinstance(value, Instance) or value.type.name == "VariableMetadata"


@on_call("MultiMetric")
def metric_names_are_free(call: Call) -> None:
    """Report a metric that has the name of a method, which raises."""
    made = get_proper_type(call.result)
    for name, given in call.named.items():
        member = made.type.get(name) if isinstance(made, Instance) else None
        node = member.node if member is not None else None
        if isinstance(node, nodes.FuncDef) and runtime_of(node.fullname):
            call.report(
                ATTRIBUTE,
                f"MultiMetric: `{name}` is a method of it, and no name for a metric. "
                f"Fix: another name, {name}_metric=...",
                given.expression,
            )


@on_call("Variable.__call__")
def array_is_not_called(call: Call) -> None:
    """Report ``variable(x)`` where the Variable holds an array: it calls its value."""
    receiver = get_proper_type(call.receiver)
    if not isinstance(receiver, Instance) or not holds_array(receiver):
        return
    if not call.checker.is_expected_to_fail(call.node):
        said = f"{short_name(receiver)}: its array cannot be called"
        call.report(ATTRIBUTE, f"{said}. Fix: variable[...] for the array, or call a layer")


@infers_access
def attribute_exists(access: StateAccess) -> Type | None:
    """Return the type of a metric; report what an object surely has not."""
    node, checker, parts = access.node, access.checker, options(access.receiver)[0]
    found = parts[0] if len(parts) == 1 else None
    if not isinstance(node, MemberExpr) or not isinstance(found, Instance):
        return None
    if not is_variable(found.type) and found.type.name != "MultiMetric":
        return None  # a State
    name, given = node.name, entries_of(found)
    if name in given and not is_variable(found.type):
        return given[name]
    is_made = _MADE in given or _is_of_layer(node.expr, checker)
    if not is_made or name in given or _UNKNOWN in given or name.startswith("_"):
        return None
    if access.is_lvalue or _has(found, name) or checker.is_expected_to_fail(node):
        return None
    file = file_of(checker)
    set_here = (each.owner for each in file.of_attribute.get(name, ()) if each.owner is not None)
    if name in file.texts or not all(is_of_other(owner, found) for owner in set_here):
        return None
    if name in file.keywords and (is_variable(found.type) or value_of(node.expr, checker) is None):
        return None  # given later, or by another assignment
    if is_variable(found.type):
        said = f"neither it nor its array has `{name}`. Fix: another name, or {{}}(..., {name}=...)"
    else:
        metrics = ", ".join(f"`{each}`" for each in sorted({*given} - {_MADE})) or "none"
        said = (
            f"it has no method and no metric `{name}`; its metrics are {metrics}. "
            f"Fix: one of these, or {{}}({name}=...)"
        )
    kind = short_name(found)
    written = f"nnx.{kind}" if runtime_of(found.type.fullname) else kind
    access.report(ATTRIBUTE, f"{kind}: {said.format(written)}")
    return None


@on_call("Module.set_attributes")
def attributes_to_set_exist(call: Call) -> None:
    """Report an attribute that surely no Module below the object has, which raises."""
    written, checker = call.expression, call.checker
    model = get_proper_type(call.receiver)
    if written is None or call.has_stars or not isinstance(model, Instance):
        return
    if "raise_if_not_found" in written.arg_names or checker.is_expected_to_fail(written):
        return
    for name in call.named:
        is_known = name in ("graph",) or _may_be_below(model, name, checker, set())
        if not is_known and not may_be_other([name], [model], written, checker):
            call.report(
                ATTRIBUTE,
                f"set_attributes: neither {short_name(model)} nor a Module below it has an "
                f"attribute `{name}`. Fix: check the spelling, or raise_if_not_found=False",
            )


def _may_be_below(found: Type, name: str, checker: Reporter, seen: set[ProperType]) -> bool:
    """Tell whether an object, or a Module below it, may have an attribute."""
    parts, _ = options(found)
    for part in parts:
        if part in seen or is_leaf(part) or holds_data(part) is False:
            continue
        seen.add(part)
        members = members_of(part, checker)
        if members is None or not isinstance(part, Instance) or part.type.get(name) is not None:
            return True
        if members.is_open or may_be_subclass(part.type, checker):
            return True
        held = [each.type for each in members.fields.values() if each.status != "static"]
        held += [members.other.type] if members.other is not None else []
        if any(_may_be_below(each, name, checker, seen) for each in held):
            return True
    return not parts


def _is_of_layer(expression: Expression, checker: Reporter) -> bool:
    """Tell whether an expression is an attribute that a layer of a runtime has, or one of its State."""
    match expression:
        case (
            MemberExpr(expr=base, name=name) | IndexExpr(base=base, index=nodes.StrExpr(value=name))
        ):
            owner = checker.known_type(base)
        case _:
            return False
    view = view_at(base, owner, checker) if owner is not None else None
    owner = view.model if view is not None else owner
    if not isinstance(owner, Instance):
        return False
    defined = owner.type.get_containing_type_info(name)
    return defined is not None and is_pytree(defined) and bool(runtime_of(defined.fullname))


def _has(found: Instance, name: str) -> bool:
    """Tell whether an object, or the array that it holds, may have an attribute."""
    if found.type.get(name) is not None or found.type.fallback_to_any:
        return True
    if not is_variable(found.type):
        return not runtime_of(found.type.fullname)
    value = value_type(found)
    if not isinstance(value, Instance) or not holds_array(found):
        return True
    return value.type.get(name) is not None or name in _ANYWHERE
