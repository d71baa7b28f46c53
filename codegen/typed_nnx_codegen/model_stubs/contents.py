"""Which leaves a model can hold, with everything below it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property

from typed_nnx_codegen.model_stubs.models import (
    ClassInfo,
    Kind,
    Models,
    Named,
    Parameter,
    Static,
    Tuple,
    Type,
    Union,
    Unknown,
)
from typed_nnx_codegen.model_stubs.parts import (
    PARAMETER,
    UNKNOWN,
    Part,
    VariableTypes,
    is_bare,
    is_of_library,
    is_root,
)

Leaves = frozenset[Named]
Kinds = frozenset[str]
_NOTHING: Leaves = frozenset()

# What the Variables are that a layer declares as `Variable`, where no argument says otherwise.
_DEFAULTS = {f"{library}:LoRA": f"{library}:LoRAParam" for library in ("typed_nnx", "flax.nnx")}
_PARAMS = frozenset({"typed_nnx:Param", "flax.nnx:Param"})


class Contents:
    """The leaves below each class: types of Variables and arrays, and the marks of `parts`.

    Models may contain themselves, so the leaves of all classes are found together, by going
    through the classes until nothing is added.
    """

    def __init__(self, models: Models) -> None:
        self._models = models
        self._derived: dict[str, list[str]] = defaultdict(list)
        self.variables = VariableTypes(models.classes)
        self._below: dict[str, Leaves] = {}
        modules = [info for info in models.classes.values() if info.kind is Kind.PYTREE]
        for info in modules:
            for base in info.bases:
                self._derived[base].append(info.name)
        changed = True
        while changed:
            changed = False
            for info in modules:
                found = self._below_class(info)
                changed |= found != self._below.get(info.name, _NOTHING)
                self._below[info.name] = found
        self._kinds = {name: self._lines(leaves) for name, leaves in self._below.items()}

    def _below_class(self, info: ClassInfo) -> Leaves:
        if is_bare(info):
            return frozenset({UNKNOWN})
        unnamed = frozenset({UNKNOWN}) if info.is_open else _NOTHING
        found = unnamed.union(*map(self.below, info.attributes.values()))
        default = _DEFAULTS.get(info.name)
        return found | {
            replace(each, name=default) for each in found if default and is_root(each.name)
        }

    def below(self, found: Type) -> Leaves:
        """Return the leaves that an attribute of the type can lead to."""
        match found:
            case Named():
                return self._below_named(found)
            case Union() | Tuple():
                return _NOTHING.union(*(self.below(item) for item in found.items))
            case Parameter():
                return frozenset({PARAMETER})
            case Unknown():
                return frozenset({UNKNOWN})
            case Static():
                return _NOTHING

    def _below_named(self, found: Named) -> Leaves:
        info = self._models.classes.get(found.name)
        arguments = _NOTHING.union(*(self.below(each) for each in found.arguments))
        match info.kind if info else None:
            case None:
                return frozenset({UNKNOWN})
            case Kind.VARIABLE | Kind.ARRAY:
                return frozenset({found})
            case Kind.LIST | Kind.DICT:
                return arguments if found.arguments else frozenset({UNKNOWN})
            case Kind.PYTREE:
                # What is declared as a `Module` may be any model, of which nothing is known here.
                is_one = found.is_exact or (info is not None and is_bare(info))
                classes = [found.name, *([] if is_one else self._derived[found.name])]
                own = _NOTHING.union(*(self._below.get(name, _NOTHING) for name in classes))
                if PARAMETER not in own:
                    return own
                return own - {PARAMETER} | (arguments if found.arguments else {UNKNOWN})

    def has(self, found: Type, part: Part) -> bool:
        """Tell whether an attribute of the type can have a leaf in the part."""
        return any(self.variables.includes(part, leaf) for leaf in self.below(found))

    @cached_property
    def _library_kinds(self) -> Kinds:
        kinds = self._lines(_NOTHING.union(*self._below.values()))
        return frozenset(filter(is_of_library, kinds))

    def _lines(self, leaves: Leaves) -> Kinds:
        lines = {kind for leaf in leaves for kind in self.variables.line(leaf.name)}
        return frozenset(filter(self.variables.has_states, lines))

    def state_of(self, name: str, part: Part) -> Part:
        """Return the part that a model's State class for a part is written for.

        Where a filter leaves all that the model has, the State that it was given will do, and where
        several leave what another one takes, that. What several leave of a type argument cannot be
        asked for: it is what the first one leaves.
        """
        if part.taken:
            return part
        leaves = self._below.get(name, _NOTHING)
        if PARAMETER in leaves:
            return Part(left=part.left[:1])
        kinds = self._kinds.get(name, frozenset())
        left = Part(left=tuple(kind for kind in part.left if kind in kinds))
        if len(left.left) > 1:
            same = (Part(taken=kind) for kind in sorted(kinds))
            leaves_of_it = self._in(leaves, left)
            return next((each for each in same if self._in(leaves, each) == leaves_of_it), left)
        return left

    def leaves(self, info: ClassInfo, part: Part) -> Leaves:
        """Return the types of the leaves in a part of a model; none where they are not known."""
        leaves = self._in(self._below.get(info.name, _NOTHING), part)
        is_known = leaves.isdisjoint((UNKNOWN, PARAMETER)) and not info.parameters
        return frozenset(self.narrowed(leaf, part) for leaf in leaves) if is_known else _NOTHING

    def narrowed(self, leaf: Named, part: Part) -> Named:
        """Return the type of a Variable in a part: where it is declared as a `Variable`, the filter's."""
        if not part.taken or not is_root(leaf.name):
            return leaf
        count = len(self._models.classes[part.taken].parameters)
        return Named(part.taken, leaf.arguments[:count])

    def _in(self, leaves: Leaves, part: Part) -> Leaves:
        return frozenset(leaf for leaf in leaves if self.variables.includes(part, leaf))

    def left_by(self, name: str, kinds: Collection[str]) -> Part:
        """Return the part of a model that filters leave."""
        wider = [
            kind
            for kind in kinds
            if not self.variables.is_any(kind, [other for other in kinds if other != kind])
        ]
        return self.state_of(name, Part(left=tuple(sorted(wider))))

    def kinds(self, name: str) -> Kinds:
        """Return the Variable classes that a filter can take from a model, base classes too.

        A subclass has at least those of its base classes: an overload for a base class that it has
        no answer to would otherwise answer in its place. One with type parameters may hold all kinds;
        kinds of the user's are rare enough that only those count which its uses have shown.
        """
        info = self._models.classes[name]
        own = self._below.get(name, _NOTHING)
        inherited = (self._below.get(base, _NOTHING) for base in info.bases)
        known = self._lines(own.union(*inherited))
        if PARAMETER in own:
            return known | self._library_kinds
        # Most of what is not known has parameters.
        return known | (self._library_kinds & _PARAMS) if UNKNOWN in own else known
