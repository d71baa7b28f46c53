"""Functions for code that was migrated from Linen or Haiku: a model apart from the variables it runs with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from typed_nnx.migrated._linen_names import linen_names, piece_of
from typed_nnx.migrated._sizes import (
    KnownSizes,
    is_other,
    signature_of,
    with_input_sizes,
    with_keywords,
    with_sizes_in,
)


def variables_of(model: nnx.Module) -> dict[str, Any]:
    """Return the variables of a model by collection: nested dicts of arrays.

    They have the names that Linen had, where the map beside the file of their class tells.
    """
    variables = dict(nnx.to_flat_state(nnx.state(model)))
    found: dict[str, Any] = {}
    for names, (path, number, count) in linen_names(model).items():
        variable = variables[path]
        *above, last = (_collection(variable), *names)
        inner = found
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = piece_of(variable.get_value(), number, count)
    return found


def _collection(variable: Any) -> str:
    return nnx.variable_name_from_type(type(variable), allow_register=True)


def bound_to(
    model: Any, variables: Mapping[str, Any], rngs: Any = None, mutable: Any = False
) -> Any:
    """Return a copy of a model with other variables; `model` may also be what constructs it.

    What has a `bind` of its own, as a module of Linen, is asked for that. Modules that ask for
    their mode are in training where `mutable` names the batch statistics.
    """
    if is_other(model):
        options = {} if rngs is None else {"rngs": rngs}
        return model.bind(variables, **options, mutable=mutable)

    def is_own(leaf: Any) -> bool:
        if not isinstance(leaf, nnx.Variable):
            return True
        if isinstance(leaf, nnx.RngState):
            return False
        collection = _collection(leaf)
        return collection != "params" and collection not in variables

    def construct() -> Any:
        return model(rngs=nnx.Rngs(0))

    # What is constructed here has no keys that a call could draw from.
    keyless: set[str] = set()
    if not isinstance(model, nnx.Module):
        given = getattr(model, "keywords", {})
        model = with_keywords(model, **{**KnownSizes.of(model, variables), **given})
        model = with_sizes_in(variables, model, variables_of)
        # Its structure is enough where all values are given.
        made = nnx.eval_shape(construct)
        flat = nnx.to_flat_state(nnx.state(made))
        keyless = {leaf.tag for _, leaf in flat if isinstance(leaf, nnx.RngState)}
        model = construct() if any(is_own(leaf) for _, leaf in flat) else made
    graphdef, state = nnx.split(model)
    leaves = {path: _content(leaf) for path, leaf in nnx.to_flat_state(state)}
    kinds = dict(nnx.to_flat_state(state))
    held = linen_names(model)
    first = {names[0] for names in held}
    pieces: dict[Any, list[Any]] = {}
    for names, (path, _, _) in held.items():
        if not is_own(kinds[path]):
            found = value_at(variables[_collection(kinds[path])], names, first)
            pieces.setdefault(path, []).append(found)
    for path, found in pieces.items():
        if any(one is None for one in found):
            leaves[path] = jax.eval_shape(jnp.zeros_like, leaves[path])
        else:
            leaves[path] = found[0] if len(found) == 1 else jnp.concatenate(found, axis=-1)
    bound = nnx.merge(graphdef, nnx.from_flat_state([*leaves.items()]))
    is_eval = mutable is not True and "batch_stats" not in (mutable or ())
    bound.set_attributes(asks_for_mode, use_running_average=is_eval, raise_if_not_found=False)
    if rngs is not None or keyless:
        given = {} if rngs is None else rngs
        keys = dict(given) if hasattr(given, "keys") else {"params": given}
        default = keys.get("params", next(iter(keys.values()), 0))
        streams = {**dict.fromkeys((*keyless, "default"), default), **keys}
        nnx.reseed(bound, policy="match_shape", **streams)
    return bound


def asks_for_mode(path: Any, module: Any) -> bool:
    """Whether a module of a model asks at each call whether it trains."""
    return "use_running_average" not in inspect.signature(type(module).__init__).parameters


def value_at(values: Any, path: tuple[str, ...], names: set[str]) -> Any:
    """Return the value at a path, or None: as in Linen, a part that a call does not read need not be given.

    Args:
        values: The variables of a collection.
        path: Where the value is.
        names: What the parts of the model are called; where none of them is given, all are wrong.
    """
    if path[0] not in values and not names.isdisjoint(values):
        return None
    for name in path:
        values = values[name]
    return values


def _content(leaf: Any) -> Any:
    return leaf.get_value() if isinstance(leaf, nnx.Variable) else leaf


def apply_with(
    model: Any,
    variables: Mapping[str, Any],
    *args: Any,
    rngs: Any = None,
    mutable: Any = False,
    method: Any = None,
    **kwargs: Any,
) -> Any:
    """Call a method of a model with other variables than its own; the model stays as it is.

    `model` may also be what constructs it, as for `init_with`. With `mutable`, the variables of these
    collections after the call are returned, too.
    """
    if not isinstance(model, nnx.Module):
        if is_other(model):
            options = {"rngs": rngs, "mutable": mutable, "method": method}
            asked = {k: v for k, v in options.items() if v is not None and v is not False}
            return model.apply(variables, *args, **asked, **kwargs)
        model = with_sizes_in(variables, model, variables_of)
        if method is None or not KnownSizes.of(model, variables):
            model = with_input_sizes(model, method, *args, **kwargs)
    bound = bound_to(model, variables, rngs, mutable)
    called: Any = "__call__" if method is None else method
    # A method of the model itself is that of the copy.
    other = getattr(called, "__func__", called)
    function = getattr(bound, called) if isinstance(called, str) else partial(other, bound)
    output = function(*args, **kwargs)
    if mutable is False:
        return output
    found = variables_of(bound)
    names = found if mutable is True else [mutable] if isinstance(mutable, str) else mutable
    return output, {name: found[name] for name in names if name in found}


def apply_of(model: Any) -> Callable[..., Any]:
    """Return `apply_with` for a model; two of the same model are equal, as methods of an object are."""
    return Applying(apply_with, model)


class Applying(partial[Any]):
    """`apply_with` for a model."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Applying) and self.args[0] is other.args[0]

    def __hash__(self) -> int:
        return id(self.args[0])


def init_with(
    model: Any, rngs: Any, *args: Any, method: Any = None, **kwargs: Any
) -> Mapping[str, Any]:
    """Construct a model, and return its variables by collection.

    Args:
        model: What constructs it: a class, a partial of one or a function. What has an `init` of
            its own, as a module of Linen, is asked for that.
        rngs: A key, or keys by the names of streams.
        *args: The arguments of a call, which have the sizes that the constructor needs.
        method: The method that is called; `__call__` if absent.
        **kwargs: More arguments of the call.

    Raises:
        TypeError: The model is constructed already, or the arguments do not have a size.
    """
    if isinstance(model, nnx.Module):
        message = f"got a {type(model).__name__}, expected its constructor\n  Fix: pass the class"
        raise TypeError(message)  # it has other variables than those that the key gives
    if is_other(model):
        kwargs |= {} if method is None else {"method": method}
        found: Mapping[str, Any] = model.init(rngs, *args, **kwargs)
        return found
    keys = dict(rngs) if hasattr(rngs, "keys") else {"params": rngs}
    streams = nnx.Rngs(**{"default": next(iter(keys.values())), **keys})
    sized = with_input_sizes(model, method, *args, **kwargs)
    variables = variables_of(sized(rngs=streams))
    given = getattr(model, "keywords", {})
    sizes = {k: v for k, v in getattr(sized, "keywords", {}).items() if k not in given}
    KnownSizes.found[KnownSizes.key(model, variables)] = sizes
    return variables


def init_like(
    model: Any, rngs: Any, *args: Any, method: Any = None, **kwargs: Any
) -> Mapping[str, Any]:
    """Return the variables of a new model that has the fields of another one, by collection.

    Args:
        model: The other model, or what constructs it.
        rngs: A key, or keys by the names of streams.
        *args: The arguments of a call, which have the sizes that the constructor needs.
        method: The method that is called; `__call__` if absent.
        **kwargs: More arguments of the call.

    Raises:
        TypeError: A field holds a module, which would be the same one.
    """
    if not isinstance(model, nnx.Module):
        return init_with(model, rngs, *args, method=method, **kwargs)
    names = set(signature_of(type(model)).parameters) - {"rngs"}
    fields = {name: getattr(model, name) for name in names if hasattr(model, name)}
    for name, value in fields.items():
        if any(isinstance(one, nnx.Module) for one in jax.tree.leaves(value, is_leaf=_is_module)):
            message = (
                f"init_like: `{name}` of {type(model).__name__} holds a module, which both would share\n"
                f"  Fix: construct {type(model).__name__} again with a new one"
            )
            raise TypeError(message)  # both models would share it
    return init_with(partial(type(model), **fields), rngs, *args, method=method, **kwargs)


def _is_module(value: Any) -> bool:
    return isinstance(value, nnx.Module)


def init_with_output(
    model: Any, rngs: Any, *args: Any, method: Any = None, **kwargs: Any
) -> tuple[Any, Mapping[str, Any]]:
    """Construct a model as `init_with` does; return what the call gives, and the variables."""
    variables = init_with(model, rngs, *args, method=method, **kwargs)
    return apply_with(model, variables, *args, rngs=rngs, method=method, **kwargs), variables


def with_parameters(module: Any, values: Mapping[str, Any]) -> Any:
    """Return a copy of a module that computes with other values in its parameters."""
    copied = nnx.clone(module)
    for name, value in values.items():
        setattr(copied, name, nnx.Param(value))
    return copied


class OwnParameters:
    """Gives functions of Linen the parameters of a module, which they ask for by name."""

    def __init__(self, module: nnx.Module) -> None:
        self.module = module

    def param(self, name: str, init_fn: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the value of a parameter."""
        return getattr(self.module, name)[...]


def made_once(
    module: nnx.Module,
    name: str,
    kind: Callable[[Any], Any],
    init_fn: Callable[..., Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Return a variable of a module; the first call that asks for it makes it."""
    if getattr(module, name) is None:
        setattr(module, name, kind(init_fn(*args, **kwargs)))
    return getattr(module, name)


def not_built(what: str) -> NoReturn:
    """Raise an error: no call of the module builds this submodule."""
    message = f"{what} is not built by the constructor"
    raise NotImplementedError(message)  # a person has to write it


class HaikuTransformed(tuple[object, object]):
    """A pair of functions without effects, `init` and `apply`, as `hk.transform` returns it."""

    __slots__ = ()

    def __new__(cls, init: Callable[..., Any], apply: Callable[..., Any]) -> HaikuTransformed:
        """Return a pair."""
        return super().__new__(cls, (init, apply))

    @property
    def init(self) -> Any:
        """Makes the variables."""
        return self[0]

    @property
    def apply(self) -> Any:
        """Calls the module with variables."""
        return self[1]


def by_haiku_module(params: Mapping[str, Any], name: str = "") -> dict[str, dict[str, Any]]:
    """Return nested parameters as Haiku has them: by the name of the module, then by their own."""
    inside = {key: one for key, one in params.items() if isinstance(one, Mapping)}
    own = {key: one for key, one in params.items() if key not in inside}
    found = {name or "~": own} if own else {}
    for key, one in inside.items():
        found |= by_haiku_module(one, f"{name}/{key}" if name else key)
    return found


def by_part(params: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return parameters by the names of modules as nested dicts."""
    found: dict[str, Any] = {}
    for name, own in params.items():
        inner = found
        for part in name.split("/") if name != "~" else ():
            inner = inner.setdefault(part, {})
        inner.update(own)
    return found


def haiku_transform(module: Any, takes_rng: bool = True) -> HaikuTransformed:
    """Return `init(rng, *args)`, which gives parameters, and `apply(params, rng, *args)`.

    Args:
        module: What constructs the module: a class, or a partial of one.
        takes_rng: Whether `apply` takes a key.
    """

    def init(rng: Any, *args: Any, **kwargs: Any) -> Any:
        found = init_with(module, 0 if rng is None else rng, *args, **kwargs)
        return by_haiku_module(found.get("params", {}))

    def apply(params: Any, *args: Any, **kwargs: Any) -> Any:
        rng, args = (args[0], args[1:]) if takes_rng else (None, args)
        rngs = None if rng is None else {"default": rng}
        variables = {"params": by_part(params)}
        return apply_with(module, variables, *args, rngs=rngs, **kwargs)

    return HaikuTransformed(init, apply)


def haiku_transform_with_state(module: Any, takes_rng: bool = True) -> HaikuTransformed:
    """Return `init`, which gives parameters and state, and `apply(params, state, rng, *args)`.

    Args:
        module: What constructs the module: a class, or a partial of one.
        takes_rng: Whether `apply` takes a key.
    """

    def init(rng: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        found = dict(init_with(module, 0 if rng is None else rng, *args, **kwargs))
        return by_haiku_module(found.pop("params", {})), found

    def apply(params: Any, state: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        rng, args = (args[0], args[1:]) if takes_rng else (None, args)
        rngs = None if rng is None else {"default": rng}
        variables = {"params": by_part(params), **state}
        names = list(state)
        found: tuple[Any, Any] = apply_with(
            module, variables, *args, rngs=rngs, mutable=names, **kwargs
        )
        return found

    return HaikuTransformed(init, apply)
