"""Each module of the corpus is migrated, run with transplanted weights, and compared with Linen.

What a class without a marker computes is what it computed: outputs, gradients, updated collections.
It has no variables that Linen did not have, and names them as Linen did where they are apart from it.
Which classes get a marker is listed: none may join them unnoticed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.codegen.migrate.linen.corpus_cases import (
    CORPUS,
    as_users_run,
    examples_of,
    imported,
    in_time,
    linen_files,
    name_of,
)
from tests.codegen.migrate.linen.marked_classes import (
    FILLED_IN_PART,
    LEFT_OUT,
    LEFT_OUT_OF_FLAX,
    MARKED,
    NAMED_OTHERWISE,
)
from typed_nnx.migrated import variables_of
from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.weight_map import map_path
from typed_nnx_codegen.migrate.weights.class_maps import ClassMaps, class_maps
from typed_nnx_codegen.migrate.weights.loading import Loaded, load_with
from typed_nnx_codegen.migrate.weights.placing import SOWN
from typed_nnx_codegen.migrate.weights.trees import Tree, leaves_of
from typed_nnx_codegen.verify import nnx_side
from typed_nnx_codegen.verify.differences import Tolerance
from typed_nnx_codegen.verify.running import Verifier
from typed_nnx_codegen.verify.sides import Side, import_side

Runtime = Literal["typed_nnx", "flax.nnx"]
# Files with what is written in another way for `flax.nnx`.
_ALSO_FOR_FLAX = {
    "call_fields",
    "lifted_transforms",
    "module_fields",
    "parameters",
    "recurrent",
    "variables",
}
_RUNS = [
    in_time(file, file, runtime)
    for runtime in ("typed_nnx", "flax.nnx")
    for file in linen_files()
    if runtime == "typed_nnx" or file.stem in _ALSO_FOR_FLAX
]


def _migrated(file: Path, folder: Path, runtime: Runtime) -> tuple[Side, dict[str, list[str]]]:
    """Return a migrated file, imported, and the markers by class; of a project all files together."""
    is_project = file.parent != CORPUS
    files = sorted(file.parent.rglob("*.py")) if is_project else [file]
    marked: dict[str, list[str]] = {}
    for result in migrate_linen(files, [CORPUS] if is_project else files, Options(runtime)):
        new = folder / result.path.relative_to(CORPUS)
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(result.after)
        map_path(new).write_text(json.dumps(result.map))
        if result.path == file:
            plans = [plan for plan in result.plans if plan.marks]
            marked = {plan.cls.name: [mark.message for mark in plan.marks] for plan in plans}
    for other in files:
        copy = folder / other.relative_to(CORPUS)
        if not copy.exists():
            copy.write_text(other.read_text())
    return import_side(folder / file.relative_to(CORPUS), imported(file)), marked


def _differences(linen: Tree, found: Tree) -> list[str]:
    """Return the paths whose values are not the same.

    What is sown is in no checkpoint, and names of axes are metadata in NNX.
    """
    every = {one for one in linen.keys() | found.keys() if not one[0].endswith("_axes")}
    return [
        "/".join(path)
        for path in sorted(every)
        if path[0] != SOWN
        and not (
            path in linen
            and path in found
            and np.array_equal(_plain(linen[path].value), _plain(found[path].value))
        )
    ]


def _plain(value: Any) -> Any:
    is_key = jnp.issubdtype(getattr(value, "dtype", jnp.float32), jax.dtypes.prng_key)
    return jax.random.key_data(value) if is_key else value


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Using 'Module.sow:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:kwargs are not supported in vmap:RuntimeWarning")
@pytest.mark.parametrize(
    ("file", "runtime"), _RUNS, ids=lambda one: one if isinstance(one, str) else name_of(one)
)
def test_what_is_migrated_without_a_marker_computes_what_it_computed(
    file: Path, runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_names: dict[str, list[str]] = {}

    def loaded(variables: Any, model: Any, maps: ClassMaps, **options: Any) -> Loaded:
        result = load_with(variables, model, maps, **options)
        if runtime == "typed_nnx" and not result.missing:
            found = _differences(leaves_of(variables), leaves_of(variables_of(model)))
            other_names.update({type(model).__name__: found} if found else {})
        return result

    monkeypatch.setattr(nnx_side, "load_with", loaded)
    new, marked = _migrated(file, tmp_path, runtime)
    maps = class_maps([map_path(new.path)])
    verifier = Verifier(imported(file), new, maps, file, Tolerance(1e-5, 1e-5))
    with as_users_run():
        results = [
            verifier.verified(example)
            for example in examples_of(file)
            if example.build.class_name not in marked
            and example.name not in LEFT_OUT.get(name_of(file), {})
            and (runtime == "typed_nnx" or example.name not in LEFT_OUT_OF_FLAX)
        ]
    different = {
        one.name: one.error or [str(item) for item in one.differing] or one.extra
        for one in results
        if not one.is_equal
    }
    assert different == {}
    if runtime == "typed_nnx":
        assert {*other_names} == NAMED_OTHERWISE.get(name_of(file), set()), other_names
    in_part = {one.name for one in results if one.loaded is not None and one.loaded.missing}
    assert in_part <= FILLED_IN_PART.get(name_of(file), set())
    assert {*marked} == MARKED.get(name_of(file), set()), marked


def test_no_more_classes_of_the_corpus_need_a_marker_than_did() -> None:
    # Five of them have forms that no more than one class of 65 packages of PyPI has.
    assert sum(len(classes) for classes in MARKED.values()) <= 145
