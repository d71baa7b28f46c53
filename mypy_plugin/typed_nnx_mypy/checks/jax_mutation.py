"""``nnx-jax-mutation``: a function under a jax transform that changes an object of an outer scope.

jax traces the function; a Variable or a Module from outside must not keep a tracer, so both runtimes
raise. What the function makes itself, or gets as a parameter, it may change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mypy import nodes
from mypy.nodes import CallExpr, Expression, FuncDef, LambdaExpr, Node

from typed_nnx_mypy.call import Call
from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.errorcodes import JAX_MUTATION
from typed_nnx_mypy.models.mutations import Mutation, Outer, mutations
from typed_nnx_mypy.names import PARTIALS
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.children import descendants
from typed_nnx_mypy.syntax.parameters import definition_of, is_of_file
from typed_nnx_mypy.syntax.targets import own_nodes
from typed_nnx_mypy.syntax.transforms import PARTIAL, transform_of

# The transforms of one function, with the NNX transform of the same use.
_SUCCESSORS: Final = {
    "jax.checkpoint": "nnx.remat",
    "jax.eval_shape": "nnx.eval_shape",
    "jax.grad": "nnx.grad",
    "jax.hessian": "",
    "jax.jacfwd": "",
    "jax.jacrev": "",
    "jax.jit": "nnx.jit",
    "jax.jvp": "nnx.jvp",
    "jax.linearize": "",
    "jax.make_jaxpr": "",
    "jax.pmap": "nnx.pmap",
    "jax.shard_map": "nnx.shard_map",
    "jax.value_and_grad": "nnx.value_and_grad",
    "jax.vjp": "nnx.vjp",
    "jax.vmap": "nnx.vmap",
}
# Those of lax: where their functions are, by position and by name.
_CONTROL: Final[dict[str, tuple[tuple[int, str], ...]]] = {
    "jax.lax.cond": ((1, "true_fun"), (2, "false_fun")),
    "jax.lax.fori_loop": ((2, "body_fun"),),
    "jax.lax.map": ((0, "f"),),
    "jax.lax.scan": ((0, "f"),),
    "jax.lax.switch": ((1, "branches"),),
    "jax.lax.while_loop": ((0, "cond_fun"), (1, "body_fun")),
}
_NO_SUCCESSOR: Final = ("jax.lax.map",)
# A Variable that is a reference for jax may be changed under its transforms.
_REFERENCES: Final = frozenset({"hijax", "to_refs", "use_hijax", "use_ref", "use_refs"})
# Context managers that leave tracing, or expect an error.
_GUARDS: Final = frozenset(
    {"assertRaises", "assertRaisesRegex", "ensure_compile_time_eval", "raises", "suppress"}
)


@on_call(*_SUCCESSORS, *PARTIALS)
def outer_objects_stay_in_transforms(call: Call) -> None:
    """Report changes of outer objects in the function of a transform."""
    transform = transform_of(call, *_SUCCESSORS)
    if transform is None:
        return
    if transform.given is not None:
        _check(call, transform.given, transform.name, _SUCCESSORS[transform.name])
    elif transform.function is not None and transform.function.definition is not None:
        outer = Outer(transform.function.definition, None, call.checker)
        _check_function(call, outer, transform.name, _SUCCESSORS[transform.name])


@on_call(*_CONTROL)
def outer_objects_stay_in_control_flow(call: Call) -> None:
    """Report changes of outer objects in the functions of a loop or a condition of lax."""
    successor = "" if call.name in _NO_SUCCESSOR else call.name.replace("jax.lax", "nnx")
    for position, name in _CONTROL[call.name]:
        given = call.argument(name, position)
        if given is None:
            continue
        for each in _each_function(given.expression):
            _check(call, each, call.name, successor)


def _each_function(given: Expression) -> list[Expression]:
    if isinstance(given, nodes.ListExpr | nodes.TupleExpr):
        # The only branch of a switch is called, not traced.
        return given.items if len(given.items) > 1 else []
    return [given]


def _check(call: Call, given: Expression, transform: str, successor: str) -> None:
    """Check the function that an expression stands for."""
    checker = call.checker
    match given:
        case CallExpr(callee=nodes.RefExpr(fullname=name), args=[first, *_]) if name == PARTIAL:
            given = first
        case _:
            pass
    definition = definition_of(given, checker)
    if definition is not None and is_of_file(definition, checker):
        _check_function(call, Outer(definition, given, checker), transform, successor)


def _check_function(call: Call, outer: Outer, transform: str, successor: str) -> None:
    checker = call.checker
    for node in own_nodes(outer.function):
        for found in mutations(node, outer.type_of):
            path = outer.path(found.owner)
            if path and is_certain(found, outer.function, checker):
                _report(call, found, path, outer.function, transform, successor)


def _report(
    call: Call,
    found: Mutation,
    path: str,
    function: FuncDef | LambdaExpr,
    transform: str,
    successor: str,
) -> None:
    name = f"`{function.name}`" if isinstance(function, FuncDef) else "a lambda"
    what = f"{path}.{found.attribute}" if found.attribute else path
    root = path.partition(".")[0].partition("[")[0]
    instead = f"use {successor} with `{root}` as an argument, or split" if successor else "split"
    call.report(
        JAX_MUTATION,
        f"{transform}: {name} changes `{what}` ({found.type.type.name}) of an outer scope, which "
        f"raises when jax traces it. Fix: {instead} `{root}` outside, merge it inside and return "
        "the new state",
        found.node,
    )


# -- what may be allowed ----------------------------------------------------------------------


def is_certain(found: Mutation, function: FuncDef | LambdaExpr, checker: Checker) -> bool:
    """Tell whether a change surely raises, if the function gets there while jax traces it."""
    if found.runtime not in checker.config.runtimes:
        return False
    is_reference = found.is_of_value and _mentions(checker.syntax.nodes, _REFERENCES)
    return not is_reference and not _is_guarded(found.node, function, checker)


def _is_guarded(node: Node, function: FuncDef | LambdaExpr, checker: Checker) -> bool:
    """Tell whether a statement around a change may keep it from tracing, or catches the error."""
    for above in checker.above(node):
        if above is function:
            return False
        match above:
            case nodes.TryStmt() if above.handlers:
                return True
            case nodes.WithStmt():
                if any(_mentions((each, *descendants(each)), _GUARDS) for each in above.expr):
                    return True
            case nodes.IfStmt():
                asked = [part for each in above.expr for part in (each, *descendants(each))]
                if any("trac" in name.lower() for name in _names_in(asked)):
                    return True
            case _:
                pass
    return False


def _mentions(nodes_: Iterable[Node], names: frozenset[str]) -> bool:
    return any(name in names for name in _names_in(nodes_))


def _names_in(nodes_: Iterable[Node]) -> Iterator[str]:
    for each in nodes_:
        match each:
            case nodes.NameExpr() | nodes.MemberExpr():
                yield each.name
            case CallExpr():
                yield from (name for name in each.arg_names if name is not None)
            case _:
                pass
