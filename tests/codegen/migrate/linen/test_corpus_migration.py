"""Each module of the corpus is migrated, run with transplanted weights, and compared with Linen.

What a class without a marker computes is what it computed: outputs, gradients, updated collections.
Which classes get a marker is listed: none may join them unnoticed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.corpus_cases import (
    CORPUS,
    as_users_run,
    classes_of,
    in_time,
    linen_files,
    name_of,
)
from tests.codegen.migrate.linen.marked_classes import LEFT_OUT, MARKED
from tests.codegen.migrate.linen.migrated_files import Migrated, migrated, problems, verified
from typed_nnx_codegen.verify.example_files import read_examples
from typed_nnx_codegen.verify.sides import import_side


def _migrated(file: Path, folder: Path) -> Migrated:
    if file.parent == CORPUS:
        return migrated([file], folder)[file]
    # A project: all of its files together.
    every = [one for one in sorted(file.parent.rglob("*.py")) if "_example" not in one.stem]
    found = migrated(every, folder, root=CORPUS)
    for other in file.parent.rglob("*.py"):
        copy = folder / other.relative_to(CORPUS)
        if not copy.exists():
            copy.write_text(other.read_text())
    return found[file]


@pytest.mark.thorough
@pytest.mark.parametrize("file", [in_time(file, file) for file in linen_files()], ids=name_of)
def test_what_is_migrated_without_a_marker_computes_what_it_computed(
    file: Path, tmp_path: Path
) -> None:
    one = _migrated(file, tmp_path)
    example_file = file.with_name(f"{file.stem}_example.py")
    examples = [
        example
        for example in read_examples(example_file, import_side(file))
        if example.build.class_name not in one.marked
        and example.name not in LEFT_OUT.get(name_of(file), {})
    ]
    with as_users_run():
        assert problems(verified(one, example_file, examples)) == []
    assert {*one.marked} == MARKED.get(name_of(file), set()), one.marked


def test_most_classes_of_the_corpus_need_no_marker() -> None:
    marked = sum(len(classes) for classes in MARKED.values())

    assert marked <= 0.15 * _WITH_REPEATED
    assert marked <= 0.17 * sum(len(classes_of(file)) for file in linen_files())


# The classes of the corpus when it had those, too, that others prove.
_WITH_REPEATED = 964
