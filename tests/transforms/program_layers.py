"""Transforms as layers around a function of objects and a register, each with its plain meaning.

A layer turns a function ``f(model, acc) -> acc`` into another one of the same kind. Programs act on
the last axis only, so the plain meaning of vmap is the function itself, run on stacked values; loops
are Python loops, and gradients are `jax.grad` of the functional form.
"""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
from hypothesis import reject

from tests.graph.oracle import children, is_node, is_variable, objects_by_path
from tests.transforms.program_slices import copied
from tests.transforms.programs import small

Function = tp.Callable[[tp.Any, jax.Array], jax.Array]
ROUNDS = 2
#: Gradients below it are integers that float32 holds exactly, in whatever order they are summed.
EXACT = 2.0**20


def always(acc: jax.Array) -> jax.Array:
    """Return a true condition that depends on the register."""
    return jnp.sum(acc) > -1e9


def other_branch(model: tp.Any, acc: jax.Array) -> jax.Array:
    """Stand in the branch that is not taken; it changes what it can without changing structure."""
    for x in objects_by_path([model]).values():
        if type(x).__name__ == "Param":
            x[...] += 5
    return acc + 9


class Layers:
    """The transforms of a library, by name."""

    def __init__(self, nnx: tp.Any) -> None:
        self.nnx = nnx

    def apply(self, names: tp.Sequence[str], function: Function) -> Function:
        """Apply layers; the first name is the outermost."""
        for name in reversed(names):
            function = getattr(self, name)(function)
        return function

    def jit(self, f: Function) -> Function:
        return self.nnx.jit(f)

    def remat(self, f: Function) -> Function:
        return self.nnx.remat(f)

    def vmap(self, f: Function) -> Function:
        return self.nnx.vmap(f)

    def grad(self, f: Function) -> Function:
        def layer(model: tp.Any, acc: jax.Array) -> jax.Array:
            gradients = self.nnx.grad(lambda m: jnp.sum(f(m, acc)))(model)
            return combined(acc, jax.tree.leaves(gradients))

        return layer

    def cond(self, f: Function) -> Function:
        return lambda model, acc: self.nnx.cond(always(acc), f, other_branch, model, acc)

    def switch(self, f: Function) -> Function:
        def layer(model: tp.Any, acc: jax.Array) -> jax.Array:
            branches = [other_branch, f, other_branch]
            return self.nnx.switch(always(acc).astype(jnp.int32), branches, model, acc)

        return layer

    def scan(self, f: Function) -> Function:
        axes = (self.nnx.StateAxes({...: self.nnx.Carry}), self.nnx.Carry)
        return self.nnx.scan(f, in_axes=axes, out_axes=self.nnx.Carry, length=ROUNDS)

    def fori(self, f: Function) -> Function:
        def body(_: jax.Array, carry: tp.Any) -> tp.Any:
            return carry[0], f(*carry)

        return lambda model, acc: self.nnx.fori_loop(0, ROUNDS, body, (model, acc))[1]

    def loop(self, f: Function) -> Function:
        def body(carry: tp.Any) -> tp.Any:
            number, model, acc = carry
            return number + 1, model, f(model, acc)

        def is_short(carry: tp.Any) -> jax.Array:
            return carry[0] < ROUNDS

        return lambda model, acc: self.nnx.while_loop(is_short, body, (jnp.asarray(0), model, acc))[
            2
        ]


class PlainLayers:
    """What the layers mean, without transforms.

    Attributes:
        keeps_form: whether each round of a loop and each branch left structure, identities and
            metadata as they were; where they did not, a transform may refuse.
        restarts: whether a step of a scan did not: the next step of a real one begins with the form
            that the first had, which a loop cannot. The law of scan tells what it gives then.
    """

    def __init__(self, nnx: tp.Any) -> None:
        self.nnx = nnx
        self.keeps_form = True
        self.restarts = False

    def apply(self, names: tp.Sequence[str], function: Function) -> Function:
        """Apply layers; the first name is the outermost."""
        plain = {"grad": self.grad, "cond": self.watched, "switch": self.watched}
        plain |= dict.fromkeys(["fori", "loop"], self.rounds)
        plain["scan"] = self.scan
        for name in reversed(names):
            function = plain.get(name, lambda f: f)(function)
        return function

    def watched(self, f: Function) -> Function:
        """Note whether `f` keeps the form of its objects."""

        def layer(model: tp.Any, acc: jax.Array) -> jax.Array:
            before = form(model)
            acc = f(model, acc)
            self.keeps_form = self.keeps_form and form(model) == before
            return acc

        return layer

    def rounds(self, f: Function) -> Function:
        """Call `f` again and again."""
        watched = self.watched(f)

        def layer(model: tp.Any, acc: jax.Array) -> jax.Array:
            for _ in range(ROUNDS):
                acc = watched(model, acc)
            return acc

        return layer

    def scan(self, f: Function) -> Function:
        """Call `f` again and again; note whether a step changed the form."""
        inner = self.rounds(f)

        def layer(model: tp.Any, acc: jax.Array) -> jax.Array:
            kept, self.keeps_form = self.keeps_form, True
            acc = inner(model, acc)
            self.restarts = self.restarts or not self.keeps_form
            self.keeps_form = self.keeps_form and kept
            return acc

        return layer

    def grad(self, f: Function) -> Function:
        """Differentiate the functional form of `f`; then run `f` for its effects."""

        def layer(model: tp.Any, acc: jax.Array) -> jax.Array:
            graphdef, params, rest = self.nnx.split(model, self.nnx.Param, ...)

            def pure(values: tp.Any) -> jax.Array:
                return jnp.sum(f(self.nnx.merge(graphdef, values, copied(rest)), acc))

            gradients = jax.tree.leaves(jax.grad(pure)(params))
            for gradient in gradients:
                if not isinstance(gradient, jax.core.Tracer) and jnp.abs(gradient).max() > EXACT:
                    reject()
            f(model, acc)
            return combined(acc, gradients)

        return layer


def combined(acc: jax.Array, gradients: tp.Iterable[jax.Array]) -> jax.Array:
    """Add gradients to the register."""
    for gradient in gradients:
        acc = small(acc + gradient)
    return acc


def form(model: tp.Any) -> tp.Any:
    """Describe which objects are where, their metadata and statics, without numbers."""
    found: list[tp.Any] = []
    for path, x in objects_by_path([model]).items():
        if is_variable(x):
            shapes = [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(x.get_value())]
            found.append((path, id(x), dict(x.get_metadata()), shapes))
        elif is_node(x):
            held = children(x) or []
            statics = [(k, c) for k, c in held if isinstance(c, str | bool | int)]
            references = [(k, id(c)) for k, c in held if is_node(c) or is_variable(c)]
            found.append((path, id(x), statics, references))
        else:
            found.append((path, x.shape, x.dtype))
    return found
