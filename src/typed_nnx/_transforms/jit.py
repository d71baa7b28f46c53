"""`jit`: compiled functions that take, change and return Modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar, overload

import jax

from typed_nnx._core.bounded import Bounded
from typed_nnx._core.tracebacks import hide_frames, hides_frames
from typed_nnx._core.unset import UNSET
from typed_nnx._graph import verify
from typed_nnx._transforms import jit_dispatch
from typed_nnx._transforms.argnums import ArgNames, ArgNums, resolve, spread, without_statics
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.interned import Interned
from typed_nnx._transforms.jit_explanations import (
    check_donated,
    check_hashable,
    check_static_objects,
)
from typed_nnx._transforms.jit_stages import Staged
from typed_nnx._transforms.outcomes import Flat, Outcome, mirrored
from typed_nnx._transforms.prefixes import Prefix, pure_prefix
from typed_nnx._transforms.result_checks import NO_PREFIX
from typed_nnx._transforms.shown import names_of_one, shown
from typed_nnx._transforms.signature import Effects, Signature
from typed_nnx._transforms.write_back import write_back

#: A device of jax, whose class has no types that checkers agree on.
Device: TypeAlias = Any

P = ParamSpec("P")
R = TypeVar("R")


class JitOptions(NamedTuple):
    """The options of `jax.jit`, with positions counted as in the user's function."""

    in_shardings: Any = None
    out_shardings: Any = None
    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()
    rest: dict[str, Any] = {}  # noqa: RUF012 -- never changed

    @property
    def has_shardings(self) -> bool:
        """Whether shardings are given, which depend on the arguments of each call."""
        return self.in_shardings is not None or self.out_shardings is not None


# The signature and what is captured come first.
_BEFORE = 2


class JitWrapped(Staged[P, R]):
    """A function compiled by XLA; what `jit` returns."""

    transform = "jit"

    def __init__(
        self,
        function: Callable[P, R],
        options: JitOptions,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        super().__init__(function, graph, graph_updates)
        self._check_prefixes(in_shardings=options.in_shardings, out_shardings=options.out_shardings)
        self._options = options
        self._statics = frozenset(options.static_argnums)
        self._static_names = frozenset(options.static_argnames)
        self._donated = frozenset(options.donate_argnums)
        self._is_general = options.has_shardings
        self._prepare()

    def _prepare(self) -> None:
        # Signatures by what the quick way sees of a call, and by all that they are made of.
        self._quick: Bounded[Any, Signature] = Bounded()
        self._signatures = Interned()
        self._with_shardings: Bounded[Signature, Any] = Bounded(64)
        self._fixed: dict[Any, JitWrapped[P, R]] = {}  # for `cached_partial`
        self._jitted = self._compile(None)

    # -- the jitted function ------------------------------------------------------------------------

    def _compile(self, call: Call | None) -> Any:
        """Return what jax compiles; with shardings it is made for one kind of call."""
        options = self._options
        lift = self._lift
        has_shardings = options.has_shardings

        def flat(signature: Signature, captured: Any, /, *args: Any, **kwargs: Any) -> Any:
            outs = options.out_shardings if has_shardings else NO_PREFIX
            found = lift.run(signature, args, kwargs, captured, outs)
            return mirrored(signature, found) if has_shardings else tuple(found)

        signatures = self._signatures

        def names(own: Any, captured: Any, *args: Any) -> Any:
            every, closed = names_of_one(lift.parameters, signatures, args, captured)
            return own, closed, *every

        shardings: dict[str, Any] = {}
        if call is not None:
            if options.in_shardings is not None:
                dynamic = without_statics(self._statics, call.prefixes)
                shardings["in_shardings"] = (None, *dynamic)
            shardings["out_shardings"] = Outcome(
                tuple([None if n in self._statics else p for n, p in enumerate(call.prefixes)])
                if options.in_shardings is not None
                else None,  # type: ignore[arg-type]  # a prefix tree
                None,  # type: ignore[arg-type]  # a prefix tree
                None,  # type: ignore[arg-type]  # a prefix tree
                pure_prefix(options.out_shardings),
                None,  # type: ignore[arg-type]  # a prefix tree
            )
        return jax.jit(
            shown(flat, lift.function, names),
            static_argnums=(0, *[number + _BEFORE for number in options.static_argnums]),
            static_argnames=options.static_argnames or None,
            donate_argnums=tuple([number + _BEFORE for number in options.donate_argnums]),
            donate_argnames=options.donate_argnames or None,
            **shardings,
            **options.rest,
        )

    # -- calls ------------------------------------------------------------------------------------------

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the compiled function."""
        try:
            if self._is_general or verify.enabled:
                return self._call(args, kwargs)
            captures = self._lift.known_captures
            if captures is None or not captures.is_nothing:
                captures = self._lift.captures()
            if kwargs or captures.objects:
                return self._call_with(args, kwargs, captures.objects)
            gathered = jit_dispatch.gather(args, self._statics)
            if gathered is None:
                return self._call(args, kwargs)
            signature = self._quick[gathered.key]
            if signature is None:
                return self._first_call(gathered, gathered.key, args, kwargs)
            try:
                found = self._jitted(signature, (), *gathered.values)
            except (TypeError, ValueError, RuntimeError) as error:
                self._explain(error, args, kwargs)
                raise
            effects: Effects = found[2].value
            if effects.is_nothing:
                return found[1]  # type: ignore[no-any-return]  # what the function returned
            return self._finish(signature, gathered, args, found)
        except Exception as error:
            hide_frames(error)
            raise

    def _call_with(self, args: Any, kwargs: Any, captured: list[Any]) -> R:
        """Call it with keyword arguments, or objects that the function closes over, too."""
        count, before = len(args), len(args) + len(kwargs)
        gathered = None
        everything: tuple[Any, ...] = (*args, *kwargs.values(), *captured)
        if not self._static_names.intersection(kwargs):
            statics = frozenset([number for number in self._statics if number < count])
            gathered = jit_dispatch.gather(everything, statics)
        if gathered is None:
            return self._call(args, kwargs)
        values = gathered.values
        key = (gathered.key, count, *kwargs)
        signature = self._quick[key]
        if signature is None:
            return self._first_call(gathered, key, args, kwargs)
        named = dict(zip(kwargs, values[count:before], strict=True))
        try:
            found = self._jitted(signature, tuple(values[before:]), *values[:count], **named)
        except (TypeError, ValueError, RuntimeError) as error:
            self._explain(error, args, kwargs)
            raise
        return self._finish(signature, gathered, everything, found)

    def _finish(
        self, signature: Signature, gathered: jit_dispatch.Gathered, args: Sequence[Any], found: Any
    ) -> R:
        """Write what a call changed, and return its result."""
        updates, result, static = found
        effects: Effects = static.value
        if effects.is_only_values and jit_dispatch.write(gathered.records, effects, updates):
            return result  # type: ignore[no-any-return]  # what the function returned
        places = gathered.places(args, signature)
        return write_back(signature.parts, places, Flat(updates, result, static))  # type: ignore[no-any-return]  # the same

    def _first_call(self, gathered: jit_dispatch.Gathered, key: Any, args: Any, kwargs: Any) -> R:
        """Take the general way, and remember its signature for the quick one."""
        call = self._gather(args, kwargs)
        signature = self._intern(call)
        structures = [token for token in gathered.key if token is not None]
        # Another thread may have changed a structure meanwhile.
        if structures == [part.graphdef.token for part in signature.parts]:
            self._quick.add(key, signature)
        return self._call(args, kwargs, call)

    def _call(self, args: Any, kwargs: Any, call: Call | None = None) -> R:
        if call is None:
            call = self._gather(args, kwargs)
        signature = self._intern(call)
        jitted = self._jitted_for(signature, call)
        try:
            found = jitted(signature, call.captured, *call.args, **call.kwargs)
        except (TypeError, ValueError, RuntimeError) as error:
            self._explain(error, args, kwargs)
            raise
        outcome = found if isinstance(found, Outcome) else Flat(*found)
        return self._lift.finish(call, outcome)  # type: ignore[no-any-return]  # what the function returned

    def _explain(self, error: Exception, args: Any, kwargs: Any) -> None:
        """Raise a better error than that of jax, where there is one."""
        statics = [(n, args[n]) for n in sorted(self._statics) if n < len(args)]
        named = [(name, kwargs[name]) for name in self._static_names if name in kwargs]
        check_hashable(self._lift, [*statics, *named])
        if "donate" in str(error) or "deleted" in str(error):
            check_donated(self._lift, self._gather(args, kwargs))

    def _jitted_for(self, signature: Signature, call: Call) -> Any:
        if not self._options.has_shardings:
            return self._jitted
        found = self._with_shardings[signature]
        return found or self._with_shardings.add(signature, self._compile(call))

    def _gather(self, args: Any, kwargs: Any) -> Call:
        # With shardings all values come back placed, so that the next call need not place them again.
        positional = [(n, args[n]) for n in self._statics if n < len(args)]
        named = [(name, kwargs[name]) for name in self._static_names.intersection(kwargs)]
        check_static_objects(self._lift, [*positional, *named])
        placed = self._options.in_shardings is not None
        kept = [placed or number in self._donated for number in range(len(args))]
        return self._lift.gather(
            args,
            kwargs,
            self._prefixes(len(args)),
            kept=kept,
            kept_names=self._options.donate_argnames,
            statics=self._statics,
            static_names=self._static_names,
        )

    def _prefixes(self, count: int) -> list[Prefix]:
        dynamic = [number for number in range(count) if number not in self._statics]
        own = iter(
            spread(f"{self._lift.title}: in_shardings", self._options.in_shardings, len(dynamic))
        )
        return [None if number in self._statics else next(own) for number in range(count)]


@overload
def jit(
    fun: Callable[P, R],
    *,
    in_shardings: Any = ...,
    out_shardings: Any = ...,
    static_argnums: ArgNums = ...,
    static_argnames: ArgNames = ...,
    donate_argnums: ArgNums = ...,
    donate_argnames: ArgNames = ...,
    keep_unused: bool = ...,
    device: Device | None = ...,
    backend: str | None = ...,
    inline: bool = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> JitWrapped[P, R]: ...
@overload
def jit(
    *,
    in_shardings: Any = ...,
    out_shardings: Any = ...,
    static_argnums: ArgNums = ...,
    static_argnames: ArgNames = ...,
    donate_argnums: ArgNums = ...,
    donate_argnames: ArgNames = ...,
    keep_unused: bool = ...,
    device: Device | None = ...,
    backend: str | None = ...,
    inline: bool = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[Callable[P, R]], JitWrapped[P, R]]: ...
@hides_frames
def jit(
    fun: Any = UNSET,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: ArgNums = None,
    static_argnames: ArgNames = None,
    donate_argnums: ArgNums = None,
    donate_argnames: ArgNames = None,
    keep_unused: bool = False,
    device: Device | None = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Compile a function of Modules, Variables and arrays, as `jax.jit` does for arrays.

    What the function does to its Modules is seen outside: new values, new and removed attributes,
    shared references. It is traced once for each structure of its arguments.

    >>> import jax.numpy as jnp
    >>> @jit
    ... def double(variable):
    ...     variable[...] = 2 * variable[...]
    >>> weight = Param(jnp.ones(()))
    >>> double(weight)
    >>> float(weight[...])
    2.0

    Args:
        fun: Any callable. Without it a decorator is returned.
        in_shardings: Shardings of the positional arguments: one for all or one for each; for a
            Module may be a `StateSharding`. Changed values keep them.
        out_shardings: Shardings of the result.
        static_argnums: Positions of arguments that are static: hashable, and compared by value.
        static_argnames: Their names.
        donate_argnums: Positions of arguments whose buffers XLA may reuse.
        donate_argnames: Their names.
        keep_unused: Pass arguments to XLA that are not used.
        device: The device to run on.
        backend: The backend to run on.
        inline: Inline the function into the jaxpr around it.
        graph: False asserts that the arguments are trees, without shared references.
        graph_updates: False asserts that structures stay as they are.

    Raises:
        UnhashableArgumentError: A static argument has no hash.
        StaticModuleError: A static argument holds a Module or Variable.
        TraceLevelError: The function changed an object that it neither takes nor closes over.
    """

    def wrap(function: Any) -> JitWrapped[..., Any]:
        statics = resolve("static", function, static_argnums, static_argnames)
        donated = resolve("donate", function, donate_argnums, donate_argnames)
        rest: dict[str, Any] = {"keep_unused": keep_unused, "inline": inline}
        given = {"device": device, "backend": backend}
        rest.update({name: value for name, value in given.items() if value is not None})
        options = JitOptions(in_shardings, out_shardings, *statics, *donated, rest)
        return JitWrapped(function, options, graph, graph_updates)

    return wrap if fun is UNSET else wrap(fun)
