"""What mypy takes for something else: static methods, results of lambdas, empty containers as data."""

from __future__ import annotations

from mypy import nodes, types
from mypy.nodes import CallExpr, Decorator, LambdaExpr, TypeInfo
from mypy.plugin import AttributeContext
from mypy.types import AnyType, CallableType, Instance, Type, get_proper_type

from typed_nnx_codegen.facts.assigned_types import put_in_by
from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.early import early_type
from typed_nnx_codegen.facts.kinds import Kind, kind_of
from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_codegen.facts.states import is_state
from typed_nnx_codegen.facts.targets import is_same_target
from typed_nnx_mypy.call import Call
from typed_nnx_mypy.registry import infers
from typed_nnx_mypy.syntax.transforms import transform_behind


def is_static_transform(info: TypeInfo, name: str) -> bool:
    """Tell whether an attribute of a class is a static method that a runtime's object makes."""
    return _transform(info, name) is not None


def static_transform(context: AttributeContext) -> Type:
    """Return what a transform made: mypy binds it to the object, as a method without the mark."""
    owner, name = get_proper_type(context.type), getattr(context.context, "name", "")
    found = _transform(owner.type, name) if isinstance(owner, Instance) else None
    return found if found is not None else context.default_attr_type


def _transform(info: TypeInfo, name: str) -> Instance | None:
    symbol = info.get(name)
    node = symbol.node if symbol is not None else None
    if not isinstance(node, Decorator) or not node.func.is_static:
        return None
    found = get_proper_type(node.var.type)
    is_made = isinstance(found, Instance) and bool(runtime_of(found.type.fullname))
    return found if is_made and isinstance(found, Instance) else None


@infers("data")
def declared_container(call: Call) -> Type | None:
    """Return what an attribute is declared as, of ``self.x: list[int] = nnx.data([])``.

    Without a declaration an empty container does not say what the attribute will hold.
    """
    expected = call.checker.expected_type
    is_open = isinstance(get_proper_type(call.result), AnyType)
    return expected if is_open and len(call.positional) == 1 else None


@infers("List", "Dict")
def empty_container(call: Call) -> Type | None:
    """Return an empty List or Dict, ``self.layers = nnx.List()``, of the class that is put into it."""
    found = get_proper_type(call.result)
    if not isinstance(found, Instance) or not found.args:
        return None
    *before, item = map(get_proper_type, found.args)
    if not isinstance(item, types.UninhabitedType) or not item.ambiguous:
        return None
    return Instance(
        found.type, [*before, _put_in_later(call) or AnyType(types.TypeOfAny.special_form)]
    )


def _put_in_later(call: Call) -> Type | None:
    """Return the type of all that is put into a new container; None where there are several."""
    checker, made = call.checker, call.expression
    statement = checker.parent(made) if made is not None else None
    if not isinstance(statement, nodes.AssignmentStmt) or len(statement.lvalues) != 1:
        return None
    target = statement.lvalues[0]
    around = next(
        (e for e in checker.above(statement) if isinstance(e, nodes.ClassDef)), checker.tree
    )
    found: set[Type | None] = set()
    for node in descendants(around):
        found |= {
            early_type(e, checker) for owner, e in put_in_by(node) if is_same_target(owner, target)
        }
        match node:
            case (
                CallExpr(
                    callee=nodes.MemberExpr(expr=owner, name="extend" | "setdefault" | "update")
                )
                | nodes.OperatorAssignmentStmt(lvalue=owner)
            ):
                found |= {None} if is_same_target(owner, target) else set()
            case _:
                pass
    return found.pop() if len(found) == 1 else None


@infers("vmap")
def mapped_lambda(call: Call) -> Type | None:
    """Return the object that `vmap` makes of a lambda, so that its calls are known."""
    given, found = call.argument("f", 0), get_proper_type(call.result)
    made = call.checker.instance("typed_nnx._transforms.vmap.Vmapped")
    if given is None or not isinstance(given.expression, LambdaExpr) or made is None:
        return None
    if call.runtime != "typed_nnx" or not isinstance(found, CallableType):
        return None
    takes = types.Parameters(found.arg_types, found.arg_kinds, found.arg_names)
    return Instance(made.type, [takes, found.ret_type])


@infers("JitWrapped.__call__", "Vmapped.__call__", "jax.JitWrapped.__call__")
def result_of_lambda(call: Call) -> Type | None:
    """Return what a transformed lambda returns for the arguments that are given.

    What it makes of numbers is an array then, so only arrays, Pytrees and States are known.
    """
    transform = transform_behind(call)
    function = transform.given if transform is not None else None
    if not isinstance(function, LambdaExpr) or call.has_stars:
        return None
    takes, given = get_proper_type(call.checker.type_of(function)), call.positional
    if not isinstance(takes, CallableType) or len(given) != len(takes.arg_types):
        return None
    types: list[Type] = [each.type for each in given]
    known = CallableType(types, takes.arg_kinds, takes.arg_names, takes.ret_type, takes.fallback)
    found = get_proper_type(call.checker.type_as(function, known))
    is_known = isinstance(found, CallableType) and _is_of_arrays(found.ret_type)
    return found.ret_type if isinstance(found, CallableType) and is_known else None


def _is_of_arrays(found: Type) -> bool:
    proper = get_proper_type(found)
    if isinstance(proper, types.TupleType):
        return all(map(_is_of_arrays, proper.items))
    if not isinstance(proper, Instance):
        return False
    return kind_of(proper) in (Kind.ARRAY, Kind.PYTREE) or is_state(proper.type)
