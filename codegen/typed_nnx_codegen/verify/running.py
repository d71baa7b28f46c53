"""Running an example on both sides and comparing all that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import jax

from typed_nnx_codegen.migrate.weights.class_maps import ClassMaps
from typed_nnx_codegen.migrate.weights.problems import WeightsError
from typed_nnx_codegen.verify.comparable import is_float, leaves_by_path
from typed_nnx_codegen.verify.computing import computed_with
from typed_nnx_codegen.verify.differences import Item, Tolerance, compared, compared_one, step_of
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.examples import Example
from typed_nnx_codegen.verify.gradients import gradient_items
from typed_nnx_codegen.verify.linen_side import LinenRun, linen_run
from typed_nnx_codegen.verify.nnx_side import NnxRun, nnx_run
from typed_nnx_codegen.verify.reasons import reason_of
from typed_nnx_codegen.verify.results import Result
from typed_nnx_codegen.verify.sides import Side

# How often Linen is run with other keys to see whether a value is drawn.
_DRAWS: Final = 16


@dataclass(frozen=True)
class Verifier:
    """Runs examples on two sides.

    Attributes:
        old: The side before the migration.
        new: The side after it.
        maps: The maps that count.
        example_file: The file of the examples.
        tolerance: How far values may be from each other.
    """

    old: Side
    new: Side
    maps: ClassMaps
    example_file: Path
    tolerance: Tolerance

    def verified(self, example: Example) -> Result:
        """Run one example on both sides; what goes wrong is part of the result."""
        result = self._verified(example)
        if result.error or not result.differing:
            return result
        dtype = computed_with(linen_run(example, self.old).apply)
        if dtype is None:
            return result
        tolerance = replace(self.tolerance, step=step_of(dtype))
        again = replace(self, tolerance=tolerance)._verified(example)
        again.notes.append(f"Linen computes with {dtype}")
        return again

    def _verified(self, example: Example) -> Result:
        result = Result(example.name, example.build.class_name)
        try:
            with jax.default_matmul_precision("highest"):
                self._verify(example, result)
        except (BadUse, WeightsError) as error:
            result.error = str(error)
        # Both sides run the user's code: anything may go wrong, and the other examples go on.
        except Exception as error:  # noqa: BLE001 - the result has the reason
            result.error = reason_of(error, self._files())
        return result

    def _files(self) -> Sequence[Path]:
        files = [self.old.path, self.new.path, self.example_file]
        return [*files, *(Path(each) for side in (self.old, self.new) for each in side.search)]

    def _verify(self, example: Example, result: Result) -> None:
        try:
            linen = linen_run(example, self.old)
            outputs, updates = linen.apply()
        except BadUse:
            raise
        except Exception as error:  # noqa: BLE001 - the result has the reason
            result.error = f"the Linen side failed: {reason_of(error, self._files())}"
            return
        new = nnx_run(linen, self.new, self.maps)
        result.loaded = new.loaded
        result.notes += map(str, new.stand_ins)
        found, model = new.call()
        expected = leaves_by_path(outputs)
        items = compared("outputs", leaves_by_path(found), expected, self.tolerance)
        items += self._collections(new, updates, model, result)
        result.items = self._with_drawn(linen, items)
        if not result.of("collections"):
            result.without["collections"] = "none is mutable"
        drawn = {item.path for item in result.of("outputs") if item.state == "random"}
        chosen = frozenset(p for p, leaf in expected.items() if is_float(leaf) and p not in drawn)
        result.items += gradient_items(new, chosen, bool(drawn), self.tolerance, result)

    # -- collections --------------------------------------------------------------------------------

    def _collections(
        self, new: NnxRun, updates: dict[str, Any], model: Any, result: Result
    ) -> list[Item]:
        """Compare what the call changed, and what it must not have changed."""
        items = []
        placements, problems = new.placements(updates, model)
        for each in placements:
            items += _compared_trees(each.linen, each.slot.value, each.value, self.tolerance)
        sown = [each for each in problems.extra if each.startswith("intermediates/")]
        if sown:
            result.notes.append(f"{len(sown)} sown values have no place in the map")
        known = {each.partition(" ")[0] for each in new.loaded.extra}
        for text in problems.extra:
            path, _, why = text.partition(": ")
            if text not in sown and path.partition(" ")[0] not in known:
                items.append(Item("collections", path, "differs", note=why))
        kept = {name: tree for name, tree in new.linen.variables.items() if name not in updates}
        for each in new.placements(kept, model)[0]:
            same = _compared_trees(each.linen, each.slot.value, each.value, self.tolerance)
            changed = [item for item in same if item.state == "differs"]
            note = "it was changed; Linen's is not mutable in the example"
            items += [Item("collections", item.path, "differs", note=note) for item in changed]
        return items

    # -- random numbers -----------------------------------------------------------------------------

    def _with_drawn(self, linen: LinenRun, items: list[Item]) -> list[Item]:
        """Return the items with those marked that Linen draws anew each time."""
        suspects = [item for item in items if item.state == "differs" and not item.is_shape]
        if not linen.example.rngs or not suspects:
            return items
        drawn: set[tuple[str, str]] = set()
        first = _by_item(*linen.apply())
        for seed in range(1000, 1000 + _DRAWS):
            for key, value in _by_item(*linen.apply(seed)).items():
                one = compared_one("outputs", "", value, first.get(key), Tolerance(0.0, 0.0))
                if one.state == "differs":
                    drawn.add(key)
            if all(_key(item) in drawn for item in suspects):
                break
        return [
            item.drawn() if item in suspects and _key(item) in drawn else item for item in items
        ]


def _key(item: Item) -> tuple[str, str]:
    return (item.kind, item.path)


def _by_item(outputs: Any, updates: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Return all that a call gives by the kind and path that items have."""
    values = {("outputs", path): leaf for path, leaf in leaves_by_path(outputs).items()}
    for path, leaf in _flat(updates, ""):
        values["collections", path] = leaf
    return values


def _flat(tree: Any, path: str) -> list[tuple[str, Any]]:
    if hasattr(tree, "items"):
        return [pair for key, each in tree.items() for pair in _flat(each, f"{path}/{key}")]
    name = path.removeprefix("/")
    return [(f"{name}{inner}", leaf) for inner, leaf in leaves_by_path(tree).items()]


def _compared_trees(name: str, found: Any, expected: Any, tolerance: Tolerance) -> list[Item]:
    one = {f"{name}{path}": leaf for path, leaf in leaves_by_path(found).items()}
    other = {f"{name}{path}": leaf for path, leaf in leaves_by_path(expected).items()}
    return compared("collections", one, other, tolerance)
