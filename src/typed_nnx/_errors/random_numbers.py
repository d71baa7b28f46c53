"""Errors of random number streams."""

from __future__ import annotations

from collections.abc import Mapping

from typed_nnx._errors.public import public


@public
class StreamNotFoundError(AttributeError, KeyError):
    """A stream was asked for that `Rngs` does not have, and there is no stream ``default``.

    Attribute access raises it as an `AttributeError`, item access as a `KeyError`.

    Args:
        stream: The name that was asked for.
        streams: The names that exist.
    """

    def __init__(self, stream: str, streams: tuple[str, ...]) -> None:
        super().__init__(stream, streams)
        self.stream = stream
        self.streams = streams

    def __str__(self) -> str:
        has = ", ".join(map(repr, self.streams)) or "no streams"
        return (
            f"Rngs: No RngStream named {self.stream!r} and no stream 'default' to take its place; "
            f"this Rngs has {has}.\n"
            f"  Fix: give it a seed, `nnx.Rngs(..., {self.stream}=1)`, or a seed for every other "
            "stream, `nnx.Rngs(0, ...)`."
        )


@public
class AmbiguousStreamError(ValueError):
    """`with_rngs` was given two rules for one stream.

    Args:
        path: The path of the stream.
        rules: The filter that matches it, by the name of the rule.
    """

    def __init__(self, path: tuple[object, ...], rules: Mapping[str, object]) -> None:
        super().__init__(path, rules)
        self.path = path
        self.rules = rules

    def __str__(self) -> str:
        lines = "".join(f"\n    {name}: {given!r}" for name, given in self.rules.items())
        return (
            f"with_rngs: RngStream at path {self.path!r} matches multiple rules:{lines}\n"
            "  Fix: let one of `split`, `broadcast` and `fork` match it, or `...` in the others"
        )


@public
class InvalidSeedError(ValueError):
    """A stream was given something that is neither a seed nor a key.

    Args:
        stream: The name of the stream.
        seed: What was given.
    """

    def __init__(self, stream: str, seed: object) -> None:
        super().__init__(stream, seed)
        self.stream = stream
        self.seed = seed

    def __str__(self) -> str:
        return (
            f"Rngs: stream {self.stream!r} got {self.seed!r} ({type(self.seed).__name__}); "
            "expected an int, a key made by `jax.random.key`, or a stream.\n"
            "  Fix: pass an int, or make a key of the seed: `jax.random.key(seed)`."
        )


@public
class KeyShapeError(ValueError):
    """A key was drawn from a stream that holds an array of keys.

    Args:
        stream: The name of the stream.
        shape: The shape of its keys.
    """

    def __init__(self, stream: str, shape: tuple[int, ...]) -> None:
        super().__init__(stream, shape)
        self.stream = stream
        self.shape = shape

    def __str__(self) -> str:
        return (
            f"RngStream {self.stream!r}: it holds keys of shape {self.shape}, so it cannot draw "
            "one key; expected a single key of shape ().\n"
            "  Fix: draw inside `nnx.vmap` over the streams, which gives each call one of the keys; "
            "`nnx.split_rngs(splits=n)` above it makes the keys for the call."
        )


@public
class InvalidRngSplitError(TypeError):
    """`fork`, `split` or `broadcast` of random streams got something that is not a shape.

    Args:
        method: The method that was called.
        argument: The name of its argument.
        got: What was given.
    """

    def __init__(self, method: str, argument: str, got: object) -> None:
        super().__init__(method, argument, got)
        self.method = method
        self.argument = argument
        self.got = got

    def __str__(self) -> str:
        return (
            f"{self.method}: argument `{self.argument}` is {self.got!r} "
            f"({type(self.got).__name__}); expected an int, a tuple of ints, or a mapping from "
            "filters to them.\n"
            f"  Fix: `{self.argument}=2` for every stream, or "
            f"`{self.argument}={{'params': 2, ...: (2, 3)}}` by stream."
        )


@public
class ReseedPolicyError(ValueError):
    """`reseed` got a policy that it does not know.

    Args:
        policy: What was given.
    """

    def __init__(self, policy: object) -> None:
        super().__init__(policy)
        self.policy = policy

    def __str__(self) -> str:
        return (
            f"reseed: argument `policy` is {self.policy!r}; expected 'scalars_only', 'match_shape' "
            "or a function of path, key and shape that returns a key.\n"
            "  Fix: reseed(node, policy='match_shape', ...)"
        )


@public
class ReseedShapeError(ValueError):
    """`reseed` met a stream with an array of keys under the policy ``scalars_only``.

    Args:
        path: The path of the stream.
        shape: The shape of its keys.
    """

    def __init__(self, path: tuple[object, ...], shape: tuple[int, ...]) -> None:
        super().__init__(path, shape)
        self.path = path
        self.shape = shape

    def __str__(self) -> str:
        return (
            f"reseed: the stream at path {self.path!r} holds keys of shape {self.shape}; the "
            "policy 'scalars_only' expects single keys.\n"
            "  Fix: reseed(node, policy='match_shape', ...) if all its keys shall differ, or a "
            "policy of your own."
        )
