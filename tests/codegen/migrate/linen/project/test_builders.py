"""Functions that build submodules: how the files of a project look when modules have them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from typed_nnx_codegen.migrate.linen.migration import LinenResult, migrate_linen
from typed_nnx_codegen.migrate.options import Options

SHARED = '''import flax.linen as nn
import numpy as np

SCALE = 2


def head(x, size, act=nn.tanh):
    """Project and bend."""
    return act(nn.Dense(size * SCALE)(x)) * np.float32(2 + SCALE)


def left(x):
    return nn.Dense(3)(x)
'''

USER = """from flax import linen as nn

from .shared import head, left


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return head(head(x, 3), 2, act=nn.relu)


def build(x):
    return left(x)
"""


def _migrated(tmp_path: Path, files: dict[str, str]) -> dict[str, LinenResult]:
    package = tmp_path / "nets"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, text in files.items():
        (package / name).write_text(text)
    paths = [package / name for name in files]
    return {one.path.name: one for one in migrate_linen(paths, [tmp_path], Options())}


def test_a_function_of_another_file_comes_with_the_names_that_it_needs(tmp_path: Path) -> None:
    results = _migrated(tmp_path, {"shared.py": SHARED, "user.py": USER})
    (plan,) = results["user.py"].plans
    assert not plan.marks
    after = results["user.py"].after
    tree = ast.parse(after)
    (net,) = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    methods = [one.name for one in net.body if isinstance(one, ast.FunctionDef)]
    assert methods == ["__init__", "__call__", "head"]
    imported = {
        name.name for one in tree.body if isinstance(one, ast.ImportFrom) for name in one.names
    }
    assert {"SCALE", "left"} <= imported
    assert "head" not in imported


def test_the_arguments_of_a_partial_of_another_file_are_for_a_person_where_nnx_takes_them_otherwise(
    tmp_path: Path,
) -> None:
    shared = (
        "import functools\n\nfrom flax import linen as nn\n\nfrom .user import Net\n\n"
        "START = nn.initializers.ones\nfive = functools.partial(nn.Dense, 5, kernel_init=START)\n"
    )
    user = (
        "from flax import linen as nn\n\nfrom .shared import five\n\n\n"
        "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return five()(x)\n"
    )
    results = _migrated(tmp_path, {"shared.py": shared, "user.py": user})
    (plan,) = results["user.py"].plans
    assert [mark.message for mark in plan.marks] == [
        "`five` is a partial of another file: write its arguments here"
    ]


def test_the_imports_of_a_function_stand_below_those_of_a_file_with_a_condition(
    tmp_path: Path,
) -> None:
    user = USER.replace("\n\nclass", "\n\nif len('ab') == 2:\n    print()\n\n\nclass", 1)
    results = _migrated(tmp_path, {"shared.py": SHARED, "user.py": user})
    lines = results["user.py"].after.splitlines()
    assert not results["user.py"].plans[0].marks
    assert lines.index("import numpy as np") < lines.index("if len('ab') == 2:")


def test_a_function_goes_where_nothing_uses_it_any_more(tmp_path: Path) -> None:
    results = _migrated(tmp_path, {"shared.py": SHARED, "user.py": USER})
    defined = [
        one.name
        for one in ast.parse(results["shared.py"].after).body
        if isinstance(one, ast.FunctionDef)
    ]
    assert defined == ["left"]


def test_a_function_that_a_package_exports_stays(tmp_path: Path) -> None:
    exported = f'__all__ = ["head"]\n{SHARED}'
    results = _migrated(tmp_path, {"shared.py": exported, "user.py": USER})
    assert "def head" in results["shared.py"].after


def test_the_result_has_the_file_as_it_was_and_its_lines(tmp_path: Path) -> None:
    text = USER.replace("class Net", "def last(x):\n    return nn.Dense(1)(x)\n\n\nclass Net")
    text = text.replace("return head(head(x, 3), 2", "return head(last(head(x, 3)), 2")
    results = _migrated(tmp_path, {"shared.py": SHARED, "user.py": text})
    found = results["user.py"]
    assert found.before == text
    line = 1 + text.split("\n").index("class Net(nn.Module):")
    assert line in {one.line for one in found.findings}


@pytest.mark.parametrize(
    "decorated",
    ["@jax.jit\ndef head(x):", "@cache\ndef head(x):", "async def head(x):"],
    ids=["jit", "cache", "async"],
)
def test_a_function_that_is_more_than_its_body_stays_with_a_marker(
    tmp_path: Path, decorated: str
) -> None:
    text = (
        "from functools import cache\nimport jax\nimport flax.linen as nn\n\n\n"
        f"{decorated}\n    return nn.Dense(3)(x)\n\n\n"
        "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        return head(x)\n"
    )
    results = _migrated(tmp_path, {"net.py": text})
    assert "head(x)" in results["net.py"].after.partition("class Net")[2]
    assert "self.head" not in results["net.py"].after


MAKER = """import flax.linen as nn


class Maker:
    def __init__(self, width=3):
        self.width = width

    def make(self, x):
        return nn.Dense(self.width)(x)

    def __call__(self, x):
        return self.make(x)

    @classmethod
    def build(cls, x):
        return cls.later(x)

    @classmethod
    def later(cls, x):
        return nn.Dense(3)(x)

    @staticmethod
    def plain(x, maker=None):
        return nn.Dense(4)(x)


class Other(Maker):
    @classmethod
    def later(cls, x):
        return nn.Dense(4)(x)


class Net(nn.Module):
    maker: Maker

    @nn.compact
    def __call__(self, x):
        return CODE
"""


@pytest.mark.parametrize(
    "code",
    ["Maker().make(x)", "Maker()(x)", "self.maker.make(x)", "Maker().build(x)", "Other.build(x)"],
)
def test_a_method_that_needs_its_object_or_another_class_gets_a_marker(
    tmp_path: Path, code: str
) -> None:
    (plan,) = _migrated(tmp_path, {"net.py": MAKER.replace("CODE", code)})["net.py"].plans
    assert [mark.message for mark in plan.marks] == [
        "the function that is called here builds submodules or variables: write it as a method"
    ]


DECLARING = """import flax.linen as nn
import jax.numpy as jnp


def position(self, kind, width):
    if kind == "learned":
        return self.param("position", nn.initializers.ones, (width,))
    return jnp.zeros(width)


def placed(kind, self, width):
    return position(self, kind, width)


def scaled(self, x):
    return x * self.scale


class Net(nn.Module):
    scale: float = 2.0

    @nn.compact
    def __call__(self, x):
        return CODE
"""


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("x + position(self, 'learned', x.shape[-1])", 0),
        ("x + position(self, kind='learned', width=x.shape[-1])", 0),
        ("x + position('learned', kind=self, width=x.shape[-1])", 1),
        ("x + placed('learned', self, x.shape[-1])", 1),
        ("scaled(self, x)", 0),
    ],
)
def test_a_function_that_declares_for_the_module_is_its_method_where_calls_give_it_first(
    tmp_path: Path, code: str, count: int
) -> None:
    (plan,) = _migrated(tmp_path, {"net.py": DECLARING.replace("CODE", code)})["net.py"].plans
    assert [mark.message for mark in plan.marks] == [
        "the function that is called here builds submodules or variables: write it as a method"
    ] * count


def test_a_method_of_a_class_goes_where_nothing_may_call_it(tmp_path: Path) -> None:
    text = MAKER.replace("CODE", "Maker.plain(Maker.build(x))")
    results = _migrated(tmp_path, {"net.py": text})
    assert not results["net.py"].plans[0].marks
    assert "def plain" not in results["net.py"].after.partition("class Net")[0]
    text += "\n\ndef run(maker, x):\n    return maker.plain(x)\n"
    (tmp_path / "again").mkdir()
    results = _migrated(tmp_path / "again", {"net.py": text})
    assert "def plain" in results["net.py"].after.partition("class Net")[0]


BRANCHES = """import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    flag: bool

    @nn.compact
    def __call__(self, x):
        last = nn.Dense(3)
        other = nn.vmap(jnp.sum)(x)
        if self.flag:
            x = nn.Dense(4)(x)
        else:
            x = jnp.concatenate([x, nn.Dense(5)(x)], -1)
        return last(x) + other
"""


def test_a_layer_whose_size_a_branch_tells_is_built_behind_it_beside_other_markers(
    tmp_path: Path,
) -> None:
    result = _migrated(tmp_path, {"net.py": BRANCHES})["net.py"]
    (mark,) = result.plans[0].marks
    assert "linen.vmap" in mark.message
    branch, first = (result.after.index(one) for one in ("x_features = 4", "self.dense_0 = "))
    assert branch < first


DATACLASS = """import dataclasses
import functools

import flax.linen as nn

later = functools.partial(dataclasses.dataclass, eq=False)


@later
class Base:
    scale: float = 2.0


class Other(Base):
    pass


class Net(Other, nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x) * self.scale
"""


def test_a_base_that_is_a_dataclass_and_no_module_gets_a_marker(tmp_path: Path) -> None:
    (plan,) = _migrated(tmp_path, {"net.py": DATACLASS})["net.py"].plans
    assert [mark.message for mark in plan.marks] == [
        "the constructor lacks the fields of `Base`, a dataclass that is no module"
    ]
