"""Code in which sizes and submodules are spelled when all is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.class_plan import Site
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece


@dataclass(frozen=True)
class Constructed:
    """A submodule after its construction: the last one, in a list.

    Attributes:
        node: The call of its constructor.
    """

    node: cst.Call

    def code(self, sites: Iterable[Site]) -> str:
        """Return the expression for it.

        Args:
            sites: The submodules, with their names.
        """
        site = {one.node: one for one in sites}[self.node]
        name = site.attribute.partition(".")[0]
        if site.is_listed:
            return f"self.{name}[-1]"
        if "{" in site.attribute:
            return f"self.{name}[{site.name_code}]"
        return f"self.{site.attribute}"


# A size, a submodule where it is constructed, and one after that.
Content = Dim | Site | Constructed
_NAME: Final = re.compile(r"__slot(\d+)__")


class Slots:
    """Keeps what stands in code as names: ``__slot7__``."""

    def __init__(self) -> None:
        self._numbers: dict[Content, int] = {}
        self._contents: list[Content] = []

    def name(self, content: Content) -> str:
        """Return the code for something: a number, or a name that `filled` replaces."""
        if isinstance(content, Dim) and content.constant is not None:
            return str(content.constant)
        if content not in self._numbers:
            self._numbers[content] = len(self._contents)
            self._contents.append(content)
        return f"__slot{self._numbers[content]}__"

    def within(self, code: str) -> Iterator[Content]:
        """Yield what stands in a piece of code, and in the code of sizes in it."""
        for number in _NAME.findall(code):
            content = self._contents[int(number)]
            yield content
            if isinstance(content, Dim):
                for atom in content.atoms():
                    if isinstance(atom, Piece):
                        yield from self.within(atom.code)

    def sizes(self, code: str) -> list[Dim]:
        """Return the sizes in a piece of code, those in the code of other sizes too."""
        return [one for one in self.within(code) if isinstance(one, Dim)]

    def filled(self, code: str, spelled: Callable[[Content], str]) -> str:
        """Return code with what stands in it spelled.

        Sizes are in parentheses where they are part of an expression.

        Args:
            code: The code.
            spelled: Gives the expression for something; its own name where that stays.
        """

        def spell(match: re.Match[str]) -> str:
            content = self._contents[int(match[1])]
            text = spelled(content)
            if text == match[0]:
                return text
            text = self.filled(text, spelled)
            before = code[: match.start()].rstrip()
            after = code[match.end() :].lstrip()
            is_alone = (not before or before[-1] in "(,=[") and (not after or after[0] in "),]")
            return text if is_alone or not isinstance(content, Dim) else _in_parentheses(text)

        return _NAME.sub(spell, code)


def _in_parentheses(code: str) -> str:
    return code if re.fullmatch(r"[\w.]+|[\w.]+\[[-\w:]+\]", code) else f"({code})"
