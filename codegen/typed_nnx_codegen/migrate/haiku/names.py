"""The names that Haiku gives modules: by the method that makes them, and counted by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.haiku.modules import camel_to_snake
from typed_nnx_codegen.migrate.linen.domain.class_plan import CALLER, NAME, Entry, Need, Site
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.frames import Recorder
from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.linen.plan.naming import Naming, is_stateless

# Between a name and the number that Haiku gives it: the first one has none.
_COUNTED: Final = "~"
_DEPENDS: Final = (
    "which number its name in Haiku has depends on the fields of the module;"
    " give it `name=` before migrating"
)

_NOTHING: Final = (
    "no module or parameter is seen that this function makes: name all files of the project,"
    " or write here what makes them"
)


class HaikuNaming(Naming):
    """Names the submodules of one module, with the names of Haiku in the map.

    Args:
        recorder: What was seen of it.
        inherited: What stands for constructors in methods that it inherits.
        names: What objects of classes are called, by the file and the name of the class.
        helpers: What the code around a class needs.
    """

    def __init__(
        self,
        recorder: Recorder,
        inherited: Mapping[cst.CSTNode, str],
        names: Mapping[tuple[str, str], str],
        helpers: Mapping[tuple[str, str], str],
    ) -> None:
        super().__init__(recorder, inherited)
        cls = recorder.plan.cls
        helper = helpers.get((str(cls.analysis.path), cls.name))
        if helper is not None:
            recorder.log.append(Need(Helper(helper)))
            if not recorder.plan.sites and not recorder.variables:
                recorder.mark(cls.node, _NOTHING, CALLER)
        self._names = names

    def run(self) -> None:
        """Give each submodule its names."""
        super().run()
        counted: dict[str, list[Site]] = {}
        explicit: set[str] = set()
        for site in self._recorder.plan.sites:
            if not site.linen or is_stateless(site):
                continue
            scope = self.scope_of(site)
            if site.explicit:
                site.linen = f"{scope}{site.linen.rpartition('/')[2]}"
                explicit.add(re.sub(r"_(\d+|\{.*\})$", "", site.linen))
                continue
            base = f"{scope}{self._base(site)}"
            sites = counted.setdefault(base, [])
            if site.is_verbatim:
                sites.append(site)
            else:
                site.linen = f"{base}{_COUNTED}{site.linen.rpartition('_')[2]}"
            if site.alternatives:
                self._recorder.mark(site.node, "its name in Haiku depends on its class", NAME)
        for base, sites in counted.items():
            self._count(base, sites)
        for site in self._recorder.plan.sites:
            base, mark, _ = site.linen.partition(_COUNTED)
            if mark and "/" not in site.linen and base in explicit:
                self._recorder.mark(
                    site.node, f"another submodule is named `{base}`, too: give both names", NAME
                )

    def group_of(self, site: Site) -> str:
        """Return the submodules that one is counted with."""
        return f"{self.scope_of(site)}{super().group_of(site)}"

    def scope_of(self, site: Site) -> str:
        """Return what stands before the name of a submodule: the method that makes it."""
        if site.is_verbatim:
            return "~/"
        method = self._recorder.plan.cls.method(site.method)
        # Functions that became methods are none in Haiku.
        name = site.method if method is not None and method.is_compact else site.entry
        return "" if name in ("__call__", "") else f"~{name}/"

    def _base(self, site: Site) -> str:
        if isinstance(site.target, LinenClass):
            cls = site.target
            own = self._names.get((str(cls.analysis.path), cls.name))
            return own or camel_to_snake(cls.name)
        return camel_to_snake(site.target.rpartition(".")[2])

    def _count(self, base: str, sites: list[Site]) -> None:
        """Give the submodules of a constructor their numbers, in the order in which it makes them."""
        for number, site in enumerate(sites):
            letters = re.findall(r"\{(\w+)\}", site.attribute)
            is_spread = site.loops and (len(sites) > 1 or len(letters) != 1)
            if is_spread or (site.conditions and site is not sites[-1]):
                self._recorder.mark(site.node, _DEPENDS, NAME)
            place = f"{{{letters[0]}}}" if site.loops and letters else str(number)
            site.linen = f"{base}{_COUNTED}{place}"


def spelled(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries of a map as Haiku names modules: the first one of a name has no number."""
    for entry in entries:
        # `hk.Sequential` has no variables: its layers are of the module that makes them.
        if not entry.linen.startswith("{collection}"):
            yield from _spelled(entry)


def _spelled(entry: Entry) -> Iterator[Entry]:
    match = re.search(r"(\w)~(\d+|\{(\w+)\})", entry.linen)
    if match is None:
        yield entry
        return
    before, after = entry.linen[: match.start() + 1], entry.linen[match.end() :]
    if match[2] == "0":
        yield from _spelled(Entry(f"{before}{after}", entry.to, entry.change))
        return
    yield from _spelled(Entry(f"{before}_{match[2]}{after}", entry.to, entry.change))
    if match[3] and entry.to is not None:
        first = entry.to.replace(match[2], "0")
        yield from _spelled(Entry(f"{before}{after}", first, entry.change))
