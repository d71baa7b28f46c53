"""The skeleton of a module says to a type checker what the module says."""

from __future__ import annotations

import ast
import textwrap

import pytest

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.errors import StubError
from typed_nnx_codegen.stubgen.skeleton import stub_text


def stub_of(source: str, definitions: dict[str, str] | None = None, **more: object) -> str:
    """The stub of a source text, by the lines that are not blank."""
    declared = ModuleStub("pkg.mod", definitions or {}, **more)  # type: ignore[arg-type]
    text = stub_text(textwrap.dedent(source), declared)
    ast.parse(text)
    return "\n".join(line for line in text.splitlines() if line)


def test_a_function_keeps_its_signature_and_loses_its_body_and_docstring() -> None:
    source = '''
    def area(width: float, /, height: float = 1.0, *, unit: str = "m", scale: int = -1) -> float:
        """Return the area."""
        return width * height
    '''
    assert stub_of(source) == (
        'def area(width: float, /, height: float = 1.0, *, unit: str = "m", scale: int = -1)'
        " -> float: ..."
    )


def test_a_default_that_is_computed_becomes_an_ellipsis() -> None:
    assert stub_of("def f(x: object = object(), y: int = 2 * 3) -> None: pass") == (
        "def f(x: object = ..., y: int = ...) -> None: ..."
    )


def test_of_an_overloaded_function_the_implementation_is_left_out() -> None:
    source = """
    from typing import overload
    @overload
    def f(x: int) -> int: ...
    @overload
    def f(x: str) -> str: ...
    def f(x): return x
    """
    text = stub_of(source)
    assert text.count("def f(") == 2
    assert "def f(x):" not in text


@pytest.mark.parametrize("decorator", ["property", "classmethod", "staticmethod", "total.setter"])
def test_a_decorator_that_concerns_the_type_stays(decorator: str) -> None:
    source = f"class A:\n    @{decorator}\n    def total(self): return 1\n"
    assert f"@{decorator}" in stub_of(source)


def test_a_decorator_that_concerns_the_body_goes() -> None:
    source = "class A:\n    @checked(1)\n    def total(self) -> int: return 1\n"
    assert "checked" not in stub_of(source)


def test_statements_for_type_checkers_stay_and_those_against_them_go() -> None:
    source = """
    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        import heavy
    class A:
        if TYPE_CHECKING:
            def seen(self) -> heavy.Thing: ...
        if not TYPE_CHECKING:
            def hidden(self): ...
    if not TYPE_CHECKING:
        value = 1
    else:
        value: str = ""
    """
    text = stub_of(source)
    assert "import heavy" in text
    assert "seen" in text
    assert "hidden" not in text
    assert "value: str" in text


def test_attributes_that_methods_assign_are_declared() -> None:
    source = """
    class A:
        known: int
        def __init__(self, width: int, name: str) -> None:
            self.width: float = width
            self.name = name
            self.known = 1
            self._cache = {}
    """
    text = stub_of(source)
    for line in ("known: int", "width: float", "name: str", "_cache: Any"):
        assert f"    {line}\n" in f"{text}\n"
    assert text.count("known") == 1


def test_a_public_attribute_without_a_type_is_an_error_that_names_it() -> None:
    source = "class A:\n    def __init__(self): self.size = compute()\n"
    with pytest.raises(StubError, match=r"pkg.mod, class A: the attribute 'size'(.|\n)*Fix: "):
        stub_of(source)


def test_defaults_of_fields_stay_where_they_are_arguments() -> None:
    source = """
    import dataclasses
    from typing import NamedTuple
    @dataclasses.dataclass(frozen=True)
    class A:
        x: int = 1
    class B(NamedTuple):
        y: int = 2
    class C:
        z: int = 3
    """
    text = stub_of(source)
    assert "@dataclasses.dataclass(frozen=True)" in text
    assert "x: int = ..." in text
    assert "y: int = ..." in text
    assert "z: int\n" in f"{text}\n"


def test_type_variables_and_aliases_stay_as_they_are() -> None:
    source = """
    from typing import ParamSpec, TypeAlias, TypeVar
    P = ParamSpec("P")
    T = TypeVar("T", bound=int)
    Pair: TypeAlias = tuple[int, int]
    names: list[str] = []
    LIMIT = 3
    other = len
    """
    text = stub_of(source)
    for line in (
        'P = ParamSpec("P")',
        'T = TypeVar("T", bound=int)',
        "Pair: TypeAlias = tuple[int, int]",
        "names: list[str]",
        "LIMIT: int",
        "other = len",
    ):
        assert line in text.splitlines()


def test_only_imports_that_are_used_or_passed_on_stay() -> None:
    source = """
    from __future__ import annotations
    import functools
    from a import Used, Unused
    from b import Passed as Passed
    import jax.numpy as jnp
    def f(x: Used) -> jnp.ndarray: return functools.reduce(x)
    """
    assert stub_of(source).splitlines()[:3] == [
        "import jax.numpy as jnp",
        "from a import Used",
        "from b import Passed as Passed",
    ]


def test_of_two_imports_of_a_name_that_with_more_features_stays() -> None:
    source = """
    from typing_extensions import TypeVar
    T = TypeVar("T", default=int)
    """
    text = stub_of(source, imports=("from typing import Any, TypeVar",), preamble="x: Any")
    assert text.splitlines()[:2] == [
        "from typing import Any",
        "from typing_extensions import TypeVar",
    ]


def test_a_declared_definition_takes_the_place_of_the_functions_of_that_name() -> None:
    source = """
    from typing import overload
    def before() -> None: ...
    @overload
    def f(x: int) -> int: ...
    @overload
    def f(x: str) -> str: ...
    def f(x): return x
    def after() -> None: ...
    """
    text = stub_of(
        source,
        {"f": "def f(x: T) -> T: ...\n"},
        preamble='T = TypeVar("T")\n',
        imports=("from typing import TypeVar",),
    )
    assert text.splitlines() == [
        "from typing import TypeVar",
        'T = TypeVar("T")',
        "def before() -> None: ...",
        "def f(x: T) -> T: ...",
        "def after() -> None: ...",
    ]


def test_a_declared_name_that_the_source_lacks_is_an_error() -> None:
    with pytest.raises(StubError, match=r"pkg.mod: the declared names \['gone'\]"):
        stub_of("def f() -> None: ...", {"gone": "def gone() -> None: ..."})


def test_a_declared_text_that_is_no_python_is_an_error_that_says_which() -> None:
    with pytest.raises(StubError, match=r"pkg.mod, the definition of 'f': this is no Python"):
        stub_of("def f() -> None: ...", {"f": "def f(:\n"})


def test_comments_of_a_signature_are_left_out() -> None:
    source = """
    def f(  # noqa: X1
        x: int,  # type: ignore[a]
        # about y
        y: int,
    ) -> None: ...
    """
    assert "#" not in stub_of(source)


def test_what_pyright_is_not_to_report_of_a_signature_stays() -> None:
    source = """
    class A:
        def f(self) -> int:  # pyright: ignore[reportX]  # because
            return 1
        def g(self) -> int: ...  # noqa: X1  # pyright: ignore[reportY]
    """
    text = stub_of(source)
    assert "def f(self) -> int: ...  # pyright: ignore[reportX]\n" in text
    assert "def g(self) -> int: ...  # pyright: ignore[reportY]" in text
    assert "because" not in text
    assert "noqa" not in text
