"""Plants errors into correct code of the sweep and counts how many the plugin finds.

Each error is in a copy of its file that lies beside it, so one run of mypy checks all. Only what an
error needs is counted as a place for it: `benchmarks.plugin.sources` says when a class or a function
is known well enough that a person who reads the file alone would see the error too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.plugin import plant_attributes, plant_deprecated, plant_states, plant_transforms
from benchmarks.plugin.checking import Tree
from benchmarks.plugin.packages import FOLDER, unpack
from benchmarks.plugin.sources import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchmarks.plugin.packages import Unpacked
    from benchmarks.plugin.sources import Mutant
    from tests.support.type_checkers import Finding

# How many errors of one kind are planted: they are spread evenly over the places there are.
MOST = 24
# Their models need packages that are not here, so hardly any type in them is known.
# Nor flax itself: in a runtime the plugin checks nothing.
UNTYPED = ("easydel", "tpu-inference", "flax")
PLANTERS: tuple[Callable[[Source], Iterator[Mutant]], ...] = (
    plant_attributes.static_data,
    plant_attributes.plain_container,
    plant_attributes.no_list,
    plant_attributes.misplaced_mark,
    plant_attributes.data_status,
    plant_attributes.jax_mutation,
    *plant_deprecated.PLANTERS,
    plant_transforms.argnums,
    plant_transforms.new_static_names,
    plant_transforms.new_axes,
    plant_transforms.static_names,
    plant_transforms.static_numbers,
    plant_transforms.axes,
    plant_transforms.bad_axis,
    plant_transforms.carry,
    plant_transforms.branches,
    *plant_states.PLANTERS,
)


@dataclass
class Outcome:
    """What became of the errors of one kind.

    Attributes:
        code: The error code that is expected.
        planter: What was planted, in words.
        places: How many places for it there are.
        unknown: How many of those that were chosen are left out, as mypy does not know the types.
        planted: How many were planted.
        found: How many were reported under the code, at their lines.
        by_others: How many more mypy itself or another check reports at their lines.
        missed: Those that were not, with the reports at their lines.
    """

    code: str
    planter: str
    places: int = 0
    unknown: int = 0
    planted: int = 0
    found: int = 0
    by_others: int = 0
    missed: list[tuple[Path, Mutant, list[Finding]]] = field(default_factory=list)


def mutation_test(runtime: str, code: Sequence[Unpacked]) -> list[Outcome]:
    """Plant errors into the packages, run mypy once and return what was found."""
    tree = Tree(FOLDER / f"mutants_{runtime}")
    tree.folder.mkdir(parents=True, exist_ok=True)
    for old in tree.folder.rglob("*__planted_*.py"):
        old.unlink()
    for each in code:
        unpack(each.package, tree.folder, runtime)
    modules = [each.package.module for each in code if each.package.name not in UNTYPED]
    chosen_mutants, places = spread(mutants(sources(tree.folder, modules)))
    written = dict(write(chosen_mutants, tree.folder))
    originals = {str(each.path) for each in written.values()}
    tree.forget("with")
    probes = [str(_probe(path)) for path, each in written.items() if each.probe]
    run = tree.run("with", [*map(str, written), *probes, *sorted(originals)])
    if run.crash:
        raise RuntimeError(f"mypy broke:\n{run.crash}")
    outcomes = judge(written, run.reports, places)
    text = "\n".join(described(each) for each in outcomes)
    (tree.folder / "missed.txt").write_text(text, encoding="utf-8")
    return outcomes


def sources(folder: Path, modules: Iterable[str]) -> Iterator[Source]:
    """Yield the files that use NNX or jax."""
    for module in modules:
        for path in sorted((folder / module).rglob("*.py")):
            if path.name == "__init__.py" or "__planted_" in path.name:
                continue
            source = Source(path.relative_to(folder), path.read_text(encoding="utf-8"))
            if source.nnx or source.imports("import jax"):
                yield source


def mutants(code: Iterable[Source]) -> Iterator[Mutant]:
    """Yield every error that can be planted."""
    for source in code:
        for planter in PLANTERS:
            # Without a name for the runtime only what is about jax has places.
            if source.nnx or planter.__module__ == plant_transforms.__name__:
                yield from planter(source)


def spread(every: Iterable[Mutant]) -> tuple[list[Mutant], dict[tuple[str, str], int]]:
    """Return at most `MOST` of each kind, and how many there are."""
    by_kind: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for each in every:
        by_kind[each.code, each.planter].append(each)
    chosen = []
    for found in by_kind.values():
        step = max(1.0, len(found) / MOST)
        chosen += [found[int(at * step)] for at in range(min(MOST, len(found)))]
    return chosen, {kind: len(found) for kind, found in by_kind.items()}


def write(chosen: Iterable[Mutant], folder: Path) -> Iterator[tuple[Path, Mutant]]:
    """Write the files with errors beside their originals; yield their paths in the folder."""
    for number, each in enumerate(chosen):
        path = each.path.with_name(f"{each.path.stem}__planted_{number}.py")
        (folder / path).write_text(each.text, encoding="utf-8")
        if each.probe:
            (folder / _probe(path)).write_text(each.probe, encoding="utf-8")
        yield path, each


def _probe(path: Path) -> Path:
    return path.with_name(path.name.replace("__planted_", "__planted_probe_"))


def judge(
    written: dict[Path, Mutant], reports: Iterable[Finding], places: dict[tuple[str, str], int]
) -> list[Outcome]:
    """Return how many errors of each kind were found."""
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for each in reports:
        by_path[each.path].append(each)
    outcomes = {kind: Outcome(*kind, places=count) for kind, count in places.items()}
    for path, mutant in written.items():
        outcome = outcomes[mutant.code, mutant.planter]
        if mutant.probe and not _is_known(by_path[str(_probe(path))], mutant.lines):
            outcome.unknown += 1
            continue
        outcome.planted += 1
        first, last = mutant.lines
        now, before = by_path[str(path)], by_path[str(mutant.path)]
        here = [each for each in now if first <= each.line <= last]
        if any(each.code == mutant.code for each in here) and _count(now, mutant.code) > _count(
            before, mutant.code
        ):
            outcome.found += 1
        else:
            outcome.by_others += bool(here) and len(now) > len(before)
            outcome.missed.append((path, mutant, here))
    return sorted(outcomes.values(), key=lambda each: (each.code, each.planter))


def _is_known(reports: Iterable[Finding], lines: tuple[int, int]) -> bool:
    """Tell whether mypy reveals types without Any in some lines."""
    said = "Revealed type is"
    types = [
        each.message.removeprefix(said)
        for each in reports
        if lines[0] <= each.line <= lines[1] and each.message.startswith(said)
    ]
    return bool(types) and not any(re.search(r"\bAny\b", each) for each in types)


def _count(reports: Iterable[Finding], code: str) -> int:
    return sum(each.code == code for each in reports)


def described(outcome: Outcome) -> str:
    """Return the errors of a kind that were not found, with their lines, for people to judge."""
    lines = [f"== {outcome.code}: {outcome.planter}: {outcome.found} of {outcome.planted} found"]
    for path, mutant, here in outcome.missed:
        first, last = mutant.lines
        lines.append(f"{path}:{first}-{last}")
        lines += [f"    {text}" for text in mutant.text.splitlines()[first - 1 : last]]
        lines += [f"  reported: [{each.code}] {each.message}" for each in here]
    return "\n".join(lines)
