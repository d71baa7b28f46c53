"""What a file does to models after they are made, so that they may have other attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mypy import nodes, types
from mypy.nodes import CallExpr, Expression, MemberExpr, NameExpr, Node, TypeInfo
from mypy.types import AnyType, CallableType, Instance, ProperType, Type, TypeVarType

from typed_nnx_codegen.facts.assigned import assigned_once, file_of, value_of
from typed_nnx_codegen.facts.early import depend_on_origin, early_type
from typed_nnx_codegen.facts.fields import model_of
from typed_nnx_codegen.facts.filter_syntax import read_filter
from typed_nnx_codegen.facts.filters import passes
from typed_nnx_codegen.facts.kinds import Kind, is_base_class, kind_of, options, short_name
from typed_nnx_codegen.facts.leaves import parts_in
from typed_nnx_codegen.facts.targets import is_same_target, is_self, single_targets
from typed_nnx_mypy.reporter import Reporter

# Libraries whose functions do not give models other attributes.
_LIBRARIES: Final = frozenset(
    {"builtins", "copy", "flax", "functools", "jax", "math", "numpy", "optax", "pprint"}
    | {"pytest", "typed_nnx", "typing"}
)
# What layers record while they run, so that a class without it is the rule.
_RECORDED: Final = frozenset({"Intermediate", "Perturbation"})


def may_be_other(
    keys: Iterable[object],
    models: Sequence[Type],
    access: nodes.Context,
    checker: Reporter,
    *,
    losing: Sequence[Type] = (),
) -> bool:
    """Tell whether a file may give models, or what is in them, other attributes than classes do.

    Args:
      keys: The names of the attributes that are asked about.
      models: The types of the models.
      access: Where the question comes from.
      checker: The type checker of the file.
      losing: The types of leaves of which it matters, too, that the models may have lost them.
    """
    if not isinstance(access, Node):
        return True
    file = file_of(checker)
    replaced = list(_replaced(checker))
    wanted = set(keys)
    owners = [target.expr for target, _ in replaced if target.name in wanted]
    owners += [owner for node in file.nodes for owner in _changed(node, checker)]
    if losing:
        owners += [owner for node in file.nodes for owner in _popped(node, losing, checker)]
    for owner in owners:
        depend_on_origin(owner, checker)
    for model in models:
        places = (e for e in owners if _may_share(early_type(e, checker), model, checker))
        others = (e.expr for e, held in replaced if _is_inside(model, held, checker))
        for place in (*places, *others):
            checker.report_open(
                f"{short_name(model)} may get other attributes here, so what its State lacks "
                f"in line {access.line} is not reported",
                place,
            )
            return True
    return False


def is_new(model: Expression, access: nodes.Context, checker: Reporter) -> bool:
    """Tell whether an object is as its constructor makes it: nothing gets at it before an access."""
    match model:
        case CallExpr(callee=nodes.RefExpr(node=TypeInfo())):
            changed = (
                owner
                for node in file_of(checker).nodes
                for owner in (*_changed(node, checker), *_popped(node, None, checker))
            )
            return not any(map(is_self, changed))
        case NameExpr(node=nodes.Var() as variable):
            made = assigned_once(variable, checker)
            if made is None or checker.function_around(made) is None:
                return False
            is_again = not isinstance(access, Node) or any(
                isinstance(each, nodes.ForStmt | nodes.WhileStmt) for each in checker.above(access)
            )
            uses = [
                each
                for each in file_of(checker).nodes
                if isinstance(each, NameExpr) and each.node is variable
                if is_again or each.line < access.line
            ]
            return (
                isinstance(made, CallExpr)
                and is_new(made, access, checker)
                and all(_only_reads(each, checker) for each in uses)
            )
        case _:
            return False


def made_model(state: Expression, checker: Reporter) -> Expression | None:
    """Return the model that a State is made of, where that is ``Model(...)`` or a variable of one."""
    selected = value_of(state, checker)
    given = selected.args[0] if selected is not None and selected.args else None
    made = value_of(given, checker) if given is not None else None
    is_object = made is not None and isinstance(getattr(made.callee, "node", None), TypeInfo)
    return given if is_object else None


def _only_reads(use: NameExpr, checker: Reporter) -> bool:
    """Tell whether a use of a name gives no other attributes to the object that it stands for."""
    above = checker.parent(use)
    while isinstance(above, nodes.TupleExpr):
        above = checker.parent(above)
    match above:
        case nodes.AssignmentStmt():
            return use in single_targets(above)
        case CallExpr(callee=NameExpr(name="setattr" | "delattr")):
            return False
        case CallExpr(callee=callee):
            return callee is use or _is_of_library(callee, checker)
        case MemberExpr():
            whole: Node = use
            while isinstance(above, MemberExpr | nodes.IndexExpr):
                whole, above = above, checker.parent(above)
            # `model.kernel[...] = x` sets elements of an array.
            sets = above is not None and whole in single_targets(above)
            return not sets or isinstance(whole, nodes.IndexExpr)
        case _:
            return False


def _changed(node: Node, checker: Reporter) -> Iterator[Expression]:
    """Yield the objects that get attributes whose names nothing tells."""
    match node:
        case CallExpr(callee=NameExpr(name="setattr" | "delattr"), args=[owner, name, *_]):
            if not isinstance(name, nodes.StrExpr) and not is_self(owner):
                yield owner
        case nodes.ExpressionStmt(expr=CallExpr() as call):
            yield from _handed_on(call, checker)
        case nodes.AssignmentStmt(lvalues=[target], rvalue=CallExpr() as call):
            # `model = inject(model)`
            yield from (each for each in _handed_on(call, checker) if is_same_target(target, each))
        case _:
            pass


def _popped(node: Node, leaves: Sequence[Type] | None, checker: Reporter) -> Iterator[Expression]:
    """Yield the objects out of which ``nnx.pop(model, ...)`` may take leaves of some types.

    None are all that layers do not record.
    """
    match node:
        case CallExpr(callee=MemberExpr(expr=NameExpr(node=nodes.MypyFile()), name="pop")):
            given = node.args[1:]
            filters = [read_filter(each, checker.type_of(each), checker) for each in given]
            if leaves is None:
                is_taken = not {getattr(each, "name", "") for each in given} <= _RECORDED
            else:
                is_taken = any(passes(of, e) is not False for of in filters for e in leaves)
            if is_taken:
                yield from node.args[:1]
        case _:
            pass


def _replaced(checker: Reporter) -> Iterator[tuple[MemberExpr, Type | None]]:
    """Yield attributes of objects that may be set to something else than their classes say.

    With them comes what the classes say; None where that is not known.
    """
    for values in file_of(checker).of_attribute.values():
        for value in values:
            if value.owner is None or is_self(value.owner.expr):
                continue
            for each in (value.owner.expr, value.value):
                if each is not None:
                    depend_on_origin(each, checker)
            owner = early_type(value.owner.expr, checker)
            model = model_of(owner, checker) if isinstance(owner, Instance) else None
            symbol = owner.type.get(value.owner.name) if isinstance(owner, Instance) else None
            if symbol is not None and isinstance(symbol.node, nodes.Decorator):
                continue  # a property, or it raises
            field = model.fields.get(value.owner.name) if model is not None else None
            held = field.type if field is not None and field.is_ready else None
            made = _made_class(value.value, checker) if not value.items else None
            classes = [getattr(each, "type", None) for each in options(held)[0]] if held else []
            if made is None or not any(each in made.mro for each in classes):
                yield value.owner, held


def _made_class(value: Expression | None, checker: Reporter) -> TypeInfo | None:
    """Return the class of what a call makes, as far as declarations tell it.

    What mypy found out of a function is there in some runs of its daemon only.
    """
    if isinstance(value, NameExpr):
        value = assigned_once(value.node, checker)
    match value:
        case CallExpr(callee=nodes.RefExpr(node=TypeInfo() as made)):
            return made
        case CallExpr(callee=nodes.RefExpr(node=nodes.FuncDef(type=CallableType() as function))):
            found = types.get_proper_type(function.ret_type)
            return found.type if isinstance(found, Instance) else None
        case _:
            return None


def _is_inside(model: Type, held: Type | None, checker: Reporter) -> bool:
    """Tell whether a model may be what an attribute holds by its class, or be in that."""
    if held is None:
        return False
    return any(
        _may_hold(whole, part, checker)
        for whole in options(held)[0]
        for part in options(model)[0]
        if isinstance(whole, Instance) and kind_of(whole) is Kind.PYTREE
    )


def _may_share(changed: ProperType | None, model: Type, checker: Reporter) -> bool:
    """Tell whether an object may be in a model, or the model in it."""
    asked = options(model)[0]
    parts = options(changed)[0] if changed is not None else []
    if not parts or not asked:
        return True
    return any(
        _may_hold(one, other, checker) or _may_hold(other, one, checker)
        for one in parts
        for other in asked
    )


def _may_hold(whole: ProperType, part: ProperType, checker: Reporter) -> bool:
    """Tell whether an object of one type may be or hold, at any depth, one of another."""
    return not isinstance(part, Instance) or any(
        isinstance(each, TypeVarType)
        or (
            isinstance(each, Instance)
            and (each.type in part.type.mro or part.type in each.type.mro)
        )
        for each in parts_in(whole, checker)
    )


def _handed_on(call: CallExpr, checker: Reporter) -> Iterator[Expression]:
    """Yield the models that a call gives to a function that takes any."""
    callee = checker.known_type(call.callee)
    is_class = isinstance(callee, CallableType) and callee.is_type_obj()
    if not isinstance(callee, AnyType | CallableType) or is_class:
        return
    source = callee.source_any or callee if isinstance(callee, AnyType) else None
    is_error = source is not None and source.type_of_any == types.TypeOfAny.from_error
    if is_error or _is_of_library(call.callee, checker):
        return
    for at, argument in enumerate(call.args):
        found = checker.known_type(argument)
        is_model = found is not None and kind_of(found) is Kind.PYTREE
        if is_model and _takes_any(callee, at, call.arg_names[at]):
            yield argument


def _is_of_library(callee: Expression, checker: Reporter) -> bool:
    """Tell whether a function or a method is defined by a library."""
    if isinstance(callee, nodes.RefExpr) and callee.node is not None:
        fullname = callee.node.fullname
    else:
        owner = early_type(callee.expr, checker) if isinstance(callee, MemberExpr) else None
        if not isinstance(callee, MemberExpr) or not isinstance(owner, Instance):
            return False
        fullname = (owner.type.get_containing_type_info(callee.name) or owner.type).fullname
    return fullname.partition(".")[0] in _LIBRARIES


def _takes_any(callee: ProperType, at: int, name: str | None) -> bool:
    """Tell whether a parameter takes models of all classes, or does not say which."""
    if not isinstance(callee, CallableType):
        return True
    if name is not None and name in callee.arg_names:
        at = callee.arg_names.index(name)
    if at >= len(callee.arg_types):
        return True
    found = types.get_proper_type(callee.arg_types[at])
    if isinstance(found, TypeVarType):
        return True
    if not isinstance(found, Instance):
        return True
    return found.type.fullname == "builtins.object" or is_base_class(found.type)
