"""What is asked of variables by name, once it is known which variables a module has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.marker_codes import CALL, NAME
from typed_nnx_codegen.migrate.linen.plan import Entry
from typed_nnx_codegen.migrate.linen.running.frames import (
    Frame,
    Line,
    Recorder,
    StateAccess,
    VariableSite,
)
from typed_nnx_codegen.migrate.linen.running.values import Array
from typed_nnx_codegen.migrate.linen.state.declaring import Declaring
from typed_nnx_codegen.migrate.linen.state.first_values import FirstValues
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode


class StateAccesses:
    """Rewrites what asks for variables by name.

    Args:
        code: Writes expressions for the constructor.
        first_values: Finds first values of variables.
        declaring: Declares variables.
        frame: A frame of the module that is planned.
    """

    def __init__(
        self,
        code: ConstructorCode,
        first_values: FirstValues,
        declaring: Declaring,
        frame: Frame,
    ) -> None:
        self._code = code
        self._first_values = first_values
        self._declaring = declaring
        self._frame = frame
        self._recorder = frame.recorder

    def run(self) -> None:
        """Rewrite them."""
        self._make_written()
        for access in self._recorder.asked:
            site = self._recorder.variables.get(f"{access.collection}/{access.name}")
            if site is None:
                self._unknown(access)
            elif access.method == "has_variable":
                self._has(access, site)
            elif access.method == "put_variable":
                self._put(access, site)
            else:
                self._get(access, site)
        self._name_sown()
        for method in self._recorder.plan.cls.methods().values():
            if method.is_bound:
                _read_params(method.node, self._recorder)

    def _unknown(self, access: StateAccess) -> None:
        self._recorder.mark(
            access.node,
            f"`{access.method}` of a variable that this module does not declare",
            NAME,
        )

    # -- variables that are only written ------------------------------------------------------

    def _make_written(self) -> None:
        """Make the variables that `put_variable` alone declares."""
        for access in self._recorder.asked:
            key = f"{access.collection}/{access.name}"
            is_new = key not in self._recorder.variables and access.name
            if access.method != "put_variable" or not is_new:
                continue
            with self._code.with_shapes():
                zeros = self._first_values.zeros(access.value, self._frame)
            if zeros is None:
                continue
            attribute = self._declaring.free(access.name, self._recorder, access.collection)
            made = f"{self._declaring.kind(access.collection)}({zeros})"
            self._recorder.block.append(Line(f"self.{attribute} = {made}"))
            self._recorder.variables[key] = VariableSite(
                access.node, access.collection, access.name, attribute, made, access.value
            )
            self._recorder.declared[key] = [()]

    # -- questions ----------------------------------------------------------------------------

    def _has(self, access: StateAccess, site: VariableSite) -> None:
        if site.is_later:
            self._recorder.replace(access.node, f"(self.{site.attribute} is not None)")
            return
        key = f"{access.collection}/{access.name}"
        declared = self._recorder.declared.get(key, [()])
        calls = self._recorder.called.get(key, [()])
        asked = [one for one in access.conditions if one.is_of_call]
        if not any(all(one in asked for one in each) for each in calls):
            self._recorder.mark(
                access.node, "whether Linen has this variable depends on its first call", CALL
            )
        if any(all(one in access.conditions for one in each) for each in declared):
            self._recorder.replace(access.node, "True")
        else:
            self._recorder.replace(access.node, f"hasattr(self, {site.attribute!r})")

    def _put(self, access: StateAccess, site: VariableSite) -> None:
        value = _argument(access.node, "value", 2)
        if value is None:
            self._unknown(access)
            return
        self._recorder.plan.rebuilt[access.node] = _Written(f"self.{site.attribute}.set_value")

    def _get(self, access: StateAccess, site: VariableSite) -> None:
        where = f"self.{site.attribute}"
        if access.method == "variable":
            self._recorder.replace(access.node, where)
            return
        reading = "[...]" if isinstance(site.value, Array) else ".get_value()"
        self._recorder.replace(access.node, f"{where}{reading}")

    # -- sown values --------------------------------------------------------------------------

    def _name_sown(self) -> None:
        """Give sown values attributes that nothing else has."""
        found: dict[str, str] = {}
        for (collection, text), nodes in self._recorder.sown.items():
            attribute = Declaring.free(text, self._recorder, collection)
            if attribute in found.values():
                attribute = f"{attribute}_of_{collection}"
            found[f"{collection}/{text}"] = attribute
            self._recorder.plan.others.append(Entry(f"{collection}/{text}", attribute))
            if attribute == text:
                continue
            for node in nodes:
                if isinstance(node, cst.SimpleString):
                    self._recorder.replace(node, repr(attribute))
                else:
                    self._recorder.mark(
                        node, "the name of what is sown is that of an attribute", NAME
                    )


@dataclass(frozen=True)
class _Written:
    """Writes `put_variable` as the call of a method of the variable."""

    method: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the call."""
        del node
        given = _argument(updated, "value", 2)
        assert given is not None
        return cst.Call(cst.parse_expression(self.method), [cst.Arg(given)])


def _argument(node: cst.Call, keyword: str, position: int) -> cst.BaseExpression | None:
    for place, arg in enumerate(node.args):
        if arg.star:
            return None
        if (arg.keyword is not None and arg.keyword.value == keyword) or (
            arg.keyword is None and place == position
        ):
            return arg.value
    return None


# -- parameters that `setup` assigns ----------------------------------------------------------


def _read_params(method: cst.FunctionDef, recorder: Recorder) -> None:
    """Write `self.w[...]` where a method reads a parameter that `setup` assigns."""
    first = [*method.params.posonly_params, *method.params.params][:1]
    if not recorder.params or not first:
        return
    name = first[0].name.value
    for node in _reads(method):
        if node in recorder.plan.replacements:
            continue
        attribute = _attribute_read(node, name)
        if attribute in recorder.params:
            reading = "[...]" if recorder.params[attribute] else ".get_value()"
            recorder.replace(node, f"{code_of(node)}{reading}")


def _attribute_read(node: cst.Attribute | cst.Call, owner: str) -> str:
    """Return the attribute of an object that is read; with braces for what is computed."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=attr) if name == owner:
            return attr.value
        case cst.Call(
            func=cst.Name(value="getattr"),
            args=[
                cst.Arg(value=cst.Name(value=name)),
                cst.Arg(value=cst.FormattedString() as text),
            ],
        ) if name == owner:
            return computed_name(text)
    return ""


def computed_name(node: cst.FormattedString) -> str:
    """Return the text of an f-string, with names in braces for what is computed."""
    letters = iter("ijklmnopq")
    return "".join(
        part.value if isinstance(part, cst.FormattedStringText) else f"{{{next(letters, 'z')}}}"
        for part in node.parts
    )


def _reads(method: cst.FunctionDef) -> Iterator[cst.Attribute | cst.Call]:
    """Yield the attributes that a method reads, and its calls."""
    written: set[cst.CSTNode] = set()
    for node in descendants(method):
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
            written.add(node.target)
        elif isinstance(node, (cst.Attribute, cst.Call)) and node not in written:
            yield node
