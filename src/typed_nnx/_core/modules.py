"""`Module`: a Pytree that records intermediate values and switches between train and eval."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

import jax
import jax.numpy as jnp

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.nodes import CONTAINER, OBJECT, iter_children, kind_of, walk_objects
from typed_nnx._core.paths import Key, Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import Perturbation, variable_type_from_name
from typed_nnx.errors import AttributesNotFoundError, VariableError

A = TypeVar("A")
B = TypeVar("B")

CAPTURES = "__captures__"
"""The attribute in which a Module has a Variable for each type that `capture` asks for: a dict."""


def tuple_reduce(xs: tuple[A, ...], x: A) -> tuple[A, ...]:
    """Append a value to a tuple: how `Module.sow` collects by default."""
    return xs + (x,)  # noqa: RUF005 -- unpacking would take an array apart


def tuple_init() -> tuple[Any, ...]:
    """Return an empty tuple: how `Module.sow` starts by default."""
    return ()


class Module(Pytree):
    """The base of layers and models: a `Pytree` with `sow`, `perturb`, `train` and `eval`."""

    if TYPE_CHECKING:
        # Code that takes "a Module" calls it; any signature of a subclass is compatible with this.

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    def sow(self, variable_type: type[Variable[Any]] | str, name: str, value: Any) -> bool: ...
    @overload
    def sow(
        self,
        variable_type: type[Variable[Any]] | str,
        name: str,
        value: A,
        reduce_fn: Callable[[B, A], B],
        init_fn: Callable[[], B],
    ) -> bool: ...
    @overload
    def sow(
        self,
        variable_type: type[Variable[Any]] | str,
        name: str,
        value: A,
        reduce_fn: Callable[[Any, A], Any] = ...,
        init_fn: Callable[[], Any] = ...,
    ) -> bool: ...
    def sow(
        self,
        variable_type: type[Variable[Any]] | str,
        name: str,
        value: Any,
        reduce_fn: Callable[[Any, Any], Any] = tuple_reduce,
        init_fn: Callable[[], Any] = tuple_init,
    ) -> bool:
        """Record a value in the Variable attribute `name`, which the first call creates.

        Args:
            variable_type: The type of the Variable (or its registered name).
            name: The attribute.
            value: What to record.
            reduce_fn: Makes the new value of the old one and `value`; appends to a tuple.
            init_fn: Makes the value before the first call; an empty tuple.

        Returns:
            Whether the value was recorded; False under a `capture` of other types.

        Raises:
            VariableError: The attribute is something else already.
        """
        kind = _type_of(variable_type)
        if CAPTURES in vars(self):
            place = _place_of(self, kind)
            if place is not None:
                recorded = place.get_value()
                old = recorded[name] if name in recorded else init_fn()
                place.set_value({**recorded, name: reduce_fn(old, value)})
            return place is not None
        if not hasattr(self, name):
            setattr(self, name, kind(reduce_fn(init_fn(), value)))
            return True
        variable = getattr(self, name)
        if type(variable) is not kind:
            raise _wrong_type("sow", self, name, kind, variable)
        variable.set_value(reduce_fn(variable.get_value(), value))
        return True

    def perturb(
        self, name: str, value: A, variable_type: type[Variable[Any]] | str = Perturbation
    ) -> A:
        """Return `value` plus the zero in the Variable attribute `name`.

        The first call creates the Variable. The gradient with respect to it is that of `value`.

        Args:
            name: The attribute.
            value: An array, or a pytree of arrays.
            variable_type: The type of the Variable (or its registered name).

        Raises:
            VariableError: The attribute is something else already.
        """
        kind = _type_of(variable_type)
        if CAPTURES in vars(self):
            place = _place_of(self, kind)
            if place is None:
                return value
            if name not in place.get_value():
                zeros = jax.tree.map(jnp.zeros_like, value)
                place.set_value({**place.get_value(), name: zeros})
            perturbed: A = jax.tree.map(jnp.add, place.get_value()[name], value)
            return perturbed
        if not hasattr(self, name):
            setattr(self, name, kind(jax.tree.map(jnp.zeros_like, value)))
        variable = getattr(self, name)
        if not isinstance(variable, kind):
            raise _wrong_type("perturb", self, name, kind, variable)
        total: A = jax.tree.map(jnp.add, variable.get_value(), value)
        return total

    def iter_modules(self) -> Iterator[tuple[Path, Module]]:
        """Yield (path, Module) of every Module below and this one, children first."""
        return iter_modules(self)

    def iter_children(self) -> Iterator[tuple[Key, Any]]:
        """Yield (name, child) of the direct children that are nodes or Variables."""
        return iter_children(self)

    def set_attributes(
        self,
        *filters: Filter,
        raise_if_not_found: bool = True,
        graph: bool | None = None,
        **attributes: Any,
    ) -> None:
        """Set attributes of every Module below (and this one) that has them.

        Args:
            *filters: Only Modules that one of them matches; all if none is given.
            raise_if_not_found: Raise when no selected Module has one of the attributes.
            graph: Accepted for compatibility.
            **attributes: The new values.

        Raises:
            AttributesNotFoundError: See `raise_if_not_found`.
        """
        if filters:
            predicate = to_predicate(filters)
            selected = [m for path, m in iter_modules(self) if predicate(path, m)]
        else:
            selected = _all_modules(self)
        found = [(name, [m for m in selected if hasattr(m, name)]) for name in attributes]
        missing = [name for name, modules in found if not modules]
        if missing and raise_if_not_found:
            raise AttributesNotFoundError("set_attributes", missing, type(self).__name__)
        for name, modules in found:
            value = attributes[name]
            for module in modules:
                setattr(module, name, value)

    def train(self, **attributes: Any) -> None:
        """Switch to training: ``deterministic`` and ``use_running_average`` become False.

        Args:
            **attributes: More attributes to set where they exist.
        """
        self.set_attributes(
            **{"deterministic": False, "use_running_average": False, **attributes},
            raise_if_not_found=False,
        )

    def eval(self, **attributes: Any) -> None:
        """Switch to evaluation: ``deterministic`` and ``use_running_average`` become True.

        Args:
            **attributes: More attributes to set where they exist.
        """
        self.set_attributes(
            **{"deterministic": True, "use_running_average": True, **attributes},
            raise_if_not_found=False,
        )


def _wrong_type(
    method: str, module: Module, name: str, kind: type[Variable[Any]], found: object
) -> VariableError:
    wanted = f"of type '{kind.__name__}'" if isinstance(found, Variable) else "a Variable"
    return VariableError(
        method,
        f"Expected '{name}' to be {wanted}, got '{type(found).__name__}' "
        f"(attribute of {type(module).__name__}).",
        "record the value under another name",
    )


def _place_of(module: Module, kind: type[Variable[Any]]) -> Variable[Any] | None:
    """Return where a Module records values of a type while `capture` runs; None if nowhere."""
    places: tuple[Variable[Any], ...] = vars(module)[CAPTURES]
    return next((place for place in places if type(place) is kind), None)


def _type_of(variable_type: type[Variable[Any]] | str) -> type[Variable[Any]]:
    if isinstance(variable_type, str):
        return variable_type_from_name(variable_type, allow_register=True)
    return variable_type


def _all_modules(root: Module) -> list[Module]:
    """Return all Modules below one and itself; from its record, if that is current."""
    record = root._nnx_record
    if record is None or not record.keeps_structure():
        return [module for _, module in iter_modules(root)]
    return [root, *[found for found in record.objects if isinstance(found, Module)]]


def iter_modules(module: object, /, *, graph: bool | None = None) -> Iterator[tuple[Path, Module]]:
    """Yield (path, Module) of every Module in an object graph, children before their parent.

    Args:
        module: An object or container.
        graph: Accepted for compatibility.
    """
    del graph
    if kind_of(module) in (OBJECT, CONTAINER):
        for path, value in walk_objects(module, (), set()):
            if isinstance(value, Module):
                yield path, value


def iter_module_children(
    node: object, /, *, graph: bool | None = None
) -> Iterator[tuple[Key, Module]]:
    """Yield (name, Module) of the direct children that are Modules.

    Args:
        node: An object or container.
        graph: Accepted for compatibility.
    """
    for key, value in iter_children(node):
        if isinstance(value, Module):
            yield key, value


C = TypeVar("C")
R = TypeVar("R")
T = TypeVar("T")
Node = TypeVar("Node")
Leaf = TypeVar("Leaf")
AuxData = TypeVar("AuxData")
StrInt = TypeVar("StrInt", str, int)
F = TypeVar("F", bound=Callable[..., Any])
G = TypeVar("G", bound=Callable[..., Any])
HA = TypeVar("HA", bound=Hashable)
HB = TypeVar("HB", bound=Hashable)
KeyT = TypeVar("KeyT", bound=Hashable)
M = TypeVar("M", bound=Module)
MA = TypeVar("MA", bound=Module)
N = TypeVar("N", bound=Module)
V = TypeVar("V", bound=Variable[Any])
P = ParamSpec("P")
Fargs = ParamSpec("Fargs")
