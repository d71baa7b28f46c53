"""What the table of Linen layers is asked with and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim


@dataclass(frozen=True)
class Given:
    """An argument of a constructor or a call, bound to the name of its parameter in Linen.

    Attributes:
        code: A Python expression for it, valid in the new constructor or in the method.
        value: What is known of it.
        keyword: Whether it was written with its name.
    """

    code: str
    value: Value = UNKNOWN
    keyword: bool = False


@dataclass(frozen=True)
class Inputs:
    """The arguments that a layer is called with.

    Attributes:
        arguments: What is known of each, by the name of its parameter in Linen.
    """

    arguments: Mapping[str, Value]


@dataclass(frozen=True)
class Template:
    """Code with sizes in it.

    Attributes:
        parts: Pieces of code and sizes, in order.
    """

    parts: tuple[str | Dim, ...]


@dataclass(frozen=True)
class Argument:
    """An argument of the new constructor or call.

    Attributes:
        keyword: The name of its parameter; empty where it is positional.
        code: The expression, or a size, or code with sizes in it.
    """

    keyword: str
    code: str | Dim | Template

    def spelled(self, size: Callable[[Dim], str] = Dim.code) -> str:
        """Return it as it is written in a call.

        Args:
            size: Gives the expression for a size.
        """
        parts = self.code.parts if isinstance(self.code, Template) else (self.code,)
        text = "".join(part if isinstance(part, str) else size(part) for part in parts)
        return f"{self.keyword}={text}" if self.keyword else text


@dataclass(frozen=True)
class Helper:
    """A function or class that migrated code needs at the top level of its file.

    Attributes:
        name: Its name.
        code: Its definition.
        imports: The modules that the definition needs, as import statements.
        after: The helpers that it needs itself.
    """

    name: str
    code: str
    imports: tuple[str, ...] = ()
    after: tuple[Helper, ...] = ()


@dataclass(frozen=True)
class Built:
    """How a layer is constructed.

    Attributes:
        cls: The public name of its class, ``nnx.Linear``, or the name of a helper.
        arguments: The arguments of the constructor without ``rngs``.
        takes_rngs: Whether ``rngs=rngs`` belongs at the end.
        moved: Arguments of the Linen constructor to give at each call instead, by keyword.
        methods: The methods that have another name now.
        helpers: What the code needs at the top level of the file.
    """

    cls: str
    arguments: tuple[Argument, ...]
    takes_rngs: bool = True
    moved: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    helpers: tuple[Helper, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Why there is no code that does the same; becomes a marker.

    Attributes:
        why: The reason, a sentence.
        fix: What to do, a sentence.
    """

    why: str
    fix: str


@dataclass(frozen=True)
class MissingWidth:
    """A width that the inputs do not tell.

    Attributes:
        parameter: The parameter of the new constructor that it is for.
    """

    parameter: str


@dataclass(frozen=True)
class LayerVariable:
    """Where a variable of the Linen layer is in the new one.

    Attributes:
        linen: Its path, collection first: ``params/kernel``; may be a whole subtree.
        nnx: The path of attributes: ``kernel``, ``query.kernel``.
        transpose: How its axes are permuted; None where they stay.
        reshape: The new shape; None where it stays.
    """

    linen: str
    nnx: str
    transpose: tuple[int, ...] | None = None
    reshape: tuple[int, ...] | None = None
