"""``nnx-state-key``, ``nnx-state-excluded`` and the exact types of ``state.x`` and ``state["x"]``."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from mypy.nodes import Expression
from mypy.typeops import make_simplified_union
from mypy.types import AnyType, Instance, ProperType, Type, get_proper_type

from typed_nnx_codegen.facts.fields import Model
from typed_nnx_codegen.facts.filters import Filter, below, describe, narrowed
from typed_nnx_codegen.facts.kinds import options, short_name, value_type, with_value
from typed_nnx_codegen.facts.leaves import is_leaf, is_present, members_of
from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_codegen.facts.states import StateView, state_of
from typed_nnx_codegen.facts.targets import root_of
from typed_nnx_mypy.call import StateAccess
from typed_nnx_mypy.errorcodes import STATE_EXCLUDED, STATE_KEY
from typed_nnx_mypy.models.bindings import is_sure, may_have, view_at
from typed_nnx_mypy.models.fit import subclass_may_hold
from typed_nnx_mypy.models.surgery import is_new, made_model, may_be_other
from typed_nnx_mypy.registry import infers_access

_LISTED: Final = 12


@infers_access
def value_at_key(access: StateAccess) -> Type | None:
    """Return the type of what stands at a key; report a key that cannot be there."""
    key = access.key
    if isinstance(key, str) and key.startswith("__"):
        return None
    base = access.base
    if base is None:
        return None
    view = view_at(base, access.receiver, access.checker)
    if view is None:
        return None
    if not access.is_index and view.instance.type.get(str(key)) is not None:
        return None  # an attribute of the class, such as a property of State
    if key is None:
        return _at_some_key(access, view, base)
    return _Lookup(access, view, key, base).result()


def _at_some_key(access: StateAccess, view: StateView, base: Expression) -> Type | None:
    """Return the type at a key that is computed: that of the items of a List or a Dict."""
    levels = [members_of(each, access.checker) for each in options(view.model)[0]]
    if len(levels) != 1 or levels[0] is None or levels[0].other is None or access.is_lvalue:
        return None
    kind, key = levels[0].other_key, access.key_type
    # The State of a list has no other keys than numbers: `for i in state` says no more of them.
    if not (isinstance(key, AnyType) and kind is int) and not (
        isinstance(key, Instance) and key.type.name == kind.__name__
    ):
        return None
    found = options(levels[0].other.type)[0]
    return _Lookup(access, view, kind(), base).value(found, below(view.filter, None, kind))


class _Lookup:
    """Looks up one key of one State.

    Args:
        base: The expression that is the State.
    """

    def __init__(
        self, access: StateAccess, view: StateView, key: str | int, base: Expression
    ) -> None:
        self._access = access
        self._checker = access.checker
        self._view = view
        self._key = key
        self._base = base

    def result(self) -> Type | None:
        """Return the type at the key; None where it is not known or not there."""
        parts, _ = options(self._view.model)
        levels = [members_of(each, self._checker) for each in parts]
        known = [each for each in levels if each is not None]
        if not known or len(known) < len(levels):
            return None
        members = [found for each in known if (found := each.at(self._key)) is not None]
        if not members:
            self._report_missing(known)
            return None
        if not all(each.is_ready for each in members):
            self._checker.defer()
            return None
        if len(members) < len(known):
            return None
        if all(each.status == "static" for each in members):
            self._report_static()
            return None
        at_key = below(self._view.filter, self._key)
        if all(
            is_present(each.type, at_key, self._checker, is_exact=each.is_exact) is False
            and each.status == "data"
            for each in members
        ):
            self._report_excluded(members[0].type)
            return None
        if self._access.is_lvalue:
            return None
        return self.value([part for each in members for part in options(each.type)[0]], at_key)

    def value(self, parts: list[ProperType], at_key: Filter) -> ProperType | None:
        """Return what a State has where its model has a value of one of some types."""
        values: list[Type] = []
        nodes: list[Type] = []
        for each in parts:
            leaf = self._leaf(narrowed(at_key, each)) if is_leaf(each) else None
            if leaf is not None:
                values.append(leaf)
            elif not is_leaf(each) and members_of(each, self._checker) is not None:
                # What the filter leaves nothing of is not there, if another one of the types is.
                if len(parts) == 1 or is_present(each, at_key, self._checker) is not False:
                    nodes.append(each)
            else:
                return None
        if nodes:
            # One State of either model: mypy cannot keep two States apart.
            model = get_proper_type(make_simplified_union(nodes))
            state = self._view.instance
            mapped = self._view.values
            values.append(state_of(state, model, at_key, values=mapped, is_pure=self._view.is_pure))
        return get_proper_type(make_simplified_union(values)) if values else None

    def _leaf(self, found: ProperType) -> ProperType | None:
        """Return the type of a leaf: that of all leaves where the State has one of its own."""
        arguments = self._view.instance.args
        of_all = get_proper_type(arguments[1]) if len(arguments) > 1 else None
        if of_all is not None and not isinstance(of_all, AnyType):
            return of_all
        values = self._view.values
        if values is None:
            return value_type(found) if self._view.is_pure else found
        if not self._view.is_pure:
            return with_value(found, values)
        return None if isinstance(values, AnyType) else values

    # -- reports ------------------------------------------------------------------------------

    def _is_read(self) -> bool:
        """Tell whether this is a read of which the plugin can say that it fails."""
        return (
            not self._access.is_lvalue
            and is_sure(self._base, self._view, self._checker)
            and not may_have(self._key, self._access.node, self._checker)
            and not self._may_be_other()
        )

    def _may_be_other(self) -> bool:
        """Tell whether the model may have got other attributes than its class gives it."""
        access, checker = self._access.node, self._checker
        model = made_model(root_of(self._base), checker)
        is_as_made = model is not None and is_new(model, access, checker)
        return not is_as_made and may_be_other([self._key], [self._view.model], access, checker)

    def _report_missing(self, levels: list[Model]) -> None:
        if any(each.is_open for each in levels) or not self._is_read():
            return
        if self._subclass_may_have():
            return
        names = [
            str(name)
            for level in levels
            for name, member in level.fields.items()
            if member.status == "data"
        ]
        said = self._hint(levels, names)
        self._access.report(
            STATE_KEY, f"State of {short_name(self._view.model)} has no key {self._key!r}; {said}"
        )

    def _subclass_may_have(self, of: Filter | None = None) -> bool:
        """Tell whether the model may be of a class below its own that has the key.

        Args:
            of: The filter that has to take it; None for all.
        """
        return made_model(self._base, self._checker) is None and any(
            subclass_may_hold(each, [(self._key,)], self._checker, of)
            for each in options(self._view.model)[0]
            if isinstance(each, Instance) and not runtime_of(each.type.fullname)
        )

    def _hint(self, levels: list[Model], names: list[str]) -> str:
        other = next((each for each in levels if each.other is not None), None)
        if other is not None:
            kind = "int" if other.other_key is int else "str"
            return f"its keys are of type {kind}. Fix: index it with {_example(kind, self._key)}"
        listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
        close = get_close_matches(str(self._key), names, n=1)
        fix = f"did you mean {close[0]!r}?" if close else "use one of them"
        return f"its keys are: {listed or 'none'}. Fix: {fix}"

    def _report_static(self) -> None:
        if self._is_read():
            self._access.report(
                STATE_EXCLUDED,
                f"{self._key!r} of {short_name(self._view.model)} is static, so it is in the "
                f"GraphDef and not in the State. Fix: read it from the model",
            )

    def _report_excluded(self, found: ProperType) -> None:
        if self._is_read() and not self._subclass_may_have(self._view.filter):
            self._access.report(
                STATE_EXCLUDED,
                f"{self._key!r} of {short_name(self._view.model)} is {short_name(found)}, which "
                f"the filter {describe(self._view.filter)} of this State leaves out. Fix: take it "
                f"from a State whose filter includes it",
            )


def _example(kind: str, key: str | int) -> str:
    if kind == "str":
        return f"{str(key)!r}"
    return str(key) if str(key).isdigit() else "a number"
