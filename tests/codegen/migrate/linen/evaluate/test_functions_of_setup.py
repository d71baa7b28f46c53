"""What `setup` calls to build submodules, beside what `corpus/setup_helpers.py` compares: markers."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.codegen.migrate.linen.command.running import messages, migrated

_BUILDS = "`setup` builds this submodule in a function that it calls"


def _module(body: str) -> str:
    head = "import flax.linen as nn\n\n\nclass M(nn.Module):\n    size: int = 4\n\n"
    call = "\ndef __call__(self, x):\n    return self.second(self.first(x))\n"
    return head + indent(body + call, " " * 4)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(
            """\
def setup(self):
    self.first = self.make(3)
    self.second = self.make(5)

def make(self, size):
    self.last = size
    return nn.Dense(size)
""",
            _BUILDS,
            id="assigns an attribute",
        ),
        pytest.param(
            """\
def setup(self):
    sizes = []

    def make(size):
        sizes.append(size)
        return nn.Dense(size)

    self.first = make(3)
    self.second = make(5)
    self.sizes = tuple(sizes)
""",
            _BUILDS,
            id="adds to a list of setup",
        ),
        pytest.param(
            """\
def setup(self):
    count = 0

    def make(size):
        nonlocal count
        count += 1
        return nn.Dense(size + count)

    self.first = make(3)
    self.second = make(3)
""",
            _BUILDS,
            id="changes a local of setup",
        ),
        pytest.param(
            """\
def setup(self):
    self.first = self.make(3)
    self.second = nn.Dense(2)

def make(self, size):
    return self.noted(nn.Dense(size))

def noted(self, layer):
    self.layer = layer
    return layer
""",
            _BUILDS,
            id="calls what assigns an attribute",
        ),
        pytest.param(
            """\
def setup(self):
    self.scale = self.make("scale")
    self.first = nn.Dense(self.size)
    self.second = lambda y: y * self.scale

def make(self, name):
    return self.param(name, nn.initializers.ones, (self.size,))
""",
            "its computed name may be that of another attribute",
            id="declares a variable with the name of the attribute",
        ),
        pytest.param(
            """\
def setup(self):
    scale = self.make("scale")
    self.scale = scale
    self.first = nn.Dense(self.size)
    self.second = lambda y: y * self.scale

def make(self, name):
    return self.param(name, nn.initializers.ones, (self.size,))
""",
            "it is computed from variables once; Linen computes it at each call",
            id="declares a variable for a local with the name of the attribute",
        ),
        pytest.param(
            """\
def setup(self):
    size = 7
    self.build()
    self.second = nn.Dense(size)

def build(self):
    size = self.size * 2
    self.first = nn.Dense(size)
""",
            _BUILDS,
            id="has a local with the name of one of setup",
        ),
        pytest.param(
            """\
def setup(self):
    self.first = nn.Dense(3)
    self.second = self.unused()

def unused(self):
    other = nn.Dense(8)
    return nn.Dense(self.size)
""",
            _BUILDS,
            id="builds another one, which Linen counts",
        ),
    ],
)
def test_a_function_that_does_more_than_return_a_submodule_has_a_marker(
    tmp_path: Path, body: str, message: str
) -> None:
    assert message in messages(migrated(tmp_path / "m.py", _module(body)))


def test_a_function_that_another_module_calls_in_its_setup_has_a_marker(tmp_path: Path) -> None:
    text = """\
import flax.linen as nn


class Inner(nn.Module):
    make: object

    def setup(self):
        self.layer = self.make(3)

    def __call__(self, x):
        return self.layer(x)


class M(nn.Module):
    def setup(self):
        self.inner = Inner(make=lambda size: nn.Dense(size))

    def __call__(self, x):
        return self.inner(x)
"""

    assert _BUILDS in messages(migrated(tmp_path / "m.py", text))


def test_a_marker_of_code_that_moves_from_a_method_stands_above_the_constructor(
    tmp_path: Path,
) -> None:
    text = migrated(
        tmp_path / "m.py",
        _module("""\
def setup(self):
    if self.size > 3:
        self.build_deep()
    else:
        self.build_flat()

def build_deep(self):
    self.first = nn.Dense(8)
    self.second = nn.Dense(self.size)

def build_flat(self):
    self.first = nn.Dense(self.size)
    self.second = lambda y: y
"""),
    ).after

    above, constructor = text.split("def __init__", 1)
    assert "TN201" in above
    assert "TN201" not in constructor
    assert "build_deep" not in text
    assert "build_flat" not in text


@pytest.mark.parametrize(
    "other",
    [
        "class Block(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(3)(x)\n",
        "try:\n    from elsewhere import Block\nexcept ImportError:\n    pass\n",
    ],
    ids=["two classes", "an import"],
)
def test_a_class_whose_name_is_bound_again_has_a_marker_where_it_is_constructed(
    tmp_path: Path, other: str
) -> None:
    text = f"import flax.linen as nn\n\n\n{other}\n\n"
    text += "class Block(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(2)(x)\n"
    user = "class M(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return Block()(x)\n"

    found = messages(migrated(tmp_path / "blocks.py", f"{text}\n\n{user}"))

    assert found == ["`Block` is bound more than once: which one it is, is not known"]


def test_a_size_of_a_submodule_that_the_same_statement_builds_has_a_marker(tmp_path: Path) -> None:
    body = """\
def setup(self):
    self.pair = {"first": self.make(2), "second": self.make(3)}

def make(self, size):
    if self.size > 3:
        return nn.Dense(size)
    return nn.Dense(size + 1)

def __call__(self, x):
    return self.pair["second"](self.pair["first"](x))
"""
    text = "import flax.linen as nn\n\n\nclass M(nn.Module):\n    size: int = 4\n\n"

    assert "the size of an input is that of a submodule which is built with it" in messages(
        migrated(tmp_path / "m.py", text + indent(body, " " * 4))
    )


def test_a_method_that_nothing_calls_has_a_marker_though_another_module_has_one_of_its_name(
    tmp_path: Path,
) -> None:
    first = "import flax.linen as nn\n\n\nclass Alone(nn.Module):\n    def make(self):\n        return nn.Dense(3)\n"
    other = _module("""\
def setup(self):
    self.first = self.make()
    self.second = nn.Dense(2)

def make(self):
    return nn.Dense(self.size)
""").removeprefix("import flax.linen as nn\n")

    assert "`make` builds submodules, and nothing here calls it" in messages(
        migrated(tmp_path / "m.py", first + other)
    )
