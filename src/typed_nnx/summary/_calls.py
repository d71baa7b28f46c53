"""A dry run of a model that notes each call of a method of an object in it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from typed_nnx._core.containers import Dict, List
from typed_nnx._core.nodes import GraphNode, walk_objects
from typed_nnx._core.paths import Key, Path, key_of_entry, sorted_keys
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.rngs import RngStream
from typed_nnx._core.variable import Variable
from typed_nnx._graph.split import merge, split, state
from typed_nnx._graph.views import instrumented

Value: TypeAlias = Any
"""An argument or result of a method, or a part of one."""

Args: TypeAlias = tuple[Any, ...]
Method: TypeAlias = Callable[..., Any]
Kwargs: TypeAlias = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class _Shape:
    """Takes the place of an argument that is a shape, which would otherwise be a static value."""

    number: int


@dataclasses.dataclass(frozen=True)
class AbstractCall:
    """A call of a method of an object.

    Attributes:
        method: The name of the method.
        leaves: The shapes of the arrays in the object and the arguments.
        rebuilt: Makes (object, args, kwargs) of arrays in their place.
    """

    method: str
    leaves: list[Value]
    rebuilt: Callable[[list[Value]], tuple[Value, Args, Kwargs]]

    @classmethod
    def of(cls, node: object, method: str, args: Args, kwargs: Kwargs) -> AbstractCall:
        """Take a call apart; the object and the arguments stay as they are."""
        shapes: list[Value] = []

        def marked(leaf: Value) -> Value:
            if not isinstance(leaf, jax.ShapeDtypeStruct):
                return leaf
            shapes.append(leaf)
            return _Shape(len(shapes) - 1)

        args, kwargs = jax.tree.map(marked, (args, kwargs), is_leaf=_is_node)
        graphdef, state = split((node, args, kwargs))
        found, treedef = jax.tree.flatten(state)
        places = [number for number, leaf in enumerate(found) if _is_array_argument(leaf)]
        dynamic = [_abstract(found[number]) for number in places]
        statics = [None if _is_array_argument(leaf) else leaf for leaf in found]

        def rebuilt(leaves: list[Value]) -> Value:
            every = list(statics)
            for number, leaf in zip(places, leaves, strict=False):
                every[number] = leaf
            own = leaves[len(places) :]
            made, args, kwargs = merge(graphdef, jax.tree.unflatten(treedef, every))
            args, kwargs = jax.tree.map(
                lambda leaf: own[leaf.number] if isinstance(leaf, _Shape) else leaf,
                (args, kwargs),
                is_leaf=_is_node,
            )
            return made, args, kwargs

        return cls(method, [*dynamic, *shapes], rebuilt)

    def flops(self) -> int:
        """Return the floating point operations of the call, as XLA counts them before it compiles.

        They are those of the result: what updates statistics alone does not count.
        """
        return _flops(self._run, self.leaves)

    def vjp_flops(self) -> int:
        """Return the floating point operations of the call and of its gradient.

        The gradient is that of all results that have one, with respect to all arrays of the object
        and the arguments.
        """

        def smooth(leaves: list[Value]) -> tuple[list[jax.Array], list[jax.Array]]:
            results = self._run(leaves)
            kept = [array for array in results if _is_inexact(array)]
            return kept, [array for array in results if not _is_inexact(array)]

        def both(leaves: list[Value]) -> Value:
            results, pullback, others = jax.vjp(smooth, leaves, has_aux=True)
            return pullback(results), others

        return _flops(both, self.leaves)

    def _run(self, leaves: list[Value]) -> list[jax.Array]:
        node, args, kwargs = self.rebuilt(leaves)
        result = getattr(node, self.method)(*args, **kwargs)
        return [leaf for leaf in jax.tree.leaves(result) if isinstance(leaf, jax.Array)]


def _flops(function: Callable[[list[Value]], Value], leaves: list[Value]) -> int:
    with _for_the_cpu():
        costs: Value = jax.jit(function).lower(leaves).cost_analysis()
    return int((costs or {}).get("flops", 0))


def _for_the_cpu() -> contextlib.AbstractContextManager[Any]:
    """Lower for the CPU, where there is one: for a GPU jax estimates nothing before it compiles."""
    try:
        device = jax.local_devices(backend="cpu")[0]
    except RuntimeError:  # JAX_PLATFORMS names others only
        return contextlib.nullcontext()
    made: contextlib.AbstractContextManager[Any] = jax.default_device(device)
    return made


def _is_inexact(array: jax.Array) -> bool:
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def _is_node(value: object) -> bool:
    return isinstance(value, GraphNode | Variable)


def _is_array_argument(value: object) -> bool:
    return isinstance(value, jax.Array | np.ndarray | np.generic | jax.ShapeDtypeStruct)


def _abstract(leaf: Value) -> jax.ShapeDtypeStruct:
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    dtype = leaf.dtype if isinstance(leaf, jax.Array) else jax.dtypes.canonicalize_dtype(leaf.dtype)
    weak = bool(getattr(leaf, "weak_type", False))
    struct: Value = jax.ShapeDtypeStruct  # untyped in jax
    made: jax.ShapeDtypeStruct = struct(leaf.shape, dtype, weak_type=weak)
    return made


@dataclasses.dataclass
class CallInfo:
    """One call of a method of an object of the model.

    Attributes:
        call_order: The number of the call, in the order in which calls began.
        object_id: The id of the object.
        type: Its type.
        path: Its path; a method other than ``__call__`` is the last part.
        inputs_repr: Its inputs, as the table shows them.
        outputs: Its outputs, described: dicts and lists of `ArrayRepr` and text.
        flops: Floating point operations of the call; None unless asked for.
        vjp_flops: The same for the call and its gradient.
    """

    call_order: int
    object_id: int
    type: type
    path: tuple[Key, ...]
    inputs_repr: str
    outputs: Any
    flops: int | None
    vjp_flops: int | None


def filter_rng_streams(row: CallInfo) -> bool:
    """Whether a row is about something else than a random stream; what `tabulate` shows."""
    return not issubclass(row.type, RngStream)


@dataclasses.dataclass(frozen=True)
class ArrayRepr:
    """The dtype and shape of an array; its text is ``float32[2,3]``."""

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def of(cls, array: Value) -> ArrayRepr:
        """Describe an array, a tracer or a shape."""
        return cls(tuple(array.shape), array.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


Description: TypeAlias = "ArrayRepr | str | dict[str, Description] | list[Description]"


def describe_input(value: object) -> Description:
    """Describe an argument: static values by their text, Modules by their type."""
    return _describe(value, is_input=True)


def describe_output(value: object) -> Description:
    """Describe a result: numbers as the arrays that they become, Modules by their State."""
    return _describe(value, is_input=False)


def describe_variable(variable: Variable[Value]) -> Description:
    """Describe a Variable: its value, and its metadata if it has any."""
    value = describe_output(variable.get_raw_value())
    metadata = variable.get_metadata(exclude_required=True)
    named = {name: describe_input(item) for name, item in metadata.items() if item is not None}
    if not named:
        return value
    parts: dict[str, Description] = {**named, "value": value}
    return {name: parts[name] for name in sorted(parts)}


def _describe(value: Value, is_input: bool) -> Description:
    if value is None or isinstance(value, str):
        return str(value)
    if _is_array_argument(value) or isinstance(value, jax.Ref):
        return ArrayRepr.of(value)
    if isinstance(value, bool | int | float | complex):
        return str(value) if is_input else ArrayRepr.of(jax.eval_shape(lambda: value))
    if isinstance(value, type):
        return f"type[{value.__name__}]"
    if isinstance(value, Variable):
        found = describe_variable(value)
        return found if isinstance(found, dict) or is_input else {"value": found}
    if isinstance(value, GraphNode):
        return type(value).__name__ if is_input else _describe(state(value), is_input)
    return _describe_container(value, is_input)


def _describe_container(value: Value, is_input: bool) -> Description:
    if isinstance(value, Mapping):
        return {str(key): _describe(value[key], is_input) for key in sorted_keys(value)}
    fields: tuple[str, ...] | None = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return {name: _describe(getattr(value, name), is_input) for name in fields}
    if isinstance(value, list | tuple):
        return [_describe(item, is_input) for item in value]
    entries = jax.tree_util.tree_leaves_with_path(value, is_leaf=lambda found: found is not value)
    if len(entries) == 1 and entries[0][1] is value:
        return _name(value)
    return {str(key_of_entry(path[0])): _describe(child, is_input) for path, child in entries}


def _name(value: object) -> str:
    """Return the text of a static value: the name of a function, the text of a number."""
    name = getattr(value, "__name__", None)
    if isinstance(name, str):
        return name
    text = repr(value)
    # An address says nothing.
    return type(value).__name__ if " at 0x" in text else text


def text_of(description: Description) -> str:
    """Return a description as text, nested parts on lines of their own as YAML writes them.

    >>> print(text_of({"y": ArrayRepr((1, 2), "float32"), "z": [ArrayRepr((), "int32"), "None"]}))
    y: float32[1,2]
    z:
    - int32[]
    - None
    """
    return "\n".join(_lines(description))


def _lines(description: Description) -> list[str]:
    if isinstance(description, dict):
        lines = [line for key, item in description.items() for line in _entry(key, item)]
        return lines or ["{}"]
    if isinstance(description, list):
        items = [_lines(item) for item in description]
        return [
            f"{'  ' if number else '- '}{line}"
            for item in items
            for number, line in enumerate(item)
        ] or ["[]"]
    return str(description).split("\n")


def _entry(key: str, item: Description) -> list[str]:
    lines = _lines(item)
    if isinstance(item, dict | list) and item:
        indent = "  " if isinstance(item, dict) else ""
        return [f"{key}:", *[indent + line for line in lines]]
    return [f"{key}: {lines[0]}", *lines[1:]]


_TAG = "_nnx_summary_tag"


class Tag:
    """A static attribute that tells which object of the model a copy in a transform was made of.

    It is equal to itself alone, so that no jitted method takes a trace from before.
    """

    __slots__ = ("object_id", "path", "recording")

    def __init__(self, recording: Recording, path: Path, object_id: int) -> None:
        self.recording = recording
        self.path = path
        self.object_id = object_id

    def __repr__(self) -> str:
        return f"Tag{self.path}"


@dataclasses.dataclass
class Recorded:
    """A call that was noted, with the path of its object; `call` is compiled later."""

    info: CallInfo
    module_path: Path
    call: AbstractCall


class Recording:
    """The calls of one dry run; a method is noted once for each kind of inputs.

    `depth` is the length of the longest path that is noted; None for all.
    """

    def __init__(self, depth: int | None) -> None:
        self.rows: list[Recorded] = []
        self._depth = depth
        self._seen: set[tuple[Path, str, str]] = set()
        self._ids: dict[Path, int] = {}

    def run(self, node: object, method: str, args: Args, kwargs: Kwargs) -> None:
        """Call a method of an object with shapes alone; the object stays as it is."""
        self._ids = {path: id(found) for path, found in walk_objects(node, (), set())}
        call = AbstractCall.of(node, method, args, kwargs)

        def dry(leaves: list[Value]) -> None:
            copy, args, kwargs = call.rebuilt(leaves)
            tagged: list[type] = []
            for path, node in list(walk_objects(copy, (), set())):
                # To a List and a Dict an attribute is an element.
                if isinstance(node, Pytree) and not isinstance(node, List | Dict):
                    node._assign(_TAG, Tag(self, path, self._ids[path]))
                    tagged.append(type(node))
            with instrumented(tagged, self.call):
                getattr(copy, method)(*args, **kwargs)

        jax.eval_shape(dry, call.leaves)

    def call(self, name: str, node: object, method: Method, args: Args, kwargs: Kwargs) -> Value:
        """Call a method and note it."""
        tag = vars(node).get(_TAG)
        if tag is None or tag.recording is not self:
            return method(*args, **kwargs)
        path = tag.path if name == "__call__" else (*tag.path, name)
        inputs = text_of(_inputs(args, kwargs))
        key = (tag.path, name, inputs)
        # The call that was asked for is shown in any case.
        is_shown = self._depth is None or not self.rows or len(path) <= self._depth
        if key in self._seen or not is_shown:
            return method(*args, **kwargs)
        self._seen.add(key)
        info = CallInfo(len(self.rows), tag.object_id, type(node), path, inputs, None, None, None)
        row = Recorded(info, tag.path, AbstractCall.of(node, name, args, kwargs))
        self.rows.append(row)
        result = method(*args, **kwargs)
        info.outputs = describe_output(result)
        return result


def _inputs(args: Args, kwargs: Kwargs) -> Description:
    positional = [describe_input(arg) for arg in args]
    named = {name: describe_input(kwargs[name]) for name in sorted(kwargs)}
    if not named:
        return positional[0] if len(positional) == 1 else positional or ""
    if not positional:
        return named
    return f"{text_of(positional)}\n{text_of(named)}"
