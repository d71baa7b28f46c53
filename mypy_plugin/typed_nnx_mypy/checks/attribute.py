"""``nnx-attribute`` and ``nnx-variable-value``: what Variables, MultiMetrics, Dicts and Sequentials hold.

A Variable gives its metadata and what its value has as attributes, a MultiMetric its metrics, a Dict
its entries. So their classes have a ``__getattr__``, for which every name is one. What a new object is given has a
name where it is made: the type of the object carries these names to where it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mypy import nodes
from mypy.nodes import DictExpr, Expression, IndexExpr, MemberExpr
from mypy.subtypes import find_member
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    NoneType,
    ProperType,
    Type,
    TypeOfAny,
    get_proper_type,
)

from typed_nnx_codegen.facts.assigned import file_of, is_of_other
from typed_nnx_codegen.facts.early import attribute_type, only_target
from typed_nnx_codegen.facts.fields import entries_at
from typed_nnx_codegen.facts.filters import UNSAID, entries_of, with_entries
from typed_nnx_codegen.facts.kinds import (
    Kind,
    holds_array,
    holds_data,
    is_of_runtime,
    is_pytree,
    is_variable,
    kind_of,
    options,
    short_name,
    value_type,
)
from typed_nnx_codegen.facts.leaves import is_leaf, may_be_subclass, members_of, parts_in
from typed_nnx_codegen.facts.names import HOOKS, OWN_VARIABLE, VARIABLES, runtime_of
from typed_nnx_mypy.call import Call, StateAccess
from typed_nnx_mypy.errorcodes import ATTRIBUTE, CALL, VARIABLE_VALUE
from typed_nnx_mypy.models.bindings import may_be, view_at
from typed_nnx_mypy.models.surgery import may_be_other
from typed_nnx_mypy.registry import infers, infers_access, on_call
from typed_nnx_mypy.reporter import Reporter

# A key beside the names: where all of them are known.
_MADE: Final = "__made__"
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
    # An initializer with metadata brings it along.
    given = [e.type.type.name if isinstance(e.type, Instance) else "" for e in call.positional]
    is_open = not {"", "VariableMetadata"}.isdisjoint(given)
    if not is_variable(made.type) and call.receiver is None:
        is_open = call.expression is None or only_target(call.expression, call.checker) is None
    if call.has_stars or is_open:
        names.add(UNSAID)
    if call.receiver is None:
        names.add(_MADE)
    if is_variable(made.type):
        names |= file_of(call.checker).metadata
    unknown = AnyType(TypeOfAny.special_form)
    known = {name: named[name].type if name in named else unknown for name in sorted(names)}
    return with_entries(made, {**entries_of(made), **known})


@infers("Dict", "Sequential")
def entries_given(call: Call) -> Type | None:
    """Return the type of a new Dict with its entries, where its file surely adds no others.

    That of a Sequential has its layers, where it is all that an attribute ever is.
    """
    made, given = get_proper_type(call.result), {name: e.type for name, e in call.named.items()}
    written, checker, file = call.expression, call.checker, file_of(call.checker)
    if not isinstance(made, Instance) or written is None or call.has_stars:
        return None
    row = attribute_type(made, "layers")
    if row is not None and not isinstance(only_target(written, checker), MemberExpr):
        return None
    for at, each in enumerate(call.positional):
        if row is not None:
            given[str(at)] = each.type
            continue
        items = each.expression.items if isinstance(each.expression, DictExpr) else [(None, None)]
        for key, value in items:
            if not isinstance(key, nodes.StrExpr) or value is None:
                return None
            given[key.value] = checker.type_of(value)
    owners = (each.owner for values in file.of_attribute.values() for each in values)
    changed = [*file.changed, *(each.expr for each in owners if each is not None and row is None)]
    classes = {each.type for each in (made, row) if isinstance(each, Instance)}
    if any(may_be(e, lambda of: not classes.isdisjoint(of.type.mro), checker) for e in changed):
        return None
    if not isinstance(row, Instance):
        return with_entries(made, given)
    return with_entries(made, {"layers": with_entries(row, given)})


@infers("Sequential.__call__", "MultiMetric.compute")
def result_of_given(call: Call) -> Type | None:
    """Return what the last layer of a Sequential returns, and what metrics compute if it is one type."""
    given, result = _given(call), get_proper_type(call.result)
    if "layers" in given and not isinstance(result, Instance):
        layers = entries_of(given["layers"])
        return _returned("__call__", layers[str(len(layers) - 1)]) if layers else None
    values = {_returned("compute", each) for name, each in given.items() if name != _MADE}
    if len(values) != 1 or not isinstance(result, Instance) or (value := values.pop()) is None:
        return None
    return Instance(result.type, [result.args[0], value])


def _given(call: Call) -> Mapping[str, Type]:
    callee = call.expression.callee if call.expression is not None else None
    if isinstance(callee, MemberExpr) and not call.name.endswith("__call__"):
        callee = callee.expr
    return entries_at(callee, call.receiver, call.checker)


def _returned(method: str, found: Type) -> Type | None:
    """Return the type that a method of an object returns; for a function, its own."""
    function = _method(found, method)
    return function.ret_type if function is not None and not function.variables else None


def _method(found: Type, name: str) -> CallableType | None:
    of = get_proper_type(found)
    method = get_proper_type(find_member(name, of, of)) if isinstance(of, Instance) else of
    return method if isinstance(method, CallableType) else None


@infers_access
def entry_exists(access: StateAccess) -> Type | None:
    """Return the type of an entry of a Dict, or of a layer; report an entry that a Dict surely has not."""
    node, key, checker = access.node, access.key, access.checker
    found, given = access.receiver, entries_at(access.base, access.receiver, checker)
    if isinstance(key, int):
        given = entries_of(given.get("layers", found))
        return given.get(str(key if key >= 0 else len(given) + key))
    if kind_of(found) is Kind.PYTREE and key == "layers":
        return given.get(key)
    if kind_of(found) is not Kind.DICT or not given or not isinstance(key, str):
        return None
    if access.is_lvalue or key in given:
        return given.get(key)
    file, base = file_of(checker), access.base
    owner = checker.known_type(base.expr) if isinstance(base, MemberExpr) else None
    is_own = isinstance(owner, Instance) and getattr(base, "name", "") in owner.type.names
    if (
        not is_own
        or file.computed
        or key in file.keywords | file.keys.keys() | file.of_attribute.keys()
    ):
        return None
    if not checker.is_expected_to_fail(node):
        names = ", ".join(f"`{each}`" for each in given)
        said = f"Dict: it has no entry `{key}`; its entries are {names}. Fix: one of these"
        access.report(ATTRIBUTE, said)
    return None


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


@on_call("MultiMetric.update")
def metrics_get_what_they_ask_for(call: Call) -> None:
    """Report what a metric must be given by name and is not, which raises."""
    if call.has_stars or call.checker.is_expected_to_fail(call.node):
        return
    for name, metric in _given(call).items():
        update = _method(metric, "update")
        rows = zip(update.arg_names, update.arg_kinds, strict=True) if update is not None else ()
        missing = [f"`{e}`" for e, kind in rows if kind.is_required() and e not in call.named]
        if missing:
            listed = ", ".join(missing)
            call.report(CALL, f"MultiMetric.update: `{name}` needs {listed}. Fix: give all by name")


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
    name, given = node.name, entries_at(node.expr, found, checker)
    if name in given and not is_variable(found.type):
        return given[name]
    is_made = _MADE in given or _is_of_layer(node.expr, checker)
    if not is_made or name in given or UNSAID in given or name.startswith("_"):
        return None
    if access.is_lvalue or _has(found, name) or checker.is_expected_to_fail(node):
        return None
    file = file_of(checker)
    set_here = (each.owner for each in file.of_attribute.get(name, ()) if each.owner is not None)
    if name in file.texts or not all(is_of_other(owner, found) for owner in set_here):
        return None
    if is_variable(found.type):
        if name in file.keywords:
            return None  # given later
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


@on_call("Module.set_attributes", "with_attributes", "view")
def attributes_to_set_exist(call: Call) -> None:
    """Report an attribute, or an argument of ``set_view``, that surely no Module of an object has."""
    written, checker, subject = call.expression, call.checker, call.subject()
    model = subject.type if subject is not None else None
    if written is None or call.has_stars or not isinstance(model, Instance):
        return
    if "raise_if_not_found" in written.arg_names or checker.is_expected_to_fail(written):
        return
    is_view = call.name == "view"
    for name in sorted(call.named.keys() - {"graph", "node", "only"}):
        if any(_may_have(e, name, checker, is_view=is_view) for e in parts_in(model, checker)):
            continue
        if is_view or not may_be_other([name], [model], written, checker):
            call.report(
                ATTRIBUTE,
                f"{call.name}: neither {short_name(model)} nor a Module below it has an "
                f"{'argument of set_view' if is_view else 'attribute'} `{name}`. "
                "Fix: check the spelling, or raise_if_not_found=False",
            )


def _may_have(found: ProperType | None, name: str, checker: Reporter, *, is_view: bool) -> bool:
    """Tell whether an object may have an attribute, or take it in ``set_view``."""
    if found is None or is_leaf(found) or holds_data(found) is False:
        return found is None
    members = members_of(found, checker)
    if members is None or members.is_open or not isinstance(found, Instance):
        return True
    return may_be_subclass(found.type, checker) or _takes(found, name, is_view)


def _takes(found: Instance, name: str, is_view: bool) -> bool:
    if not is_view:
        return found.type.get(name) is not None
    method = get_proper_type(find_member("set_view", found, found))
    if not isinstance(method, CallableType):
        return method is not None
    return name in method.arg_names or method.is_kw_arg


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


# -- nnx-variable-value -----------------------------------------------------------------------

_NO_ARRAYS: Final = frozenset(
    f"builtins.{name}" for name in ("bytes", "dict", "frozenset", "set", "str")
)
# A class of Variables with one of them may take other values.
_SETTERS: Final = ("__setitem__", "on_set_value", "set_value")


@on_call("Variable.__setitem__")
def value_can_be_an_array(call: Call) -> None:
    """Report ``variable[...] = value`` where the Variable holds an array, which the value is not."""
    given, receiver = call.formals(1), get_proper_type(call.receiver)
    if len(given) != 1 or not isinstance(receiver, Instance) or not holds_array(receiver):
        return
    if not all(is_of_runtime(receiver.type, name) for name in _SETTERS):
        return
    if _is_no_array(given[0].type) and not call.checker.is_expected_to_fail(call.node):
        call.report(
            VARIABLE_VALUE,
            f"{short_name(receiver)}: got {_text(given[0].type)}; expected an array or numbers. "
            "Fix: jnp.asarray(...), or a new Variable",
            given[0].expression,
        )


def _is_no_array(found: ProperType) -> bool:
    match found:
        case Instance():
            return found.type.fullname in _NO_ARRAYS
        case CallableType():
            return not found.is_type_obj()
        case _:
            return isinstance(found, NoneType)


def _text(found: ProperType) -> str:
    match found:
        case Instance():
            return short_name(found)
        case NoneType():
            return "None"
        case _:
            return "a function"
