"""``nnx-jax-mutation``: a function under a jax transform that changes an object of an outer scope.

jax traces the function; a Variable or a Module from outside must not keep a tracer, so both runtimes
raise. What the function makes itself, or gets as a parameter, it may change.
"""

from __future__ import annotations

from typing import Final

from mypy import nodes
from mypy.nodes import Expression, FuncDef

from typed_nnx_mypy.call import Call
from typed_nnx_mypy.errorcodes import JAX_MUTATION
from typed_nnx_mypy.models.mutations import Outer, outer_of
from typed_nnx_mypy.registry import on_call
from typed_nnx_mypy.syntax.transforms import Transform, on_transform

# The transforms of one function, with the NNX transform of the same use.
SUCCESSORS: Final = {
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


@on_transform(*SUCCESSORS)
def outer_objects_stay_in_transforms(transform: Transform) -> None:
    """Report changes of outer objects in the function of a transform."""
    outer = outer_of(transform.given, transform.function, transform.checker)
    _report(transform.call, outer, transform.name, SUCCESSORS[transform.name])


@on_call(*_CONTROL)
def outer_objects_stay_in_control_flow(call: Call) -> None:
    """Report changes of outer objects in the functions of a loop or a condition of lax."""
    successor = "" if call.name in _NO_SUCCESSOR else call.name.replace("jax.lax", "nnx")
    for position, name in _CONTROL[call.name]:
        given = call.argument(name, position)
        if given is None:
            continue
        for each in _each_function(given.expression):
            _report(call, outer_of(each, None, call.checker), call.name, successor)


def _each_function(given: Expression) -> list[Expression]:
    if isinstance(given, nodes.ListExpr | nodes.TupleExpr):
        # The only branch of a switch is called, not traced.
        return given.items if len(given.items) > 1 else []
    return [given]


def _report(call: Call, outer: Outer | None, transform: str, successor: str) -> None:
    """Report the changes that a function makes."""
    if outer is None:
        return
    function = outer.function
    name = f"`{function.name}`" if isinstance(function, FuncDef) else "a lambda"
    for found in outer.changes():
        root = found.root
        instead = (
            f"use {successor} with `{root}` as an argument, or split" if successor else "split"
        )
        call.report(
            JAX_MUTATION,
            f"{transform}: {name} changes {found.title} of an outer scope, which raises when jax "
            f"traces it. Fix: {instead} `{root}` outside, merge it inside and return the new state",
            found.node,
        )
