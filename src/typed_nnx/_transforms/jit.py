"""`jit`: compiled functions that take, change and return Modules."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, NamedTuple, Self, TypeAlias, overload

import jax

from typed_nnx._core.cells import Bounded
from typed_nnx._core.jax_runtime import hide_frames, hides_frames
from typed_nnx._core.settings import MISSING
from typed_nnx._graph.record import verify
from typed_nnx._transforms.engine.argnums import ArgNames, ArgNums, Statics, resolve, spread
from typed_nnx._transforms.engine.call import Call, QuickCall, place_name, quick_call
from typed_nnx._transforms.engine.explain import (
    NO_PREFIX,
    changes_of,
    names_of,
    names_of_one,
    shown,
)
from typed_nnx._transforms.engine.lift import A, Lift, Lifted, Modes, P, Q, R, S, Signatures, Unseen
from typed_nnx._transforms.engine.prefixes import Prefix, Tree
from typed_nnx._transforms.engine.signature import Signature, TraceResult, result_prefix
from typed_nnx._transforms.engine.write import finish
from typed_nnx._transforms.eval_shape import abstract_result
from typed_nnx._transforms.jit_stages import HasStages, JitMethod, Program, Traced
from typed_nnx.errors import DonationError, StructureChangedError
from typed_nnx.errors._base_error import listed


def check_fixed(lift: Lift, signature: Signature, traced: TraceResult, count: int) -> None:
    """Raise if the structure of one of the first arguments changed, which are bound to the function.

    Raises:
        StructureChangedError: It names what changed and where.
    """
    fixed = [
        part for each in signature.arguments[:count] if each is not None for part in each.parts
    ]
    for part, new in zip(signature.parts, traced.effects.structures, strict=False):
        if new is not None and part in fixed:
            changes = changes_of(part.graphdef, new.graphdef, place_name(part.path))
            fix = "change the structure outside, or pass the object to the function that nnx.jit returned"
            raise StructureChangedError(lift.title, changes, fix)


def check_donated(lift: Lift, call: Call) -> None:
    """Raise if an array is at two places of a call, or was donated to an earlier one.

    Raises:
        DonationError: It names the places.
    """
    found: dict[int, str] = {}
    values = (call.args, call.kwargs, call.captured)
    names = names_of(lift.parameters, call.signature, *values)
    for array, path in zip(jax.tree.leaves(values), jax.tree.leaves(names), strict=True):
        if not isinstance(array, jax.Array):
            continue
        before = found.setdefault(id(array), path)
        if before != path:
            raise DonationError(
                lift.title,
                f"one array is donated and used again in the same call:{listed([before, path])}",
                "copy it with jnp.copy(...) at one of the places, share the Variable instead of "
                "the array, or do not donate",
            ) from None
        if array.is_deleted():
            raise DonationError(
                lift.title,
                f"the array at {path} has been deleted or donated: an earlier call took its buffer.",
                "use what that call returned, pass a copy to it, jnp.copy(...), or do not donate",
            ) from None


#: A device of jax, whose class has no types that checkers agree on.
Device: TypeAlias = Any


class JitOptions(NamedTuple):
    """The options of `jax.jit`."""

    in_shardings: Prefix
    out_shardings: Prefix
    statics: tuple[ArgNums, ArgNames]
    donated: tuple[ArgNums, ArgNames]
    rest: dict[str, Any]

    @property
    def has_shardings(self) -> bool:
        """Whether shardings are given, which depend on the arguments of each call."""
        return self.in_shardings is not None or self.out_shardings is not None


# The signature and what is captured come first.
_BEFORE = 2


class JitWrapped(Lifted[P, R], HasStages[P, R]):
    """A function compiled by XLA; what `jit` returns."""

    transform = "jit"
    _options: JitOptions
    _fixed_count = 0

    def _check_options(self) -> None:
        options, function = self._options, self._lift.function
        statics, names = resolve("static", function, *options.statics)
        self._statics, self._static_names = frozenset(statics), frozenset(names)
        self._donated, self._donated_names = resolve("donate", function, *options.donated)
        self._check_prefixes(in_shardings=options.in_shardings, out_shardings=options.out_shardings)
        self._is_general = options.has_shardings

    def _prepare(self) -> None:
        # Signatures by what the quick way sees of a call, and by all that they are made of.
        self._quick: Bounded[object, Signature] = Bounded()
        self._signatures = Signatures()
        self._with_shardings: Bounded[Signature, Any] = Bounded(64)
        self._fixed: dict[object, JitWrapped[P, R]] = {}
        self._jitted = self._compile(None)

    # -- the jitted function ------------------------------------------------------------------------

    def _compile(self, call: Call | None) -> Any:
        """Return what jax compiles; with shardings it is made for one kind of call."""
        options, lift, signatures = self._options, self._lift, self._signatures
        outs = options.out_shardings if options.has_shardings else NO_PREFIX
        fixed_count = self._fixed_count

        def flat(
            signature: Signature, captured: Sequence[Tree], /, *args: Tree, **kwargs: Tree
        ) -> Any:
            traced = lift.run(signature, args, kwargs, captured, out_prefix=outs)
            check_fixed(lift, signature, traced, fixed_count)
            return tuple(traced)

        def names(own: Signature, captured: Sequence[Tree], *args: Tree) -> Tree:
            every, closed = names_of_one(lift.parameters, list(signatures.values()), args, captured)
            return own, closed, *every

        shardings: dict[str, Any] = {}
        if call is not None:
            if options.in_shardings is not None:
                own = [p for n, p in enumerate(call.prefixes) if n not in self._statics]
                shardings["in_shardings"] = (None, *own)
            prefixes = result_prefix(call.signature.parts, options.out_shardings)
            shardings["out_shardings"] = tuple(prefixes)
        return jax.jit(
            shown(flat, lift.function, names),
            static_argnums=(0, *[number + _BEFORE for number in sorted(self._statics)]),
            static_argnames=sorted(self._static_names) or None,
            donate_argnums=tuple([number + _BEFORE for number in self._donated]),
            donate_argnames=self._donated_names or None,
            **shardings,
            **options.rest,
        )

    def with_fixed(self, count: int, modes: Modes) -> JitWrapped[P, R]:
        """Return the same for `cached_partial`, which may not change the structure of the first arguments."""
        known = self._fixed.get((count, modes))
        if known is None:
            known = self._fixed[count, modes] = copy.copy(self)
            known._lift = Lift("cached_partial", self._lift.function, *modes)
            known._fixed_count = count
            known._prepare()
        return known

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
            call = quick_call(args, self._statics)
            signature = None if call is None else self._quick[call.key]
            if call is None or signature is None:
                return self._call(args, kwargs, call)
            try:
                traced = self._jitted(signature, (), *call.values)
            except (TypeError, ValueError, RuntimeError) as error:
                self._explain(error, args, kwargs)
                raise
            result: R = finish(call, signature, args, traced)
            return result
        except Exception as error:
            hide_frames(error)
            raise

    def _call_with(
        self, args: Sequence[Tree], kwargs: Mapping[str, Tree], captured: list[Tree]
    ) -> R:
        """Call it with keyword arguments, or objects that the function closes over, too."""
        count, before = len(args), len(args) + len(kwargs)
        call = None
        everything: tuple[Tree, ...] = (*args, *kwargs.values(), *captured)
        if not self._static_names.intersection(kwargs):
            statics = frozenset([number for number in self._statics if number < count])
            call = quick_call(everything, statics)
        if call is None:
            return self._call(args, kwargs)
        values, key = call.values, (call.key, count, *kwargs)
        signature = self._quick[key]
        if signature is None:
            return self._call(args, kwargs, call, key)
        named = dict(zip(kwargs, values[count:before], strict=True))
        try:
            traced = self._jitted(signature, tuple(values[before:]), *values[:count], **named)
        except (TypeError, ValueError, RuntimeError) as error:
            self._explain(error, args, kwargs)
            raise
        result: R = finish(call, signature, everything, traced)
        return result

    def _call(
        self,
        args: Sequence[Tree],
        kwargs: Mapping[str, Tree],
        quick: QuickCall | None = None,
        key: object = None,
    ) -> R:
        """Call it the general way; remember the signature where the next call can go the quick way."""
        call, signature, jitted = self._prepared(args, kwargs)
        if quick is not None and quick.fits(signature):
            self._quick.add(quick.key if key is None else key, signature)
        try:
            traced = jitted(signature, call.captured, *call.args, **call.kwargs)
        except (TypeError, ValueError, RuntimeError) as error:
            self._explain(error, args, kwargs)
            raise
        result: R = self._lift.finish(call, TraceResult(*traced))
        return result

    def _explain(self, error: Exception, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> None:
        """Raise a better error than that of jax, where there is one."""
        statics = self._statics_of(args, kwargs)
        statics.check_hashable(self._lift.title, self._lift.parameters)
        if "donate" in str(error) or "deleted" in str(error):
            check_donated(self._lift, self._gather(args, kwargs))

    def _prepared(
        self, args: Sequence[Tree], kwargs: Mapping[str, Tree]
    ) -> tuple[Call, Signature, Any]:
        """Return a call taken apart, its one Signature, and what jax compiles for it."""
        call = self._gather(args, kwargs)
        signature = self._signatures.of(call.signature)
        if not self._options.has_shardings:
            return call, signature, self._jitted
        found = self._with_shardings[signature]
        return call, signature, found or self._with_shardings.add(signature, self._compile(call))

    # -- stages -----------------------------------------------------------------------------------------

    def _traced(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> Traced[R]:
        call, signature, jitted = self._prepared(args, kwargs)
        stage = jitted.trace(signature, call.captured, *call.args, **call.kwargs)
        return Traced(Program(self, signature, self._statics_of(args, kwargs)), stage)

    def _shapes(self, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]) -> R:
        call, signature, jitted = self._prepared(args, kwargs)
        found = jitted.eval_shape(signature, call.captured, *call.args, **call.kwargs)
        result: R = abstract_result(call, TraceResult(*found))
        return result

    def clear_cache(self) -> None:
        """Forget what was traced and compiled."""
        self._prepare()

    def _cache_size(self) -> int:
        """Return how many programs were compiled."""
        jitted = [self._jitted, *self._with_shardings.all_values()]
        return sum([int(one._cache_size()) for one in jitted])

    @overload
    def __get__(self, instance: None, owner: object = None) -> Self: ...
    @overload
    def __get__(
        self: Lifted[[Unseen], S], instance: object, owner: object = None
    ) -> JitMethod[..., S]: ...
    @overload
    def __get__(
        self: Lifted[Concatenate[A, Q], S], instance: A, owner: object = None
    ) -> JitMethod[Q, S]: ...
    # What does not take the object is a static method for pyright, which looks past `staticmethod`.
    @overload
    def __get__(self, instance: object, owner: object = None) -> JitMethod[P, R]: ...  # pyright: ignore[reportIncompatibleMethodOverride]  # a JitMethod is a Callable
    def __get__(self, instance: Any, owner: object = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # a JitMethod is a Callable
        return self if instance is None else JitMethod(self, instance)

    # -- arguments ----------------------------------------------------------------------------------

    def _gather(self, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Call:
        # With shardings all values come back placed, so that the next call need not place them again.
        statics = self._statics_of(args, kwargs)
        statics.check_values(self._lift.title, self._lift.parameters)
        placed = self._options.in_shardings is not None
        kept = [placed or number in self._donated for number in range(len(args))]
        option, count = f"{self._lift.title}: in_shardings", len(args) - len(statics.args)
        shardings = spread(option, self._options.in_shardings, count)
        prefixes, _ = Statics(dict.fromkeys(statics.args), {}).within(shardings, {})
        names = self._donated_names
        return self._lift.gather(
            args, kwargs, prefixes, kept=kept, kept_names=names, statics=statics
        )

    def _statics_of(self, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Statics:
        return Statics.of(self._statics, self._static_names, args, kwargs)


@overload
def jit(
    fun: Callable[P, R],
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
) -> JitWrapped[P, R]: ...
@overload
def jit(
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
) -> Callable[[Callable[P, R]], JitWrapped[P, R]]: ...
@hides_frames
def jit(
    fun: Any = MISSING,
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
        UnhashableError: A static argument has no hash.
        ArgumentError: A static argument holds a Module or Variable.
        TraceLevelError: The function changed an object that it neither takes nor closes over.
    """
    statics, donated = (static_argnums, static_argnames), (donate_argnums, donate_argnames)
    rest: dict[str, object] = {"keep_unused": keep_unused, "inline": inline}
    given = {"device": device, "backend": backend}
    rest.update({name: value for name, value in given.items() if value is not None})
    options = JitOptions(in_shardings, out_shardings, statics, donated, rest)
    return JitWrapped.of(fun, graph, graph_updates, options)
