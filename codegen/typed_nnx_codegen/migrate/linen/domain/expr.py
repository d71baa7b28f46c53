"""Code in which sizes and submodules are spelled when all is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    Transformer,
    code_of,
    names_of,
)
from typed_nnx_codegen.migrate.linen.domain.class_plan import Site
from typed_nnx_codegen.migrate.linen.domain.code import enclosed, parsed, with_parentheses
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece


class Unnamed(Exception):
    """A size is asked of one item of a list, which has no name of its own."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a size depends on which item of `self.{name}` is called")


@dataclass(frozen=True)
class Constructed:
    """A submodule after its construction: the last one, in a list.

    Attributes:
        node: The call of its constructor.
    """

    node: cst.Call

    def code(self, sites: Iterable[Site]) -> str:
        """Return the expression for it."""
        site = {one.node: one for one in sites}[self.node]
        name = site.attribute.partition(".")[0]
        if site.is_listed:
            return f"self.{name}[-1]"
        if "{" in site.attribute and not site.name_code:
            raise Unnamed(name)
        if "{" in site.attribute:
            return f"self.{name}[{site.name_code}]"
        return f"self.{site.attribute}"


N = TypeVar("N", bound=cst.CSTNode)
# A size, a submodule where it is constructed, and one after that.
Content = Dim | Site | Constructed


_SLOT: Final = "__slot"


def has_slots(code: str) -> bool:
    """Whether something stands in an expression that is spelled when all is known."""
    return any(name.startswith(_SLOT) for name in names_of(parsed(code)))


class Slots:
    """Keeps what stands in code as names: ``__slot7__``."""

    def __init__(self) -> None:
        self._names: dict[Content, str] = {}
        self._contents: dict[str, Content] = {}
        # What `text_of_pieces` returned: loops and branches ask again and again.
        self._texts: dict[str, str | None] = {}

    def name(self, content: Content) -> str:
        """Return the code for something: a number, or a name that `filled` replaces."""
        if isinstance(content, Dim) and content.constant is not None:
            return str(content.constant)
        if content not in self._names:
            name = self._names[content] = f"{_SLOT}{len(self._names)}__"
            self._contents[name] = content
        return self._names[content]

    def within(self, node: cst.CSTNode) -> Iterator[Content]:
        """Yield what stands in a piece of code, and in the code of sizes in it."""
        for name in names_of(node):
            content = self._contents.get(name)
            if content is not None:
                yield content
                for code in pieces_of(content):
                    yield from self.within(parsed(code))

    def sizes(self, code: str) -> list[Dim]:
        """Return the sizes in an expression, those in the code of other sizes too."""
        return [one for one in self.within(parsed(code)) if isinstance(one, Dim)]

    def names(self, node: cst.CSTNode) -> Iterator[str]:
        """Yield the names in a piece of code, and in the code of sizes in it."""
        yield from names_of(node)
        for content in self.within(node):
            for code in pieces_of(content):
                yield from names_of(parsed(code))

    def filled(self, node: N, spelled: Callable[[Content], str]) -> N:
        """Return code with what stands in it spelled.

        Args:
            node: The code.
            spelled: Gives the expression for something; its own name where that stays.
        """
        if self._contents.keys().isdisjoint(names_of(node)):
            return node
        return _Filling(self._contents, spelled).applied(node)

    def text_of_pieces(self, code: str) -> str | None:
        """Return an expression with its sizes spelled, None where one is not made of pieces alone."""
        if code not in self._texts:
            node = self.filled(cst.parse_expression(code), self._spelled_piece)
            self._texts[code] = None if any(True for _ in self.within(node)) else code_of(node)
        return self._texts[code]

    def _spelled_piece(self, content: Content) -> str:
        if isinstance(content, Dim) and all(isinstance(one, Piece) for one in content.atoms()):
            return content.code()
        return self.name(content)


def pieces_of(content: Content) -> Iterator[str]:
    """Yield the code of the pieces that a size is made of."""
    for atom in content.atoms() if isinstance(content, Dim) else ():
        if isinstance(atom, Piece):
            yield atom.code


class _Filling(Transformer):
    """Spells what stands in code, in parentheses where an operation around needs them.

    Args:
        contents: What names stand for.
        spelled: Gives the expression for it.
    """

    def __init__(self, contents: dict[str, Content], spelled: Callable[[Content], str]) -> None:
        super().__init__()
        self._contents = contents
        self._spelled = spelled

    def on_leave(  # type: ignore[override]  # one handler for all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        """Write a node."""
        if not isinstance(original_node, cst.Name):
            return with_parentheses(updated_node)
        content = self._contents.get(original_node.value)
        if content is None:
            return updated_node
        node = cst.parse_expression(self._spelled(content))
        if isinstance(node, cst.Name) and node.value == original_node.value:
            return updated_node
        after = self.applied(node)
        return enclosed(after) if original_node.lpar else after
