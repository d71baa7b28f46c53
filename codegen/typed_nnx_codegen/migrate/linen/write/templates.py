"""Code with sizes whose spelling is decided later, and where markers go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Mark, Site
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece
from typed_nnx_codegen.migrate.linen.domain.values import Lead

# Methods that become part of the constructor.
MOVED_METHODS = frozenset({"setup", "__post_init__"})


class MarkPlaces:
    """The markers of one file.

    Args:
        tree: The file.
        plans: The plans of its modules.
        others: Markers outside of its modules.
    """

    def __init__(
        self, tree: cst.Module, plans: Iterable[ClassPlan], others: Iterable[Mark] = ()
    ) -> None:
        self._at: dict[cst.CSTNode, list[Mark]] = {}
        self._constructors: dict[LinenClass, list[Mark]] = {}
        marks = [(plan, mark) for plan in plans for mark in plan.marks]
        outside = list(others)
        wanted = {id(mark.node) for mark in (*outside, *(mark for _, mark in marks))}
        places = dict(_places(tree, wanted)) if wanted else {}
        for mark in outside:
            self._at.setdefault(places[id(mark.node)][0], []).append(mark)
        for plan, mark in marks:
            statement, moved = places.get(id(mark.node), (plan.cls.node, False))
            if moved:
                self._constructors.setdefault(plan.cls, []).append(mark)
            else:
                self._at.setdefault(statement, []).append(mark)

    def at(self, statement: cst.CSTNode) -> list[Mark]:
        """Return the markers of a statement."""
        return self._at.get(statement, [])

    def above_constructor(self, cls: LinenClass) -> list[Mark]:
        """Return the markers of what moves to the constructor of a module."""
        return self._constructors.get(cls, [])


def _places(tree: cst.Module, wanted: set[int]) -> Iterator[tuple[int, tuple[cst.CSTNode, bool]]]:
    """Yield for each node its statement, and whether that moves to the constructor."""
    waiting: list[tuple[cst.CSTNode, cst.CSTNode, bool, bool]] = [(tree, tree, False, False)]
    while waiting:
        node, statement, moved, in_class = waiting.pop()
        if isinstance(node, cst.BaseStatement) and hasattr(node, "leading_lines"):
            statement = node
            if in_class and isinstance(node, cst.FunctionDef):
                moved = node.name.value in MOVED_METHODS
            elif in_class and isinstance(node, cst.SimpleStatementLine):
                moved = any(isinstance(one, cst.AnnAssign) for one in node.body)
        if id(node) in wanted:
            yield id(node), (statement, moved)
        within = isinstance(node, cst.ClassDef) or (
            in_class and isinstance(node, cst.IndentedBlock)
        )
        waiting += [(child, statement, moved, within) for child in node.children]


_TOKEN: Final = re.compile(r"__dim(\d+)__")
_LEAD: Final = re.compile(r"__lead(\d+)__")
_GIVEN: Final = re.compile(r"__given(\d+)__")
_ITEMS: Final = re.compile(r"__items(\d+)__")
_SITE: Final = re.compile(r"__site(\d+)__")
_OBJECT: Final = re.compile(r"__object(\d+)__")


class Templates:
    """Keeps the sizes that stand in code as names: ``__dim7__``."""

    def __init__(self) -> None:
        self._dims: list[Dim] = []
        self._numbers: dict[Dim, int] = {}
        self._sites: list[Site] = []
        self._nodes: list[cst.Call] = []
        self._leads: list[Lead] = []
        self._given: list[str] = []
        self._items: list[str] = []

    def token(self, dim: Dim) -> str:
        """Return the code for a size: the number, or a name that `filled` replaces."""
        if dim.constant is not None:
            return str(dim.constant)
        if dim not in self._numbers:
            self._numbers[dim] = len(self._dims)
            self._dims.append(dim)
        return f"__dim{self._numbers[dim]}__"

    def site_token(self, site: Site) -> str:
        """Return the code for a submodule, whose name is decided later."""
        if site not in self._sites:
            self._sites.append(site)
        return f"__site{self._sites.index(site)}__"

    def object_token(self, site: Site) -> str:
        """Return the code for a submodule after its construction: the last one, in a list."""
        if site.node not in self._nodes:
            self._nodes.append(site.node)
        return f"__object{self._nodes.index(site.node)}__"

    def objects_in(self, names: Iterable[str]) -> list[cst.Call]:
        """Return the constructors of the submodules that names of `object_token` stand for."""
        found = (_OBJECT.fullmatch(name) for name in names)
        return [self._nodes[int(one[1])] for one in found if one is not None]

    def with_objects(self, code: str, sites: Iterable[Site]) -> str:
        """Return code with the submodules after their construction spelled."""
        by_node = {site.node: site for site in sites}
        return _OBJECT.sub(lambda match: _made(by_node[self._nodes[int(match[1])]]), code)

    def sites_in(self, code: str) -> list[Site]:
        """Return the submodules in a piece of code."""
        return [self._sites[int(number)] for number in _SITE.findall(code)]

    def with_sites(self, code: str, spelled: Callable[[Site], str]) -> str:
        """Return code with the submodules spelled."""
        return _SITE.sub(lambda match: spelled(self._sites[int(match[1])]), code)

    def lead_token(self, lead: Lead) -> str:
        """Return the code for the leading dimensions of an argument."""
        if lead not in self._leads:
            self._leads.append(lead)
        return f"__lead{self._leads.index(lead)}__"

    def leads_in(self, code: str) -> list[str]:
        """Return the arguments whose leading dimensions stand in a piece of code."""
        return [
            self._leads[int(number)].argument
            for part in self._with_inner(code)
            for number in _LEAD.findall(part)
        ]

    def with_leads(self, code: str, name: Callable[[str], str]) -> str:
        """Return code with the leading dimensions spelled."""

        def spell(match: re.Match[str]) -> str:
            lead = self._leads[int(match[1])]
            part = f"[{lead.start or ''}:{'' if lead.stop is None else lead.stop}]"
            return f"{name(lead.argument)}{'' if part == '[:]' else part}"

        return _LEAD.sub(spell, code)

    def given_token(self, argument: str) -> str:
        """Return the code that is None where an argument is not given."""
        if argument not in self._given:
            self._given.append(argument)
        return f"__given{self._given.index(argument)}__"

    def given_in(self, code: str) -> list[str]:
        """Return the arguments that a piece of code asks whether they are given."""
        return [
            self._given[int(number)]
            for part in self._with_inner(code)
            for number in _GIVEN.findall(part)
        ]

    def with_given(self, code: str, name: Callable[[str], str]) -> str:
        """Return code with those arguments spelled."""
        return _GIVEN.sub(lambda match: name(self._given[int(match[1])]), code)

    def items_token(self, argument: str) -> str:
        """Return the code for the last sizes of the arrays in an argument."""
        if argument not in self._items:
            self._items.append(argument)
        return f"__items{self._items.index(argument)}__"

    def items_in(self, code: str) -> list[str]:
        """Return the arguments whose arrays' sizes stand in a piece of code."""
        return [
            self._items[int(number)]
            for part in self._with_inner(code)
            for number in _ITEMS.findall(part)
        ]

    def with_items(self, code: str, name: Callable[[str], str]) -> str:
        """Return code with those sizes spelled."""
        return _ITEMS.sub(lambda match: name(self._items[int(match[1])]), code)

    def dims_in(self, code: str) -> list[Dim]:
        """Return the sizes in a piece of code, those in the code of other sizes too."""
        found: list[Dim] = []
        for number in _TOKEN.findall(code):
            dim = self._dims[int(number)]
            found.append(dim)
            for inner in _pieces_of(dim):
                found += self.dims_in(inner)
        return found

    def _with_inner(self, code: str) -> list[str]:
        """Return a piece of code, and the code of the sizes in it."""
        return [code, *(piece for dim in self.dims_in(code) for piece in _pieces_of(dim))]

    def filled(self, code: str, spelled: Callable[[Dim], str]) -> str:
        """Return code with the sizes spelled; in parentheses where they are part of an expression."""

        def spell(match: re.Match[str]) -> str:
            text = self.filled(spelled(self._dims[int(match[1])]), spelled)
            before = code[: match.start()].rstrip()
            after = code[match.end() :].lstrip()
            is_alone = (not before or before[-1] in "(,=[") and (not after or after[0] in "),]")
            return text if is_alone or text.isidentifier() else _in_parentheses(text)

        return _TOKEN.sub(spell, code)


def _pieces_of(dim: Dim) -> list[str]:
    """Return the code of the pieces that a size is made of."""
    return [atom.code for atom in dim.atoms() if isinstance(atom, Piece)]


def _made(site: Site) -> str:
    if site.is_listed:
        return f"self.{site.attribute.partition('.')[0]}[-1]"
    if "{" in site.attribute:
        return f"self.{site.attribute.partition('.')[0]}[{site.name_code}]"
    return f"self.{site.attribute}"


def _in_parentheses(code: str) -> str:
    return code if re.fullmatch(r"[\w.]+|[\w.]+\[[-\w:]+\]", code) else f"({code})"
