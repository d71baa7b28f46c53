"""What the reader of a user's source finds and the writer of the overlay needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from typed_nnx_codegen.facts.kinds import Kind as Kind


@dataclass(frozen=True)
class Named:
    """A class with its type arguments: ``jax.Array``, ``typed_nnx.List[app.Block]``.

    Attributes:
        name: The full name under which it can be imported, ``module:qualified.name``.
        arguments: The type arguments; empty where it has none or they are not known.
        is_exact: Whether the object is surely of the class itself, not of one below it.
    """

    name: str
    arguments: tuple[Type, ...] = ()
    is_exact: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Parameter:
    """A type parameter of the class, by its name."""

    name: str


@dataclass(frozen=True)
class Union:
    """One of several types."""

    items: tuple[Type, ...]


@dataclass(frozen=True)
class Tuple:
    """A tuple of known length."""

    items: tuple[Type, ...]


@dataclass(frozen=True)
class Static:
    """A value without arrays (None, a number, a text, a function): no place in the State.

    Attributes:
        text: How it is written where it stands in another type.
    """

    text: str = "_Any"


@dataclass(frozen=True)
class Unknown:
    """A type that could not be found out.

    Attributes:
        reason: Why, in words that fit into a comment.
    """

    reason: str


Type: TypeAlias = Named | Parameter | Union | Tuple | Static | Unknown


@dataclass(frozen=True)
class ClassInfo:
    """A class that occurs in a model, or is one.

    Attributes:
        name: As in `Named`.
        kind: What it is.
        parameters: The names of its type parameters.
        bases: All its base classes that are Variables or models, nearest first, as in the MRO.
        attributes: For models the types of attributes by name, in the order of the source; inherited
            ones first, in a subclass of a generic class with the arguments put in.
        path: The file, relative to the directory the command runs in; empty for libraries.
        order: Its place among the classes of the file.
        is_open: Whether its objects may have attributes that no source names, by ``setattr``,
            ``sow``, ``perturb`` or a base class that is not known.
    """

    name: str
    kind: Kind
    parameters: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    attributes: Mapping[str, Type] = field(default_factory=dict[str, Type])
    path: str = ""
    order: int = 0
    is_open: bool = False


@dataclass(frozen=True)
class Problem:
    """A file that could not be read, or part of one.

    Attributes:
        path: The file.
        line: The line, from 1.
        message: What is wrong.
    """

    path: str
    line: int
    message: str


@dataclass(frozen=True)
class Models:
    """All that the reader found.

    Attributes:
        classes: Every class that is needed, by its name: the user's models, the models of libraries
            and the types of Variables that they use.
        roots: The names of the user's model classes, in the order of files and lines.
        problems: What could not be read.
    """

    classes: dict[str, ClassInfo]
    roots: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
