"""`export`: a function and a model as a program that runs without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax.export import DisabledSafetyCheck, Exported
from jax.export import export as jax_export

from typed_nnx._core.filters import Filter
from typed_nnx._core.jax_runtime import is_array_ref
from typed_nnx._core.paths import Path, Tree, Value, dotted
from typed_nnx._core.state import State, to_flat_state
from typed_nnx._core.variable import Variable
from typed_nnx._graph.split import as_pure, merge, split
from typed_nnx._graph.split import state as state_of
from typed_nnx._transforms.engine.call import is_object
from typed_nnx._transforms.engine.closures import describe
from typed_nnx.errors import ExportError

Arrays: TypeAlias = dict[str, Any]
"""Arrays by the dotted path of their Variable."""


def named_arrays(node: Tree, only: Filter = ...) -> Arrays:
    """Return the arrays of a model by name, as `save_safetensors` writes them.

    A name is a path with dots in between. Typed PRNG keys are given as their data (``uint32 [..., words]``).

    >>> from typed_nnx import Linear, Rngs
    >>> sorted(named_arrays([Linear(2, 1, rngs=Rngs(0))]))
    ['0.bias', '0.kernel']

    Args:
        node: A Module, a State, or a list, dict or tuple of such.
        only: Which Variables.

    Raises:
        ExportError: Two paths have one name, or a Variable holds something else than an array.
    """
    state = state_of(node, only)
    found: Arrays = {}
    for name, value in _leaves(state):
        if name in found:
            raise ExportError("named_arrays", f"two paths have the name {name!r}.", _RENAME)
        if not hasattr(value, "dtype"):
            problem = f"{name!r} is {type(value).__name__}; expected an array."
            raise ExportError("named_arrays", problem, _FILTER)
        found[name] = _data(value)
    return found


_RENAME = "give keys of a dict without dots, or rename an attribute"
_FILTER = (
    "leave it out: named_arrays(model, nnx.Param); or hold an array: nnx.Variable(jnp.array(1.0))"
)


def _leaves(state: State) -> Iterator[tuple[str, Value]]:
    """Yield the raw values of a State with their names."""
    for path, leaf in to_flat_state(state):
        value = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
        yield dotted(path), value[...] if is_array_ref(value) else value


def _is_key(value: Value) -> bool:
    return jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def _data(value: Value) -> Value:
    if not _is_key(value):
        return value
    if isinstance(value, jax.ShapeDtypeStruct):
        return jax.eval_shape(jax.random.key_data, value)
    return jax.random.key_data(value)


def export(
    f: Callable[..., Any],
    model: Tree,
    *,
    mutable: Filter = False,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
) -> Callable[..., Exported]:
    """Export ``f(model, *args)`` as a program that needs neither `f` nor typed_nnx to run.

    The program takes the arrays of the model by name, as `named_arrays` returns them and
    `save_safetensors` writes them, and then the other arguments. `jax.export.deserialize` loads it.

    >>> import jax.numpy as jnp
    >>> from typed_nnx import Linear, Rngs
    >>> model = Linear(2, 1, use_bias=False, rngs=Rngs(0))
    >>> exported = export(lambda model, x: model(x), model)(jnp.ones((4, 2)))
    >>> exported.call({"kernel": jnp.ones((2, 1))}, jnp.ones((4, 2)))[0]
    Array([2.], dtype=float32)

    Args:
        f: A function of the model and other arguments; it may be jitted.
        model: A Module, or a list, dict or tuple of such; it may be abstract.
        mutable: Which Variables `f` may change. The program then returns a pair: the result, and the
            arrays of these Variables by name.
        platforms: As for `jax.export.export`: some of "cpu", "cuda", "rocm", "tpu".
        disabled_checks: As for `jax.export.export`.

    Returns:
        A function that takes the other arguments, or their shapes, and returns a `jax.export.Exported`.
        Modules and States in the result of `f` are dicts of arrays by name there.

    Raises:
        ExportError: When called: `f` changes what is not `mutable`; as for `named_arrays`.
    """
    graphdef, state = split(model)
    specs = named_arrays(state)

    def program(weights: Arrays, /, *args: Tree, **kwargs: Tree) -> Tree:
        own = merge(graphdef, _values(state, weights))
        before = dict(_leaves(state_of(own, ...)))
        result = jax.tree.map(_plain, f(own, *args, **kwargs), is_leaf=_has_arrays)
        after = dict(_leaves(state_of(own, ...)))
        updates = {} if mutable is False else named_arrays(own, mutable)
        changed = [
            name for name, value in after.items()
            if value is not before.get(name) and name not in updates
        ]  # fmt: skip
        if changed:
            problem = (
                f"the function changes what the program would not return: {', '.join(changed)}."
            )
            raise ExportError(f"export of {describe(f)}", problem, _MUTABLE)
        return result if mutable is False else (result, updates)

    program.__name__ = program.__qualname__ = getattr(f, "__name__", type(f).__name__)
    exporter = jax_export(jax.jit(program), platforms=platforms, disabled_checks=disabled_checks)

    def exported(*args: Tree, **kwargs: Tree) -> Exported:
        return exporter(specs, *args, **kwargs)

    return exported


_MUTABLE = (
    "nnx.export(f, model, mutable=nnx.Cache) returns them; model.eval() stops dropout and averages"
)


def _values(state: State, weights: Arrays) -> State:
    """Return the values of a State from arrays by name."""

    def value_of(path: Path, leaf: Value) -> Value:
        value = weights[dotted(path)]
        known = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
        if not _is_key(known):
            return value
        kind: list[Any] = []  # the shape of a key alone tells its implementation to a trace only
        jax.eval_shape(lambda key: kind.append(jax.random.key_impl(key)), known)
        return jax.random.wrap_key_data(value, impl=kind[0])

    return State.from_flat_path(
        [(path, value_of(path, leaf)) for path, leaf in to_flat_state(state)]
    )


def _has_arrays(value: Tree) -> bool:
    return isinstance(value, State) or (is_object(value) and not isinstance(value, Variable))


def _plain(value: Tree) -> Tree:
    return named_arrays(value) if _has_arrays(value) else as_pure(value)
