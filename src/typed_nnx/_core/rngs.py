"""Random numbers: named streams of keys, each a key and a count of how many were drawn.

A stream gives ``fold_in(key, 0)``, ``fold_in(key, 1)``, ... and counts on. Both live in Variables,
so they travel with the module that holds them and every transform sees them as state.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

import jax
import jax.core
import jax.numpy as jnp

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.jax_runtime import context
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.samplers import Samplers
from typed_nnx._core.variable import Variable
from typed_nnx.errors import ArgumentError, ArgumentTypeError, KeyShapeError, StreamNotFoundError

KeyShape: TypeAlias = int | tuple[int, ...]
"""How many keys: a count or a shape."""

KeyShapes: TypeAlias = Mapping[Filter, KeyShape | None] | KeyShape
"""A shape for every stream, or by filter; None leaves the matching streams as they are."""


class ShapeRules:
    """Find the shape of a stream: the first filter that matches it holds.

    Errors name `method`, the public function that got `shapes`, and `argument`.

    Raises:
        ArgumentTypeError: `shapes` is none of these.
    """

    def __init__(self, method: str, argument: str, shapes: KeyShapes | None) -> None:
        if shapes is None:
            shapes = {}
        elif isinstance(shapes, int | tuple):
            shapes = {...: shapes}
        elif not isinstance(shapes, Mapping):
            raise not_key_shapes(method, argument, shapes)
        self._rules = [(filter_, to_predicate(filter_), shape) for filter_, shape in shapes.items()]

    def shape_of(self, stream: object, path: tuple[object, ...] = ()) -> KeyShape | None:
        """Return the shape for `stream`; None where no filter matches or the shape is None."""
        return self.rule_of(stream, path)[1]

    def rule_of(self, stream: object, path: tuple[object, ...]) -> tuple[Filter, KeyShape | None]:
        """Return the filter that takes `stream` and the shape; None, None where there is none."""
        found = ((given, shape) for given, matches, shape in self._rules if matches(path, stream))
        return next(found, (None, None))


def not_key_shapes(method: str, argument: str, got: object) -> ArgumentTypeError:
    return ArgumentTypeError.of_argument(
        method,
        argument,
        got,
        "an int, a tuple of ints, or a mapping from filters to them",
        f"`{argument}=2` for every stream, or `{argument}={{'params': 2, ...: (2, 3)}}` by stream.",
    )


RngValue: TypeAlias = int | jax.Array
"""A seed: an int, a typed key (any shape) or a legacy key (uint32 with a last axis of key data)."""


# One dispatch for both, a fifth of the time of the two; inside a trace there is no call.
@functools.partial(jax.jit, inline=True)
def _draw(key: jax.Array, count: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jax.random.fold_in(key, count), count + 1


# Functions of a key, a shape and a dtype that this module may compile. It compiles them once per
# shape and keeps the programs, so they live as long as the process.
Fill: TypeAlias = Callable[[jax.Array, tuple[int, ...], Any], jax.Array]


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _draw_filled(
    fill: Fill, shape: tuple[int, ...], dtype: object, key: jax.Array, count: jax.Array
) -> tuple[jax.Array, jax.Array]:
    return fill(jax.random.fold_in(key, count), shape, dtype), count + 1


_next_count = jax.jit(lambda count: count + 1)
_constant = jax.jit(lambda fill, shape, dtype: fill(None, shape, dtype), static_argnums=(0, 1, 2))


class RngState(Variable[jax.Array]):
    """The state of a random stream; its metadata ``tag`` is the name of the stream."""

    __slots__ = ()

    # A repr counts keys and counters of streams together.
    __nnx_counts_subclasses__: ClassVar[bool] = True

    tag: str


class RngKey(RngState):
    """The key of a random stream: a typed PRNG key, ``()`` or one per split."""

    __slots__ = ()


class RngCount(RngState):
    """How many keys a random stream has given: uint32 of the shape of its key."""

    __slots__ = ()


class RngStream(Pytree, Samplers):
    """A named, endless sequence of PRNG keys.

    Args:
        key: The seed or key that the sequence starts from.
        tag: The name of the stream; string filters match it.

    Raises:
        ArgumentError: `key` is neither an int nor a PRNG key.
    """

    tag: str
    key: RngKey
    count: RngCount

    def __init__(self, key: RngValue, *, tag: str) -> None:
        typed_key = _typed_key(key, tag)
        self.tag = tag
        self.key = RngKey(typed_key, tag=tag)
        self.count = RngCount(jnp.zeros(typed_key.shape, jnp.uint32), tag=tag)

    def __call__(self) -> jax.Array:
        """Return the next key of the stream.

        Raises:
            KeyShapeError: The stream holds an array of keys.
            TraceLevelError: The stream belongs to another jax trace.
        """
        if self.count._nnx_trace != context.trace:
            self.count._refuse()  # before the values are read, which may have leaked out of a trace
        next_key: jax.Array
        next_key, self.count[...] = _draw(self._single_key(), self.count[...])
        return next_key

    def _filled(
        self, fill: Fill, shape: tuple[int, ...], dtype: object, is_constant: bool
    ) -> jax.Array:
        """Return ``fill(self(), shape, dtype)``, computed by one program instead of ten.

        The results of the two ways of `fill` must be equal bit by bit; if it `is_constant`, it does not
        look at the key. The dtype is a real float.
        """
        key, count = self._single_key(), self.count[...]
        if isinstance(key, jax.core.Tracer) or isinstance(count, jax.core.Tracer):
            return fill(self(), shape, dtype)
        if self.count._nnx_trace != context.trace:
            self.count._refuse()
        value: jax.Array
        if is_constant:
            value, self.count[...] = _constant(fill, shape, dtype), _next_count(count)
        else:
            value, self.count[...] = _draw_filled(fill, shape, dtype, key, count)
        return value

    def fork(self, *, split: KeyShape | None = None) -> RngStream:
        """Return a new stream that starts from the next key of this one.

        Args:
            split: Deprecated; use `split` for a stream with an array of keys.
        """
        if split is None:
            return self._start(self())
        _warn_split_argument()
        return self.split(split)

    def split(self, k: KeyShape) -> RngStream:
        """Return a new stream of `k` different keys, split from the next key of this one."""
        return self._start(jax.random.split(self(), k))

    def broadcast(self, k: KeyShape) -> RngStream:
        """Return a new stream with the next key of this one, repeated to shape `k`."""
        shape = (k,) if isinstance(k, int) else k
        return self._start(jnp.broadcast_to(self(), shape))

    def _single_key(self) -> jax.Array:
        key = self.key[...]
        if key.ndim and jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
            raise KeyShapeError(self.tag, key.shape)
        return key

    def _start(self, key: jax.Array) -> RngStream:
        return type(self)(key, tag=self.tag)


class Rngs(Pytree, Samplers):
    """A set of random streams, each an attribute; an unknown name means the stream ``default``.

    Calling the object, or one of its samplers, draws from ``default``:

    >>> rngs = Rngs(0, dropout=1)
    >>> rngs.params().shape, rngs["dropout"]().shape, rngs.normal((2, 3)).shape
    ((), (), (2, 3))

    Args:
        default: Seed, key or stream of ``default``; or a mapping from names to them.
        **rngs: Seed, key or stream of each further stream. Of a stream the key is taken and the
            count starts again.

    Raises:
        ArgumentError: One of them is neither an int, a PRNG key nor a stream.
    """

    def __init__(
        self,
        default: RngValue | RngStream | Mapping[str, RngValue | RngStream] | None = None,
        **rngs: RngValue | RngStream,
    ) -> None:
        seeds = dict(rngs)
        if isinstance(default, Mapping):
            seeds = {**default, **rngs}
        elif default is not None:
            seeds["default"] = default
        streams = {name: _stream(name, seed) for name, seed in seeds.items()}
        for name, stream in streams.items():
            setattr(self, name, stream)

    def __call__(self) -> jax.Array:
        """Return the next key of the stream ``default``."""
        return self._stream("default")()

    def __getattr__(self, name: str) -> RngStream:
        # Copying, pickling and notebooks look for private names: they are no streams.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._stream(name)

    def __getitem__(self, name: str) -> RngStream:
        return self._stream(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(vars(self).get(name), RngStream) if isinstance(name, str) else False

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.items())

    def __len__(self) -> int:
        return sum(1 for _ in self.items())

    def items(self) -> Iterator[tuple[str, RngStream]]:
        """Iterate over the names of the streams and the streams."""
        for name, value in vars(self).items():
            if isinstance(value, RngStream):
                yield name, value

    def fork(self, /, *, split: KeyShapes | None = None) -> Rngs:
        """Return new streams that start from the next key of each of these.

        Args:
            split: Deprecated; use `split` for streams with arrays of keys.
        """
        if split is not None:
            _warn_split_argument()
        rules = ShapeRules("Rngs.fork", "split", split)
        return self._renew(rules, lambda stream, k: stream.split(k), lambda stream: stream.fork())

    def split(self, k: KeyShapes) -> Rngs:
        """Return new streams of `k` different keys each, split from the next keys of these.

        Args:
            k: A count or shape for every stream; or a mapping from filters to them, of which the
                first that matches a stream holds. A stream that none matches keeps its key and
                starts counting again.

        Raises:
            ArgumentTypeError: `k` is none of these.
        """
        return self._renew(ShapeRules("Rngs.split", "k", k), lambda stream, k: stream.split(k))

    def broadcast(self, k: KeyShapes | None) -> Rngs:
        """Return new streams with the next key of each of these, repeated to shape `k`.

        Args:
            k: A count or shape for every stream; or a mapping from filters to them, of which the
                first that matches a stream holds. A stream that none matches, and every stream for
                None, keeps its key and starts counting again.

        Raises:
            ArgumentTypeError: `k` is none of these.
        """
        rules = ShapeRules("Rngs.broadcast", "k", k)
        return self._renew(rules, lambda stream, shape: stream.broadcast(shape))

    def _stream(self, name: str) -> RngStream:
        streams = vars(self)
        for candidate in (name, "default"):
            stream = streams.get(candidate)
            if isinstance(stream, RngStream):
                return stream
        raise StreamNotFoundError(name, tuple(self))

    def _renew(
        self,
        shapes: ShapeRules,
        shaped: Callable[[RngStream, KeyShape], RngStream],
        otherwise: Callable[[RngStream], RngStream] | None = None,
    ) -> Rngs:
        plan = [(name, stream, shapes.shape_of(stream)) for name, stream in self.items()]
        for _, stream, shape in plan:
            if shape is not None or otherwise is not None:
                # Before any stream counts on: an error must leave all of them as they were.
                stream._single_key()
        streams: dict[str, RngValue | RngStream] = {}
        for name, stream, shape in plan:
            if shape is not None:
                streams[name] = shaped(stream, shape)
            else:
                streams[name] = stream if otherwise is None else otherwise(stream)
        return Rngs(**streams)


def _stream(name: str, seed: RngValue | RngStream) -> RngStream:
    return RngStream(seed.key[...] if isinstance(seed, RngStream) else seed, tag=name)


def _typed_key(seed: RngValue, stream: str) -> jax.Array:
    if isinstance(seed, int):
        return jax.random.key(seed)
    if isinstance(seed, jax.Array):
        if jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
            return seed
        if seed.dtype == jnp.uint32 and seed.ndim:
            # jax does not say what it returns: the annotated name keeps `Any` from getting out.
            typed_key: jax.Array = jax.random.wrap_key_data(seed)
            return typed_key
    raise ArgumentError(
        "Rngs",
        f"stream {stream!r} got {seed!r} ({type(seed).__name__}); expected an int, a key made by "
        "`jax.random.key`, or a stream.",
        "pass an int, or make a key of the seed: `jax.random.key(seed)`.",
    )


def _warn_split_argument() -> None:
    warnings.warn(
        "fork: the argument `split` is deprecated.\n  Fix: rngs.split(2) for rngs.fork(split=2)",
        DeprecationWarning,
        stacklevel=3,
    )
