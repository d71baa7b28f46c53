"""Files are imported apart, whatever their modules and packages are called."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.sides import import_side


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def package(root: Path, value: str) -> Path:
    files = {
        "shapes/__init__.py": "",
        "shapes/widths.py": f"VALUE = {value!r}\n",
        "shapes/nets/__init__.py": "",
        "shapes/nets/deep.py": "from ..widths import VALUE as RELATIVE\n"
        "from shapes.widths import VALUE as ABSOLUTE\n"
        "def late():\n    import shapes.widths\n    return shapes.widths.VALUE\n",
    }
    return written(root, files) / "shapes" / "nets" / "deep.py"


def test_two_packages_of_one_name_share_nothing(tmp_path: Path) -> None:
    old = import_side(package(tmp_path / "one", "old"))
    new = import_side(package(tmp_path / "two", "new"))

    assert (old.module.RELATIVE, old.module.ABSOLUTE) == ("old", "old")
    assert (new.module.RELATIVE, new.module.ABSOLUTE) == ("new", "new")
    with old.active():
        assert old.module.late() == "old"
    with new.active():
        assert new.module.late() == "new"
    assert not any(name.partition(".")[0] == "shapes" for name in sys.modules)


def test_two_files_of_one_name_import_their_own_neighbours(tmp_path: Path) -> None:
    for side in ("one", "two"):
        files = {"model.py": "from neighbour import VALUE\n", "neighbour.py": f"VALUE = {side!r}\n"}
        written(tmp_path / side, files)

    values = [import_side(tmp_path / side / "model.py").module.VALUE for side in ("one", "two")]

    assert values == ["one", "two"]


def test_folders_without_init_are_found_upwards(tmp_path: Path) -> None:
    for side in ("one", "two"):
        files = {
            "models/net.py": "from models.layers.parts import VALUE\n",
            "models/layers/parts.py": f"VALUE = {side!r}\n",
        }
        written(tmp_path / side, files)

    values = [
        import_side(tmp_path / side / "models/net.py").module.VALUE for side in ("one", "two")
    ]

    assert values == ["one", "two"]


def test_a_migrated_file_outside_of_the_package_is_taken_into_it(tmp_path: Path) -> None:
    old = import_side(package(tmp_path / "one", "old"))
    written(tmp_path, {"migrated.py": "from ..widths import VALUE\n"})

    assert import_side(tmp_path / "migrated.py", old).module.VALUE == "old"


def test_relative_imports_without_a_package_are_told(tmp_path: Path) -> None:
    written(tmp_path, {"alone.py": "from .widths import VALUE\n"})

    with pytest.raises(BadUse, match="it has relative imports and is in no package"):
        import_side(tmp_path / "alone.py")


def test_modules_that_were_there_are_there_again(tmp_path: Path) -> None:
    written(tmp_path, {"bisected.py": "VALUE = 1\n"})
    marker = type(sys)("bisected")
    sys.modules["bisected"] = marker
    try:
        side = import_side(tmp_path / "bisected.py")
        assert side.module.VALUE == 1
        assert sys.modules["bisected"] is marker
    finally:
        del sys.modules["bisected"]


def test_installed_packages_are_shared(tmp_path: Path) -> None:
    written(tmp_path, {"model.py": "import optax\nimport numpy\n"})

    side = import_side(tmp_path / "model.py")

    assert side.module.numpy is sys.modules["numpy"]


def test_a_module_of_a_full_name_that_cannot_be_imported_says_why(tmp_path: Path) -> None:
    written(tmp_path, {"model.py": "", "other.py": "import no_such_package\n"})
    side = import_side(tmp_path / "model.py")

    with side.active(), pytest.raises(BadUse, match="No module named 'no_such_package'"):
        side.named("other.Outer")


def test_a_name_is_looked_up_in_the_file_and_then_anywhere(tmp_path: Path) -> None:
    import jax

    written(tmp_path, {"model.py": "class Outer:\n    class Inner: pass\n"})
    side = import_side(tmp_path / "model.py")

    assert side.named("Outer.Inner") is side.module.Outer.Inner
    assert side.named("jax.nn.relu") is jax.nn.relu
    with pytest.raises(BadUse, match="nothing there is named 'Nope'"):
        side.named("Nope")


def test_code_that_is_no_python_is_told(tmp_path: Path) -> None:
    written(tmp_path, {"model.py": "def f(:\n"})

    with pytest.raises(BadUse, match=r"model.py: it cannot be read: invalid syntax"):
        import_side(tmp_path / "model.py")


def test_a_package_that_keeps_names_is_imported_again_for_the_other_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registrar = (
        "NAMES = []\n"
        "def named(function):\n"
        "    if function.__name__ in NAMES:\n"
        "        raise ValueError(f'{function.__name__} is there already')\n"
        "    NAMES.append(function.__name__)\n"
        "    return function\n"
    )
    written(tmp_path / "site-packages", {"registrar_of_names/__init__.py": registrar})
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    model = "from registrar_of_names import named\n@named\ndef made(): return {0!r}\n"
    for side in ("one", "two"):
        written(tmp_path / side, {"model.py": model.format(side)})

    old = import_side(tmp_path / "one" / "model.py")
    new = import_side(tmp_path / "two" / "model.py", old)

    assert (old.module.made(), new.module.made()) == ("one", "two")
    shared = sys.modules.pop("registrar_of_names")
    assert shared.NAMES == ["made"]


def test_an_error_of_an_import_that_stays_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = "def named(function):\n    raise ValueError('no')\n"
    written(tmp_path / "site-packages", {"refusing_registrar.py": refusing})
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    written(
        tmp_path,
        {"one/model.py": "", "two/model.py": "import refusing_registrar as r\nr.named(1)\n"},
    )
    old = import_side(tmp_path / "one" / "model.py")

    with pytest.raises(BadUse, match=r"importing it failed: ValueError: no"):
        import_side(tmp_path / "two" / "model.py", old)
    sys.modules.pop("refusing_registrar", None)
