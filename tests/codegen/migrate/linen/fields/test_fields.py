"""Fields that hold modules, classes and partials, and fields that calls say."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.codegen.migrate.linen.command.running import messages, migrated
from tests.codegen.migrate.linen.corpus_cases import CORPUS
from typed_nnx_codegen.migrate.linen.migration import migrate_linen
from typed_nnx_codegen.migrate.options import Options

_HEAD: Final = "from functools import partial\nimport flax.linen as nn\n\n\n"


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    file = CORPUS / "call_fields.py"
    (first,) = migrate_linen([file], [file], Options())
    again = tmp_path / "call_fields.py"
    again.write_text(first.after)
    for second in migrate_linen([again], [again], Options()):
        assert second.after == first.after


UNCERTAIN: Final = {
    "a class in a field of which nothing is known": (
        """
class Model(nn.Module):
    make: object

    @nn.compact
    def __call__(self, x):
        return self.make(4)(x)
""",
        "what `self.make` builds is not known",
    ),
    "classes in a field, of which a list of modules is made": (
        """
class Model(nn.Module):
    make: object
    depth: int

    def setup(self):
        self.layers = [self.make() for _ in range(self.depth)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
        "what `self.make` builds is not known",
    ),
    "modules that a field makes, in a tuple": (
        """
class Model(nn.Module):
    make: object

    def setup(self):
        self.first = self.make()
        self.layers = (self.first, self.first)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
""",
        "what `self.make` builds is not known",
    ),
    "a field that is said to be a module, and called as its class is": (
        """
class Core(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


class Model(nn.Module):
    core: Core

    def setup(self):
        self.inner = self.core()

    def __call__(self, x):
        return self.inner(x)
""",
        "what `self.core` builds is not known",
    ),
    "a name that is bound anew before the call": (
        """
class Model(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        flag = not train
        norm = nn.BatchNorm(use_running_average=flag)
        flag = flag.sum() > 0
        return norm(x) * flag
""",
        "`use_running_average` of this submodule is not known where it is called",
    ),
    "a layer that another module calls": (
        """
class Residual(nn.Module):
    inner: nn.Module

    def __call__(self, x):
        return x + self.inner(x)


class Model(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        return Residual(nn.Dropout(0.5, deterministic=not train))(x)
""",
        "it is not seen here how this submodule is called",
    ),
    "a default that two modules share": (
        """
class Headed(nn.Module):
    head: nn.Module = nn.Dense(3)

    @nn.compact
    def __call__(self, x):
        return self.head(x)


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Headed()(x) + Headed()(x)
""",
        "share the default of `head` in Linen",
    ),
    "a field that the constructor needs": (
        """
class Narrow(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Model(nn.Module):
    @nn.compact
    def __call__(self, x, width):
        return Narrow(int(width.max()))(x)
""",
        "`width` depends on what the method is called with",
    ),
    "a field of a call that `setup` reads": (
        """
class Normed(nn.Module):
    train: bool = True

    def setup(self):
        self.norm = nn.BatchNorm(use_running_average=not self.train)

    def __call__(self, x):
        return self.norm(x)


class Model(nn.Module):
    @nn.compact
    def __call__(self, x, training=True):
        return Normed(train=training)(x)
""",
        "`train` depends on calls, and `setup` reads it",
    ),
    "copies of a module in a field": (
        """
class Model(nn.Module):
    block: nn.Module

    def setup(self):
        self.blocks = [self.block.copy() for _ in range(2)]

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x
""",
        "`.copy` of a module in a field is not migrated",
    ),
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_what_is_not_sure_is_marked(name: str, tmp_path: Path) -> None:
    code, expected = UNCERTAIN[name]
    found = messages(migrated(tmp_path / "models.py", _HEAD + code))
    assert any(expected in message for message in found), found


def test_a_module_that_takes_no_arguments_is_called_where_it_is(tmp_path: Path) -> None:
    code = """
class Temperature(nn.Module):
    @nn.compact
    def __call__(self):
        return self.param("value", nn.initializers.ones, (3,))


class Model(nn.Module):
    temperature: Temperature

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x) * self.temperature()
"""
    result = migrated(tmp_path / "models.py", _HEAD + code)
    assert not messages(result)


def test_a_partial_that_nothing_reads_any_more_goes(tmp_path: Path) -> None:
    code = """
class Model(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        norm = partial(nn.BatchNorm, use_running_average=not train)
        return norm()(x)
"""
    assert "partial(" not in migrated(tmp_path / "models.py", _HEAD + code).after


def test_a_module_that_a_caller_makes_worse_keeps_its_field(tmp_path: Path) -> None:
    code, _ = UNCERTAIN["a field that the constructor needs"]
    result = migrated(tmp_path / "models.py", _HEAD + code)
    (plan,) = [one for one in result.plans if one.cls.name == "Narrow"]
    assert not plan.marks
    assert "self.dense_0 = nnx.Linear(in_features, self.width, rngs=rngs)" in result.after


def test_a_loop_may_bind_the_name_of_a_field(tmp_path: Path) -> None:
    code = """
class Model(nn.Module):
    features: tuple

    @nn.compact
    def __call__(self, x):
        for features in self.features:
            x = nn.Dense(features)(x)
        return x
"""
    result = migrated(tmp_path / "models.py", _HEAD + code)
    assert not messages(result)
    assert "nnx.Linear(x_features, features, rngs=rngs)" in result.after
