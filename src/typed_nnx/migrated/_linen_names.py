"""The names that Linen has for the variables of a migrated model.

`typed-nnx migrate --linen` writes a map beside each file, `models.migration.json`, that says where each
Linen variable went. Read the other way round, it names the variables of a model as Linen did.
"""

from __future__ import annotations

import inspect
import json
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

import jax.numpy as jnp

import typed_nnx as nnx

Keys: TypeAlias = tuple[Any, ...]
Names: TypeAlias = tuple[str, ...]

# `{i}`, `{i+1}`, `{2*i}`, `{2*i+1}`: what stands in braces in a map.
_TERM: Final = re.compile(r"\{\s*(?:(\d+)\s*\*\s*)?(\w+)\s*(?:([+-])\s*(\d+))?\s*\}")
_AUTOMATIC: Final = re.compile(r"(\w+)_(\d+)")
# What Linen calls the parts of layers that have other names in NNX, or more parts.
_PARTS: Final[Mapping[str, Mapping[str, str]]] = {
    "OptimizedLSTMCell": {"dense_i": "ii if ig io", "dense_h": "hi hf hg ho"},
    "GRUCell": {"dense_i": "ir iz in", "dense_h": "hr hz hn"},
    "SimpleCell": {"dense_i": "i", "dense_h": "h"},
}


# The path of a Variable; which of the equal pieces of its last axis, and how many there are.
Held: TypeAlias = tuple[Keys, int, int]
# What one Variable holds, by names in Linen.
_Claim: TypeAlias = dict[Names, Held]


def linen_names(model: Any) -> dict[Names, Held]:
    """Return where a model has its variables, by their paths in Linen, without the collection.

    What no map tells of, as what is sown, has the name of its attribute there.
    """
    graphdef = nnx.graphdef(model)
    try:
        found = _known.get(graphdef)
    except TypeError:
        return _named(model)  # a static attribute has no hash
    if found is None:
        found = _known[graphdef] = _named(model)
    return found


_known: Final[WeakKeyDictionary[nnx.GraphDef[Any], dict[Names, Held]]] = WeakKeyDictionary()


def _named(model: Any) -> dict[Names, Held]:
    plain = nnx_names(model)
    state = dict(nnx.to_flat_state(nnx.state(model)))
    own: dict[int, Keys] = {id(state[path]): path for path, _, _ in plain.values()}
    claims = [*_claims(model, own, frozenset())]
    found: dict[Keys, _Claim] = {}
    # A module that several have is named by the one that built it: its path is the shortest.
    for claim in sorted(claims, key=lambda one: min(map(len, one))):
        found.setdefault(next(iter(claim.values()))[0], claim)
    left = [path for path, _, _ in plain.values() if path not in found]
    rest = [(_beside(path, found), (path, 0, 1)) for path in left]
    every = [item for claim in found.values() for item in claim.items()] + rest
    named = dict(every)
    above = {names[:k] for names in named for k in range(len(names))}
    is_ambiguous = len(named) < len(every) or not above.isdisjoint(named)
    return plain if is_ambiguous else named


def _beside(path: Keys, found: Mapping[Keys, _Claim]) -> Names:
    """Return the name of a variable that no map tells, from those in the same part of the model."""
    for count in range(len(path) - 1, 0, -1):
        for other, claim in found.items():
            names, behind = next(iter(claim)), other[count:]
            is_plain = not any(isinstance(key, int) for key in behind)
            if other[:count] == path[:count] and is_plain and len(names) > len(behind):
                return (*names[: len(names) - len(behind)], *map(str, path[count:]))
    return tuple(map(str, path))


def nnx_names(model: Any) -> dict[Names, Held]:
    """Return where a model has its variables, by their paths in NNX."""
    return {
        tuple(map(str, path)): (path, 0, 1)
        for path, leaf in nnx.to_flat_state(nnx.state(model))
        if isinstance(leaf, nnx.Variable) and not isinstance(leaf, nnx.RngState)
    }


def piece_of(whole: Any, number: int, count: int) -> Any:
    """Return one of the equal pieces of the last axis of an array; the array if there is one."""
    return whole if count == 1 else jnp.split(whole, count, axis=-1)[number]


def _claims(content: Any, own: Mapping[int, Keys], around: frozenset[int]) -> Iterator[_Claim]:
    """Yield the variables in a part of a model, by their names there."""
    if isinstance(content, nnx.Variable):
        if id(content) in own:
            yield {(): (own[id(content)], 0, 1)}
    elif id(content) not in around:
        around |= {id(content)}
        entries = _entries(content.__class__)
        parts = _by_entries(content, entries) if entries else _by_names(content)
        for names, part in parts:
            for claim in _claims(part, own, around):
                yield {
                    (*first, *rest): (held[0], number, len(names)) if len(names) > 1 else held
                    for number, first in enumerate(names)
                    for rest, held in claim.items()
                }


def _by_names(content: Any) -> Iterator[tuple[Sequence[Names], Any]]:
    """Yield the parts of a layer or a container, with their names in Linen."""
    classes = [base.__name__ for base in type(content).__mro__]
    changed = next((_PARTS[name] for name in classes if name in _PARTS), {})
    for key, part in _children(content):
        if key == "layers" and "Sequential" in classes:
            yield from (([(f"layers_{number}",)], one) for number, one in _children(part))
        else:
            name = str(key)
            own = name.removesuffix("_") if keyword.iskeyword(name[:-1]) else name
            yield [(one,) for one in changed.get(name, own).split()], part


def _by_entries(content: Any, entries: Mapping[str, str]) -> Iterator[tuple[Sequence[Names], Any]]:
    """Yield the parts of a module that a map has entries for, with their names in Linen."""
    found: list[tuple[Names, Sequence[Any], Any]] = []
    for linen in sorted(entries, key=lambda text: (-text.count("/"), text.count("{"))):
        names = linen.split("/")[1:]
        for bound, modules, part in _reached(content, entries[linen].split("."), {}, ()):
            try:
                written = tuple(_TERM.sub(partial(_written, bound), each) for each in names)
            except (KeyError, ValueError):
                continue  # only a run of Linen tells
            found.append((written, modules, part))
    # Of several names for one place, that of the classes which are there counts.
    found.sort(key=lambda one: len({*map(_class_in, one[0])} - {*map(_class, one[1]), ""}))
    renamed = _renamed(found)
    for written, _, part in found:
        yield [tuple(renamed.get(name, name) for name in written[:1]) + written[1:]], part


def _class(module: Any) -> str:
    return type(module).__name__.removeprefix("Linen")


def _class_in(name: str) -> str:
    """Return the class in a name that Linen made of one; empty for other names."""
    match = _AUTOMATIC.fullmatch(name)
    return match[1] if match is not None else ""


def _written(bound: Mapping[str, str], term: re.Match[str]) -> str:
    factor, name, sign, offset = term.groups()
    if factor is None and sign is None:
        return bound[name]
    return str(int(factor or 1) * int(bound[name]) + int(f"{sign or ''}{offset or 0}"))


def _reached(
    content: Any, parts: Sequence[str], bound: Mapping[str, str], modules: tuple[Any, ...]
) -> Iterator[tuple[Mapping[str, str], Sequence[Any], Any]]:
    """Yield what an attribute path leads to: what its names stand for, the modules on it, and the end."""
    if not parts:
        yield bound, modules, content
        return
    for key, child in _children(content):
        count = str(key).count(".") + 1  # keys of a Dict may have dots, as names in Linen
        pattern = _TERM.split(".".join(parts[:count]))
        text = "".join(
            re.escape(piece) if k % 5 == 0 else f"(?P<{piece}>.+?)" if k % 5 == 2 else ""
            for k, piece in enumerate(pattern)
        )
        match = re.fullmatch(text, str(key))
        if match is not None and all(bound.get(k, v) == v for k, v in match.groupdict().items()):
            is_module = isinstance(child, nnx.Module) and not isinstance(child, nnx.List | nnx.Dict)
            more = (*modules, child) if is_module else modules
            yield from _reached(child, parts[count:], {**bound, **match.groupdict()}, more)


def _renamed(found: Sequence[tuple[Names, Sequence[Any], Any]]) -> dict[str, str]:
    """Return other names of modules that Linen names by their classes: a field may hold a subclass."""
    groups: dict[str, dict[int, str]] = {}
    for names, modules, _ in found:
        base = _class_in(names[0]) if names and modules else ""
        if base and any(one.__name__ == base for one in type(modules[0]).__mro__):
            number = int(names[0].rpartition("_")[2])
            groups.setdefault(base, {}).setdefault(number, _class(modules[0]))
    renamed = {}
    for base, classes in groups.items():
        others = {*classes.values()} - {base}
        if not others or groups.keys() & others:
            continue  # with those of another group the order of their calls is not known
        in_order = [classes[number] for number in sorted(classes)]
        for place, number in enumerate(sorted(classes)):
            count = in_order[:place].count(classes[number])
            renamed[f"{base}_{number}"] = f"{classes[number]}_{count}"
    return renamed


def _children(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the attributes or items of a part of a model that may have variables."""
    if isinstance(content, Mapping):
        yield from content.items()
    elif isinstance(content, list | tuple | nnx.List):
        yield from enumerate(content)
    elif isinstance(content, nnx.Pytree):
        yield from vars(content).items()


@lru_cache
def _entries(cls: type) -> Mapping[str, str]:
    """Return where the variables of a class went, and of its bases; nothing where no map tells."""
    found: dict[str, str] = {}
    for base in cls.__mro__:
        functions = [inspect.unwrap(one) for one in vars(base).values() if callable(one)]
        files = [one.__code__.co_filename for one in functions if hasattr(one, "__code__")]
        known = next((one for one in map(_map, files) if base.__name__ in one), {})
        for linen, said in known.get(base.__name__, {}).get("variables", {}).items():
            to = said.get("to") if isinstance(said, dict) else said
            if to is not None:
                found.setdefault(linen, to)
    return found


@lru_cache
def _map(file: str) -> Mapping[str, Any]:
    """Return what the map beside a file says of classes."""
    path = Path(file).with_suffix(".migration.json")
    if not path.is_file():
        return {}
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")).get("classes", {})
    return found
