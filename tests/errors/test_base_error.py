"""The base of all exceptions: fields, templates, pickles and copies."""

from __future__ import annotations

import copy
import errno
import pickle
import string

import pytest

from typed_nnx import errors

CLASSES = sorted(
    (value for value in vars(errors).values() if isinstance(value, type)),
    key=lambda value: value.__name__,
)
each_class = pytest.mark.parametrize("cls", CLASSES)


def same(error: errors.KeyShapeError) -> bool:
    """Whether an exception says what the one of the tests says."""
    return (error.stream, error.shape) == ("dropout", (4,)) and "shape (4,)" in str(error)


def test_all_fields_are_arguments_of_the_exception() -> None:
    error = errors.MeshRequiredError("P('data',)")
    assert error.args == ("P('data',)", "Variable")
    assert repr(errors.KeyShapeError(shape=(4,), stream="a")) == "KeyShapeError('a', (4,))"


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        (("dropout",), {}),
        (("dropout", (4,), 1), {}),
        (("dropout", (4,)), {"shape": (4,)}),
        (("dropout", (4,)), {"size": 4}),
    ],
)
def test_other_fields_are_refused(args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    cls: type[errors.Error] = errors.KeyShapeError
    with pytest.raises(TypeError, match=r"KeyShapeError\(stream, shape\)"):
        cls(*args, **kwargs)


def test_pickles_and_copies_keep_fields_and_notes() -> None:
    error = errors.KeyShapeError("dropout", (4,))
    error.add_note("in the second epoch")
    for made in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(made) is errors.KeyShapeError
        assert same(made)
        assert made.__notes__ == ["in the second epoch"]


class Overflow(errors.Error, OverflowError):
    """An exception of a user, with a template."""

    sizes: list[object]
    value: object
    template = "sizes:{sizes!l}\nof {value!r}, {value!t}"


def test_a_template_lists_entries_and_names_types() -> None:
    error = Overflow([("a", 1), "b"], 2.5)
    assert str(error) == "sizes:\n    ('a', 1)\n    b\nof 2.5, float"
    assert str(Overflow(list(range(13)), 1)).splitlines()[11] == "    ... and 3 more"


def test_an_exception_of_a_user_keeps_its_module_and_can_be_pickled() -> None:
    assert Overflow.__module__ == __name__
    assert str(pickle.loads(pickle.dumps(Overflow([], 1)))) == "sizes:\nof 1, int"


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (errors.CheckpointNotFoundError("restore", "run"), errno.ENOENT),
        (errors.CheckpointExistsError("save", "run"), errno.EEXIST),
    ],
    ids=["not found", "exists"],
)
def test_errors_of_files_have_their_number_also_in_copies(error: OSError, number: int) -> None:
    for made in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (made.errno, made.filename) == (number, "run")


@each_class
def test_a_template_has_fields_only(cls: type[errors.Error]) -> None:
    for _, name, _, _ in string.Formatter().parse(getattr(cls, "template", "")):
        if name is not None:
            assert name in cls._fields or isinstance(getattr(cls, name), property)


@each_class
def test_every_exception_is_an_error_of_the_package(cls: type[errors.Error]) -> None:
    assert issubclass(cls, errors.Error)
    assert cls.__doc__
