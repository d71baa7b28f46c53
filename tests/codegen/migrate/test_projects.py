"""Projects of several files: what one file says of another, and where their imports go."""

from __future__ import annotations

import textwrap
from pathlib import Path

import libcst as cst
import pytest

from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project

_COMPAT = """\
    try:
        from flax import nnx
    except ImportError:
        from flax.experimental import nnx
    """


def _migrated(folder: Path, files: dict[str, str], name: str, target: str = "typed_nnx") -> str:
    """Write a project and return what one of its files becomes."""
    for file, text in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    path = folder / name
    options = Options(target="flax.nnx" if target == "flax.nnx" else "typed_nnx")
    text = path.read_text(encoding="utf-8")
    after = migrate_text(text, path, Project((folder,)), options).text
    path.write_text(after, encoding="utf-8")
    assert migrate_text(after, path, Project((folder,)), options).text == after
    return after


def test_both_packages_of_nnx_are_one_where_a_project_imports_what_is_there(tmp_path: Path) -> None:
    files = {
        "compat.py": _COMPAT,
        "base.py": "from compat import nnx\nclass Base(nnx.Module): pass\n",
        "use.py": "from base import Base\nfrom compat import nnx\n\ndef f(m: Base):\n    return m.clone()\n",
    }

    after = _migrated(tmp_path, files, "use.py")

    assert after.endswith("from compat import nnx\n\ndef f(m: Base):\n    return nnx.clone(m)\n")


@pytest.mark.parametrize("name", ["block.py", "net.py", "use.py"])
def test_modules_that_import_each_other_know_each_other(tmp_path: Path, name: str) -> None:
    files = {
        "block.py": """\
            from __future__ import annotations
            from typing import TYPE_CHECKING
            from flax import nnx
            if TYPE_CHECKING:
                from net import Net
            class Block(nnx.Module):
                def __init__(self):
                    self.scale = nnx.Param(nnx.initializers.ones)
            def f(net: Net):
                return net.block.scale.value
            """,
        "net.py": """\
            from flax import nnx
            from block import Block
            class Net(nnx.Module):
                def __init__(self):
                    self.block = Block()
            def f(net: Net):
                return net.block.scale.value
            """,
        "use.py": "import block\nfrom net import Net\nprint(block, Net().block.scale.value)\n",
    }

    assert ".value" not in _migrated(tmp_path, files, name).replace("get_value", "")


def test_a_module_below_a_package_without_nnx_is_found(tmp_path: Path) -> None:
    files = {
        "lib/__init__.py": "",
        "lib/net.py": "from flax import nnx\nclass Net(nnx.Module): pass\n",
        "use.py": "from lib import net\nfrom flax import nnx\nprint(net.Net().clone())\n",
    }

    assert "print(nnx.clone(net.Net()))" in _migrated(tmp_path, files, "use.py")


def test_object_stands_in_for_a_base_of_nnx(tmp_path: Path) -> None:
    text = """\
        try:
            from flax import nnx
            Base = nnx.Module
        except ImportError:
            nnx = None
            Base = object
        class Net(Base):
            def __init__(self, rngs):
                self.layers = [nnx.Linear(2, 2, rngs=rngs)]
        """

    assert "self.layers = nnx.List([" in _migrated(tmp_path, {"net.py": text}, "net.py")


def test_a_name_that_a_function_sets_is_known_behind_its_first_value(tmp_path: Path) -> None:
    text = """\
        from flax import nnx
        count = None
        def start():
            global count
            count = nnx.Param(nnx.initializers.ones)
        start()
        print(count.value)
        """

    assert "count.value" not in _migrated(tmp_path, {"a.py": text}, "a.py")


@pytest.mark.parametrize(
    ("target", "statement"),
    [("typed_nnx", "import typed_nnx as nnx"), ("flax.nnx", "from flax import nnx")],
)
@pytest.mark.parametrize("condition", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_an_import_for_type_checkers_is_none_for_code_that_runs(
    tmp_path: Path, target: str, statement: str, condition: str
) -> None:
    text = f"""\
        from __future__ import annotations
        import typing
        from typing import TYPE_CHECKING

        if {condition}:
            from flax import nnx

        def f(m: nnx.Module):
            return m.clone()
        """

    after = _migrated(tmp_path, {"a.py": text}, "a.py", target)

    assert f"import TYPE_CHECKING\n{statement}\n\nif" in after
    assert "return nnx.clone(m)" in after


def test_a_new_import_is_above_what_reads_it(tmp_path: Path) -> None:
    files = {
        "net.py": "from flax import nnx\nclass Net(nnx.Module): pass\n",
        "use.py": "import net\n\nold = net.Net()\nnew = old.clone()\n\nimport os\nprint(os.sep)\n",
    }

    assert _migrated(tmp_path, files, "use.py") == (
        "import net\nimport typed_nnx as nnx\n\nold = net.Net()\nnew = nnx.clone(old)\n\n"
        "import os\nprint(os.sep)\n"
    )


def test_empty_lines_above_an_import_that_goes_stay(tmp_path: Path) -> None:
    text = '"""Doc."""\n\nimport flax.nnx\nimport os\n\nprint(flax.nnx.Rngs(0), os)\n'

    assert _migrated(tmp_path, {"a.py": text}, "a.py") == (
        '"""Doc."""\n\nimport os\nimport typed_nnx as nnx\n\nprint(nnx.Rngs(0), os)\n'
    )


def test_the_nearest_import_is_used(tmp_path: Path) -> None:
    text = """\
        import flax.nnx as a
        def f():
            import flax.nnx as b
            m = b.Linear(2, 2, rngs=b.Rngs(0))
            return m.clone()
        """

    assert "return b.clone(m)" in _migrated(tmp_path, {"a.py": text}, "a.py")


def test_a_new_argument_has_the_layout_of_those_before_it(tmp_path: Path) -> None:
    text = """\
        from flax import nnx
        def f(m: nnx.Module, tx):
            return nnx.Optimizer(
                m,  # the model
                tx  # what it does
                # and more
            )
        """

    assert _migrated(tmp_path, {"a.py": text}, "a.py").endswith(
        "        m,  # the model\n        tx,  # what it does\n        wrt=nnx.Param\n"
        "        # and more\n    )\n"
    )


def test_a_name_that_is_more_than_an_import_keeps_its_name(tmp_path: Path) -> None:
    text = """\
        from flax import nnx
        try:
            from flax.nnx import VariableState
        except ImportError:
            VariableState = nnx.Variable
        print(isinstance(1, VariableState))
        """

    after = _migrated(tmp_path, {"a.py": text}, "a.py")

    assert "import Variable as VariableState\n" in after
    assert after.endswith("print(isinstance(1, VariableState))\n")


def test_a_module_is_read_when_a_name_of_it_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def tree_of(text: str) -> cst.Module:
        read.append(text)
        return cst.parse_module(text)

    monkeypatch.setattr("typed_nnx_codegen.migrate.project._tree_of", tree_of)
    names = {"used": "Used", "not_asked_for": "Other", "in_a_function": "Third"}
    files = {
        f"lib/{file}.py": f"from flax import nnx\nclass {name}(nnx.Module): pass\n"
        for file, name in names.items()
    }
    files["lib/__init__.py"] = "".join(
        f"from .{file} import {name}\n" for file, name in names.items()
    )
    files["use.py"] = """\
        from lib import Third, Used
        def f(m: Used):
            return m.clone()
        def g():
            return Third()
        """

    after = _migrated(tmp_path, files, "use.py")

    assert "nnx.clone(m)" in after
    stems = ("__init__", "used", "in_a_function")
    assert {*read} == {files[f"lib/{stem}.py"] for stem in stems}
