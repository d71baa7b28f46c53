"""What is known about a compiled program beside what jax knows: how objects go in and come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from typed_nnx._transforms import jit_mismatches
from typed_nnx._transforms.argnums import with_statics, without_statics
from typed_nnx._transforms.callables import describe
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat, Outcome, flattened
from typed_nnx._transforms.signature import Signature
from typed_nnx._transforms.stand_ins import StandIns, changes
from typed_nnx.errors import CompiledCallError


class Gathers(Protocol):
    """How a jitted function takes its arguments apart."""

    _lift: Lift

    def _gather(self, args: Any, kwargs: Any) -> Call: ...


class Program(NamedTuple):
    """What is known about a program beside what jax knows.

    Attributes:
        source: The jitted function.
        signature: What is static about the call for which it was made.
        statics: The static arguments by position.
        static_names: Those given by name.
        bound: Arguments, not static ones, that come before those of a call.
    """

    source: Gathers
    signature: Signature
    statics: Mapping[int, Any]
    static_names: Mapping[str, Any]
    bound: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The function and where it is defined."""
        return describe(self.source._lift.function)

    def complete(self, args: Sequence[Any]) -> list[Any]:
        """Return positional arguments with the static ones among them."""
        return with_statics(self.statics, args)

    def dynamic(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """Return positional arguments without the static ones."""
        return tuple(without_statics(self.statics, args))

    def pure(self, given: Any) -> jit_mismatches.Pure:
        """Return what jax says about the arguments in the form of `Call`."""
        (captured, *args), kwargs = given
        return self.complete(args), kwargs, captured

    def inputs(self, given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what jax says about each value that goes in, as the user knows the arguments."""
        args, kwargs = StandIns(self.signature).arguments(*self.pure(given))
        return self.dynamic(args), kwargs

    def flat(self, found: Any) -> Flat:
        """Return what comes out of jax in one form."""
        if isinstance(found, Outcome):
            return flattened(self.signature, found)
        return Flat(*found)

    def outputs(self, given: Any, found: Any) -> Any:
        """Return what jax says about each value that comes out, as the user knows the result."""
        flat = self.flat(found)
        made = StandIns(self.signature, flat)
        made.arguments(*self.pure(given))
        return made.result(flat)

    def changes(self, found: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what jax says about each value that changes, as States in the place of objects."""
        flat, signature = self.flat(found), self.signature
        args = changes(signature, flat, signature.arguments)
        named = changes(signature, flat, list(signature.keywords.values()))
        return self.dynamic(args), dict(zip(signature.keywords, named, strict=True))

    def call(self, stage: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a stage of jax with Modules.

        Raises:
            CompiledCallError: It was made for other arguments.
        """
        signature, names = self.signature, self.source._lift.parameters
        args = (*self.bound, *args)
        count = len(signature.arguments) - len(self.statics)
        if len(args) != count:
            line = f"{count} positional arguments before, {len(args)} now"
            raise CompiledCallError(self.name, [line])
        call = self.source._gather(self.complete(args), {**kwargs, **self.static_names})
        if call.signature.key != signature.key:
            changed = jit_mismatches.structural(names, signature, call.signature)
            raise CompiledCallError(self.name, changed)
        named = {
            name: value for name, value in call.kwargs.items() if name not in self.static_names
        }
        try:
            found = stage(call.captured, *self.dynamic(call.args), **named)
        except TypeError as error:
            avals = self.pure(stage.in_avals)
            changed = jit_mismatches.types(
                names, signature, avals, (call.args, named, call.captured)
            )
            if not changed:
                raise
            raise CompiledCallError(self.name, changed) from error
        return self.source._lift.finish(call, self.flat(found))
