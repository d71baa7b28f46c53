"""Names of submodules: what Linen calls them, and the attributes that they become."""

from __future__ import annotations

import ast
import keyword
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, dotted
from typed_nnx_codegen.migrate.linen.domain.class_plan import NAME, Site, given_of, linen_class_name
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.frames import Recorder
from typed_nnx_codegen.migrate.linen.domain.names import bound_in, may_be_alike, snake_case
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    ModuleValue,
    Repeated,
    sites_in,
)
from typed_nnx_codegen.migrate.linen.domain.values import Const, Seq, Table, Value
from typed_nnx_codegen.migrate.linen.evaluate.lists import is_continued, later_in
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.project.fields import iterated

_MOST_CONDITIONS: Final = 4
# Whether each condition holds.
Truth = Mapping[str, bool]


def places_in(items: Sequence[Value], letter: str, recorder: Recorder) -> list[str]:
    """Return the places of the items of a list, `{i}` for one that depends on the fields.

    Args:
        items: The items, with those of all branches.
        letter: What stands for a number.
        recorder: What was seen of the module.
    """
    fixed = [str(place) for place in range(len(items))]
    for place, item in enumerate(items):
        found = {count for _, count in _counted(items, item, recorder)}
        if found:
            fixed[place] = str(found.pop()) if len(found) == 1 else f"{{{letter}}}"
    return fixed


def is_named_by_place(site: Site, items: Sequence[Value], recorder: Recorder) -> bool:
    """Whether the number in the name of a submodule is always its place in a list."""
    number = computed_in(cst.parse_expression(site.name_code)) if site.name_code else ""
    counted = list(_counted(items, ModuleValue(site), recorder))
    return bool(counted) and all(
        _number(number, truth, recorder) == place for truth, place in counted
    )


def _counted(
    items: Sequence[Value], item: Value, recorder: Recorder
) -> Iterator[tuple[Truth, int]]:
    """Yield the place of an item for each outcome of the conditions with which it is there."""
    if not all(isinstance(one, ModuleValue | Choice) for one in items):
        return
    codes = sorted({code for one in items for code, _ in _conditions(one, recorder)})
    if not codes or len(codes) > _MOST_CONDITIONS:
        return
    for outcome in product((True, False), repeat=len(codes)):
        truth = dict(zip(codes, outcome, strict=True))
        there = [
            one
            for one in items
            if all(truth[code] is side for code, side in _conditions(one, recorder))
        ]
        if item in there:
            yield truth, there.index(item)


def _conditions(item: Value, recorder: Recorder) -> list[tuple[str, bool]]:
    """Return when an item of a list is there; one of several submodules always is."""
    around = item.site.conditions if isinstance(item, ModuleValue) else ()
    return [(recorder.branch_codes.get(one.number, ""), one.side) for one in around]


def _number(code: str, truth: Truth, recorder: Recorder) -> int | None:
    """Return the number that a local is on one outcome of the conditions; None if that is not seen."""
    while code in recorder.chosen_locals:
        condition, first, second = recorder.chosen_locals[code]
        if condition not in truth:
            return None
        code = first if truth[condition] else second
    return int(code) if re.fullmatch(r"\d+", code) else None


_NOT_SAID: Final = "its name is computed in a way that the map of weights cannot say"
_ONE_NAME: Final = (
    "Linen names this submodule like one of another branch of the call;"
    " their weights cannot be told apart"
)
_TWO_WAYS: Final = (
    "Linen has one submodule for this one and that of another method, but they are not built alike"
)
_COUNTED_ANEW: Final = "Linen counts the names of submodules anew in each method, and shares those that are named alike"


class _Dynamic(Exception):
    """The names of submodules depend on the fields of the module."""


class Naming:
    """Names the submodules of one module.

    Args:
        recorder: What was seen of it.
        inherited: What stands for constructors in methods that it inherits.
    """

    def __init__(self, recorder: Recorder, inherited: Mapping[cst.CSTNode, str]) -> None:
        self._recorder = recorder
        self._inherited = inherited
        self._cls = recorder.plan.cls
        self._taken = {one.name for one in self._cls.fields()} | set(self._cls.methods())
        self._taken |= {one.attribute for one in recorder.variables.values()}
        self._taken |= {"rngs"}
        self._bound = {
            name for method in self._cls.methods().values() for name in bound_in(method.node)
        }
        self.lists: dict[str, list[Site]] = {}
        self.tables: dict[str, list[Site]] = {}
        # The lists of submodules whose place in them depends on the fields.
        self._opened: dict[Site, tuple[Value, ...]] = {}

    def run(self) -> None:
        """Give each submodule its names."""
        instance = self._recorder.instance
        if instance is not None:
            for name, value in instance.attributes.items():
                self._of_attribute(value, name, name)
        built = [site for site in self._recorder.plan.sites if not site.attribute]
        self._of_compact([site for site in built if not site.is_verbatim])
        for site in (one for one in built if not one.attribute):
            if site.is_verbatim:
                message = "this submodule of `setup` is bound to no attribute"
                self._recorder.mark(site.node, message, NAME)
            elif self._recorder.plan.marks:
                # Its variables are those of the module, or a marker says why it has no name.
                site.attribute = self._free(snake_case(site.class_name))
                site.reference = f"self.{site.attribute}"

    # -- setup --------------------------------------------------------------------------------

    def _of_attribute(self, value: Value, linen: str, path: str, first: int = 0) -> None:
        match value:
            case ModuleValue(site=site):
                if site.attribute or not site.is_verbatim:
                    return
                site.linen = self._numbered(site, path, first) if site.explicit else linen
                site.attribute = path
                site.reference = f"self.{path}"
                self._taken.add(path.partition(".")[0])
                self._of_fields(site)
            case Seq(items=items):
                letter = "ijk"[path.count("{")]
                places = places_in(items, letter, self._recorder)
                for place, item in zip(places, items, strict=True):
                    if isinstance(item, ModuleValue) and place.startswith("{"):
                        self._opened[item.site] = items
                    self._of_attribute(item, f"{linen}_{place}", f"{path}.{place}")
            case Table(items=items, cls=cls):
                if cls is not None:
                    self._in_record(value)
                for key, item in items.items():
                    self._of_attribute(item, f"{linen}_{key}", f"{path}.{key}")
            case Repeated(head=head) if head and is_continued(value):
                rest = later_in(value)
                letter = "ijk"[path.count("{")]
                for position, item in enumerate(head):
                    self._of_attribute(item, f"{linen}_{position}", f"{path}.{position}")
                names = (f"{linen}_{{{letter}}}", f"{path}.{{{letter}}}")
                self._of_attribute(rest, *names, len(head))
            case Repeated(element=element):
                letter = "ijk"[path.count("{")]
                if not is_even(value):
                    self._unplaced(value)
                self._of_attribute(element, f"{linen}_{{{letter}}}", f"{path}.{{{letter}}}")
            case Choice(options=options):
                for option in options:
                    self._of_attribute(option, linen, path, first)

    def _in_record(self, value: Value) -> None:
        """Mark submodules in a record: NNX has no such container."""
        for site in sites_in(value):
            self._recorder.mark(
                site.node, "a record holds this submodule: write an `nnx.Dict`", NAME
            )

    def _unplaced(self, value: Value) -> None:
        """Mark names with numbers that are not the places in a list."""
        for site in sites_in(value):
            if "{" in site.explicit:
                self._recorder.mark(site.node, _NOT_SAID, NAME)

    def _numbered(self, site: Site, path: str, first: int) -> str:
        """Return a given name; in a list, with the position that its number is."""
        letters = re.findall(r"\{(\w+)\}", path)
        names = re.findall(r"\{(\w+)\}", site.explicit)
        if not names and not letters:
            return site.explicit
        header = self._recorder.headers.get(site.loops[-1]) if site.loops else None
        if len(names) == 1 and len(letters) == 1 and header is not None:
            index = index_of(*header)
            places = (f"{index} + {first}", f"{first} + {index}") if first else (index,)
            if index and computed(site.node) in places:
                return site.explicit.replace(f"{{{names[0]}}}", f"{{{letters[0]}}}")
        items = self._opened.get(site, ())
        is_single = len(names) == 1 and len(letters) == 1
        if is_single and is_named_by_place(site, items, self._recorder):
            return site.explicit.replace(f"{{{names[0]}}}", f"{{{letters[0]}}}")
        self._recorder.mark(site.node, _NOT_SAID, NAME)
        return ""

    def _of_fields(self, site: Site) -> None:
        """Name modules that are built for the fields of another one: they belong to it."""
        for name, bound in site.given.items():
            for inner in sites_in(bound.value):
                inner.is_nested |= inner.is_verbatim and not inner.attribute
            self._of_attribute(bound.value, f"{site.linen}/{name}", f"{site.attribute}.{name}")

    # -- compact ------------------------------------------------------------------------------

    def group_of(self, site: Site) -> str:
        """Return the submodules that one is counted with, as the name that their numbers follow."""
        return linen_class_name(site)

    def scope_of(self, site: Site) -> str:
        """Return what stands before the name of a submodule."""
        del site
        return ""

    def _of_compact(self, sites: list[Site]) -> None:
        groups: dict[str, list[Site]] = {}
        names: dict[cst.CSTNode, set[str]] = {}
        for site in sites:
            names.setdefault(site.node, set()).add(site.explicit)
        mixed = {
            self.group_of(site)
            for site in sites
            if site.explicit and "{" not in site.explicit and len(names[site.node]) > 1
        }
        for site in sites:
            name = self.group_of(site)
            several = name in mixed and len(names[site.node]) > 1
            if site.explicit and not several:
                self._of_name(site)
            else:
                groups.setdefault(name, []).append(site)
        for together in _sharing_nodes(groups):
            if len(together) == 1:
                self._of_group(together[0], groups[together[0]])
            else:
                within = {site for name in together for site in groups[name]}
                self._of_mixed([site for site in sites if site in within])

    def _of_name(self, site: Site) -> None:
        site.linen = site.explicit
        if "{" not in site.explicit:
            site.attribute = self._of_other_place(site) or self._free(site.explicit)
            site.reference = f"self.{site.attribute}"
            return
        argument = name_argument(site.node)
        if argument is None or not site.name_code:
            self._recorder.mark(site.node, "the name of this submodule is computed elsewhere", NAME)
            return
        headers = (self._recorder.headers.get(number, ("", "")) for number in site.loops)
        texts = (name for one in headers for name in self._texts_of(*one))
        otherwise = ""
        if not site.is_named and code_of(argument) not in texts:
            # Linen counts those that have no name.
            others = [
                one
                for one in self._recorder.plan.sites
                if self.group_of(one) == self.group_of(site) and not (one.explicit and one.is_named)
            ]
            if others == [site] and not site.loops and dotted(argument):
                otherwise = f' or "{self.group_of(site)}_0"'
                site.name_code += otherwise
            else:
                message = "its name may be None, and is another one in Linen then"
                self._recorder.mark(site.node, message, NAME)
        table = self._table(site)
        self.tables.setdefault(table, []).append(site)
        site.attribute = f"{table}.{site.explicit}"
        site.reference = f"self.{table}[{code_of(argument)}{otherwise}]"

    def _texts_of(self, target: str, header: str) -> Iterator[str]:
        """Yield the names that a loop binds to texts."""
        fields = {f"self.{one.name}" for one in self._recorder.plan.cls.fields() if one.holds_texts}
        try:
            parsed = map(cst.parse_expression, (target or "_", header or "()"))
            pairs = list(iterated(*parsed))
        except cst.ParserSyntaxError:
            return
        for item, source in pairs:
            match source:
                case cst.Call(func=cst.Name(value="sorted" | "list"), args=[cst.Arg(value=inner)]):
                    source = inner
            match item, source:
                case cst.Tuple(elements=[key, _]), cst.Call(
                    func=cst.Attribute(value=table, attr=cst.Name(value="items"))
                ):
                    item, source = key.value, table
                case _, cst.Call(func=cst.Attribute(value=table, attr=cst.Name(value="keys"))):
                    source = table
            if code_of(source) in fields or _are_texts(code_of(source)):
                yield code_of(item)

    def _of_other_place(self, site: Site) -> str:
        """Return the attribute of one of that name in another place; empty if there is none.

        Two sides of a branch may have one each. Where only the call knows the side, and in two
        methods, Linen has one submodule for both.
        """
        for other in self._recorder.plan.sites:
            if other.explicit != site.explicit or not other.attribute or other is site:
                continue
            if self.scope_of(other) != self.scope_of(site):
                continue
            sides = {one.number: one.side for one in other.conditions}
            parting = [
                one for one in site.conditions if sides.get(one.number, one.side) != one.side
            ]
            if any(not one.is_of_call for one in parting):
                return other.attribute
            if not parting or _construction(site) == _construction(other):
                self._share(site, other)
                return other.attribute
            self._recorder.mark(site.node, _ONE_NAME, NAME)
        return ""

    def _share(self, site: Site, other: Site) -> None:
        """Let a submodule be the one that another method constructs under the same name."""
        if _construction(site) != _construction(other):
            self._recorder.mark(site.node, _TWO_WAYS, NAME)
        site.is_shared = {one for one in other.conditions if not one.is_of_call} <= {
            *site.conditions
        }

    def _table(self, site: Site) -> str:
        """Return the dict for a submodule: those whose names may be alike are in one."""
        for key, found in self.tables.items():
            if found[0].node is site.node or any(
                may_be_alike(one.explicit, site.explicit) for one in found
            ):
                return key
        base = re.sub(r"\{.*?\}", "", site.explicit).strip("_") or snake_case(site.class_name)
        return self._free(re.sub(r"\W", "_", re.sub(r"_+", "_", base)))

    def _of_group(self, name: str, group: list[Site]) -> None:
        if any(site.explicit for site in group):
            self._of_mixed(group)
            return
        # One without variables is counted with those that have some.
        is_counted = not all(map(is_stateless, group))
        stateless = [] if is_counted else [site for site in group if not varies(site)]
        bare = [site for site in group if site not in stateless]
        self._of_stateless(name, stateless)
        nodes = {site.node for site in bare}
        numbers: dict[Site, int] = {}
        is_dynamic = any(site.loops for site in bare) or len(nodes) < len(bare)
        entries = list(dict.fromkeys(site.entry for site in bare))
        if not is_dynamic:
            try:
                for entry in entries:
                    self._number([one for one in bare if one.entry == entry], 0, 0, numbers)
            except _Dynamic:
                is_dynamic = True
        if is_dynamic:
            if len(entries) > 1:
                self._recorder.mark(bare[-1].node, _COUNTED_ANEW, NAME)
            self._listed(name, bare)
            return
        first: dict[int, Site] = {}
        of_bases = {
            self._inherited[site.node].removeprefix("self.")
            for site in numbers
            if site.node in self._inherited
        }
        for site, number in numbers.items():
            site.linen = f"{name}_{number}"
            in_branch = any(one.is_of_call for one in site.conditions)
            other = first.setdefault(number, site)
            if other is not site and other.entry != site.entry:
                site.attribute = other.attribute
                self._share(site, other)
            elif other is not site and not in_branch:
                # Another one stands in the other side of a branch: one of them exists.
                site.attribute = other.attribute
            else:
                name_of_base = self._inherited.get(site.node, "").removeprefix("self.")
                if name_of_base.isidentifier() and name_of_base not in self._taken:
                    self._taken.add(name_of_base)
                    site.attribute = name_of_base
                else:
                    base = f"{snake_case(site.class_name)}_{number}"
                    kept = self._taken
                    self._taken = kept | of_bases
                    site.attribute = self._free(base)
                    self._taken = kept | {site.attribute}
            site.reference = f"self.{site.attribute}"

    def _of_stateless(self, name: str, group: list[Site]) -> None:
        """Name submodules without variables: each constructor has one, in loops too."""
        by_node: dict[cst.Call, str] = {}
        for site in group:
            if site.node not in by_node:
                by_node[site.node] = self._free(f"{snake_case(site.class_name)}_{len(by_node)}")
            site.linen = f"{name}_{len(by_node) - 1}"
            site.attribute = by_node[site.node]
            site.reference = f"self.{site.attribute}"

    def _number(
        self, sites: list[Site], depth: int, start: int, numbers: dict[Site, int]
    ) -> int | None:
        """Give submodules the numbers that they have in Linen; return the next number, None where that depends.

        Raises:
            _Dynamic: A number depends on the fields of the module.
        """
        number: int | None = start
        position = 0
        while position < len(sites):
            site = sites[position]
            if number is None:
                raise _Dynamic
            if len(site.conditions) <= depth:
                numbers[site] = number
                number += 1
                position += 1
                continue
            condition = site.conditions[depth]
            end = position
            while (
                end < len(sites)
                and len(sites[end].conditions) > depth
                and sites[end].conditions[depth].number == condition.number
            ):
                end += 1
            within = sites[position:end]
            sides = [
                [one for one in within if one.conditions[depth].side is side]
                for side in (True, False)
            ]
            ends = [self._number(side, depth + 1, number, numbers) for side in sides]
            if condition.is_of_call:
                self._check_sides(sides, sites[end:])
                known = [one for one in ends if one is not None]
                number = max(known) if known else None
            else:
                number = ends[0] if ends[0] == ends[1] else None
            position = end
        return number

    def _check_sides(self, sides: list[list[Site]], later: list[Site]) -> None:
        """Mark names that depend on which branch the first call takes."""
        if sides[0] and sides[1]:
            self._recorder.mark(
                sides[1][0].node,
                _ONE_NAME,
                NAME,
            )
        elif later:
            self._recorder.mark(
                later[0].node,
                "its name in Linen depends on the arguments of the first call;"
                " give it `name=` before migrating",
                NAME,
            )

    def _of_mixed(self, group: list[Site]) -> None:
        """Name submodules of one constructor: some have a name and some not, or other classes."""
        classes = {site.class_name for site in group}
        base = plural(snake_case(group[0].class_name)) if len(classes) == 1 else "layers"
        attribute = self._free(base, is_list=True)
        numbers: Counter[str] = Counter()
        for position, site in enumerate(group):
            if site.loops or site.conditions:
                self._recorder.mark(
                    site.node, "its name and place depend on the fields of the module", NAME
                )
            site.is_listed = True
            name = self.group_of(site)
            site.linen = site.explicit or f"{name}_{numbers[name]}"
            numbers[name] += not site.explicit
            site.attribute = f"{attribute}.{position}"
            site.reference = f"next({attribute})"
        self.lists[attribute] = group

    def _listed(self, name: str, group: list[Site]) -> None:
        attribute = self._free(plural(snake_case(group[0].class_name)), is_list=True)
        for site in group:
            site.is_listed = True
            site.linen = f"{name}_{{i}}"
            site.attribute = f"{attribute}.{{i}}"
            site.reference = f"next({attribute})"
            if site.branches:
                self._recorder.mark(
                    site.node, "it is built in a loop, on a condition that only the call knows"
                )
        self.lists[attribute] = group

    def _free(self, name: str, *, is_list: bool = False) -> str:
        """Return an attribute that nothing else has, for a name."""
        name = re.sub(r"\W", "_", name)
        if keyword.iskeyword(name):
            name += "_"
        if not name or name[0].isdigit():
            name = f"module_{name}"
        candidate = name
        suffix = "_layers" if is_list else "_layer"
        while candidate in self._taken or (is_list and candidate in self._bound):
            candidate += suffix
        self._taken.add(candidate)
        return candidate


def _sharing_nodes(groups: Mapping[str, list[Site]]) -> list[list[str]]:
    """Return the names of groups, those together that have a constructor in common."""
    found: list[list[str]] = []
    for name, group in groups.items():
        nodes = {site.node for site in group}
        sharing = [
            one for one in found if any(site.node in nodes for each in one for site in groups[each])
        ]
        found = [one for one in found if one not in sharing]
        found.append([*(each for one in sharing for each in one), name])
    return found


def plural(name: str) -> str:
    """Return a name for several submodules: `convs` of `conv`, `dense_layers` of `dense`."""
    if name.rpartition("_")[2] in _ADJECTIVES:
        return f"{name}_layers"
    if name.endswith(("s", "x", "z", "ch", "sh")):
        return name if name.endswith("s") and not name.endswith("ss") else f"{name}es"
    is_ies = name.endswith("y") and name[-2:-1] not in "aeiou"
    return f"{name[:-1]}ies" if is_ies else f"{name}s"


_ADJECTIVES: Final = frozenset({"dense", "linear", "general"})


def index_of(target: str, header: str) -> str:
    """Return the target of a loop that counts from zero; empty where none does."""
    try:
        targets, values = cst.parse_expression(target), cst.parse_expression(header)
    except cst.ParserSyntaxError:
        return ""
    items = [one.value for one in targets.elements] if isinstance(targets, cst.Tuple) else []
    match values:
        case cst.Call(func=cst.Name(value="range"), args=[cst.Arg(star="")]):
            return code_of(targets)
        case cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(star="")]) if items:
            return code_of(items[0])
        case cst.Call(func=cst.Name(value="zip"), args=args) if len(args) == len(items):
            found = (
                index_of(code_of(a), code_of(b.value)) for a, b in zip(items, args, strict=True)
            )
            return next((name for name in found if name), "")
    return ""


def _are_texts(code: str) -> bool:
    """Whether code is a literal list of texts."""
    try:
        items: object = ast.literal_eval(code)
    except (SyntaxError, ValueError):
        return False
    return isinstance(items, (tuple, list)) and all(isinstance(item, str) for item in items)


def name_argument(node: cst.Call) -> cst.BaseExpression | None:
    """Return the expression for the name that a submodule is given."""
    return next(
        (one.value for one in node.args if one.keyword and one.keyword.value == "name"), None
    )


def computed(node: cst.Call) -> str:
    """Return the expression in the name that a submodule is given, where there is one."""
    name = name_argument(node)
    return "" if name is None else computed_in(name)


def computed_in(name: cst.BaseExpression) -> str:
    """Return the one expression that is computed in a name; empty where there is none."""
    match name:
        case cst.FormattedString(parts=parts):
            found = [one for one in parts if isinstance(one, cst.FormattedStringExpression)]
            return code_of(found[0].expression) if len(found) == 1 else ""
        case cst.Call(func=cst.Name(value="str"), args=[one]):
            return code_of(one.value)
    return ""


def is_even(value: Repeated) -> bool:
    """Whether each iteration of a loop makes just one submodule of a list."""
    if value.parts is not None or value.head or value.tail:
        return False
    loops = [site.loops[-1:] for site in sites_in(value)]
    return len(set(loops)) == len(loops)


def is_stateless(site: Site) -> bool:
    """Whether a submodule has no variables, so that its name does not matter."""
    if isinstance(site.target, LinenClass):
        return False
    layer = find_layer(site.target)
    return layer is not None and not layer.variables(given_of(site))


def _construction(site: Site) -> tuple[object, ...]:
    """Return what a submodule is constructed from; alike for two that are constructed alike."""
    given = {name: bound.code or bound.value for name, bound in site.given.items()}
    return site.target, site.code, site.loops, site.transforms, site.is_open, given


def varies(site: Site) -> bool:
    """Whether the arguments of a submodule differ from one iteration of a loop to the next."""
    return any(
        not isinstance(bound.value, Const) and bound.code is not None and "self." not in bound.code
        for bound in site.given.values()
    )
