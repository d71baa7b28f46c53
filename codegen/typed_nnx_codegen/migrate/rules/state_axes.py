"""TN115: ``state_axes=`` and ``split_rngs=`` are ``nnx.StateAxes`` and ``@nnx.split_rngs``."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives
from typed_nnx_codegen.migrate.analysis.syntax import is_name, number_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, without_none
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.axes import (
    NONE,
    ZERO,
    Axis,
    CannotTell,
    Split,
    axes_of,
    axis_expression,
    split_of,
    with_keys,
)
from typed_nnx_codegen.migrate.patterns.mapped_function import (
    Parameter,
    holds_keys,
    parameters_of_mapped,
    result_of,
)
from typed_nnx_codegen.migrate.patterns.transform_calls import (
    TransformCall,
    TransformCalls,
    renamed_keyword,
    with_keyword,
    without_keywords,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_OLDER: Final = (
    "state_axes",
    "split_rngs",
    "variable_axes",
    "variable_broadcast",
    "variable_carry",
    "in_axes_kwargs",
    "carry_argnum",
    "scan_output",
    "in_args_axes",
    "in_kwargs_axes",
    "broadcast_rngs",
    "scan_metadata",
    "vmap_metadata",
    "is_init",
)
# They have no translation, and were rare.
_OF_THE_FIRST: Final = ("in_kwargs_axes", "broadcast_rngs", "scan_metadata", "vmap_metadata")
_MESSAGE: Final = (
    "`{keyword}=` is gone: give each Module its axes at its place in `in_axes=`, "
    "nnx.StateAxes({{filter: axis, ...}}), and put @nnx.split_rngs(splits=n) above where random "
    "keys are to differ; {why}"
)
_COUNT: Final = (
    "random keys were split over the axis: put @nnx.split_rngs(splits=n) above, with the size of "
    "the axis, if there are Rngs in the arguments"
)
_STACKED: Final = (
    "the keys of a Module that was made under vmap are stacked like the rest of it; if it has "
    "Rngs with one key, put @nnx.split_rngs(splits=n) above"
)
_SPLIT_TWICE: Final = (
    "layers keep random keys of their own since flax 0.11, and those of a Module that was made under "
    "vmap are stacked already: take this @nnx.split_rngs away unless the keys here are single ones"
)
_RESULT: Final = "if it returns a Module, give the axes of that in `out_axes=` as in `in_axes=`"


@register
class StateAxes(Rule):
    """Axes are given by position for Modules too; random keys are split by a decorator.

    ``state_axes={...}`` held for all Modules among the arguments: the rule writes a
    ``nnx.StateAxes`` at the place of each in `in_axes`, and in `out_axes` where Modules are
    returned, with the axis of the random keys, and puts ``@nnx.split_rngs(splits=n)`` above where
    keys were split. It has to see the function, which of its parameters are Modules, and the size
    of the axis; where it does not it leaves a marker. `scan` has to say what is carried, in
    `out_axes` too, where flax 0.9.0 had the axes of the other results alone.
    """

    code = "TN115"
    title = "`state_axes=` and `split_rngs=` are `nnx.StateAxes` and `@nnx.split_rngs`"
    since = (0, 10, 0)
    example = """\
  from functools import partial
- from flax import nnx
+ import typed_nnx as nnx

- @partial(nnx.vmap, in_axes=(None, 0), axis_size=5, state_axes={nnx.Param: 0, ...: None})
+ @nnx.split_rngs(splits=5)
+ @partial(nnx.vmap, in_axes=(nnx.StateAxes({nnx.RngState: 0, nnx.Param: 0, ...: None}), 0), axis_size=5)
  def forward(model: nnx.Module, x):
      return model(x)
"""

    def plan(self) -> None:
        """Look for transforms that map from now on."""
        self._calls = TransformCalls(self.file, "nnx.vmap", "nnx.scan", "nnx.pmap")
        self._splits: dict[cst.CSTNode, cst.Call] = {}

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite the axes of a transform."""
        transform = self._calls.of(original)
        if transform is None:
            return updated
        older = [name for name in _OLDER if transform.keyword(name) is not None]
        if not older:
            return self._with_carry(transform, updated)
        try:
            return self._rewritten(transform, updated)
        except CannotTell as reason:
            self.file.decide(original, _MESSAGE.format(keyword=older[0], why=reason))
            return updated

    def _with_carry(self, transform: TransformCall, updated: cst.Call) -> cst.Call:
        try:
            axes = with_carry(self.file, transform)
        except CannotTell as reason:
            self.file.decide(transform.node, f"`out_axes=` names what is carried too; {reason}")
            return updated
        return updated if axes is None else renamed_keyword(updated, "out_axes", "out_axes", axes)

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Put ``@nnx.split_rngs`` above the decorators that need it; mark those that are in the way."""
        split = split_of_stacked_keys(self.file, self._calls, original)
        if split is not None:
            self.file.decide(split, _SPLIT_TWICE)
        if not any(one.decorator in self._splits for one in original.decorators):
            return updated
        # Another rule may have put decorators above these.
        added = len(updated.decorators) - len(original.decorators)
        decorators = list(updated.decorators[:added])
        for before, after in zip(original.decorators, updated.decorators[added:], strict=True):
            split = self._splits.get(before.decorator)
            if split is not None:
                decorators.append(cst.Decorator(split, leading_lines=after.leading_lines))
                decorators.append(after.with_changes(leading_lines=()))
            else:
                decorators.append(after)
        return updated.with_changes(decorators=decorators)

    def _rewritten(self, transform: TransformCall, updated: cst.Call) -> cst.BaseExpression:
        if transform.has_star or transform.keyword("in_axes_kwargs") is not None:
            raise CannotTell("some arguments are not given by position")
        for name in _OF_THE_FIRST:
            if transform.keyword(name) is not None:
                raise CannotTell(f"`{name}` has no translation")
        parameters = parameters_of_mapped(self.file, transform)
        split = split_of(transform)
        axes = axes_of(self.file, transform)
        in_axes = self._in_axes(transform, parameters, split, axes)
        out_axes = self._out_axes(transform, parameters, split, axes)
        done = without_keywords(updated, *(name for name in _OLDER if name != "state_axes"))
        if not _is_default(transform, "in_axes", in_axes):
            done = _placed(done, transform, "in_axes", in_axes)
        if out_axes is not None and not _is_default(transform, "out_axes", out_axes):
            done = _placed(done, transform, "out_axes", out_axes)
        done = without_keywords(done, "state_axes")
        return self._with_split(transform, done, parameters, split, axes)

    # -- random keys --------------------------------------------------------------------------

    def _with_split(
        self,
        transform: TransformCall,
        done: cst.Call,
        parameters: list[Parameter],
        split: Split,
        axes: list[Axis],
    ) -> cst.BaseExpression:
        """Return a transform under ``split_rngs`` where there may be keys to split."""
        if not split.is_on or all(one.holds_keys is False for one in parameters):
            return done
        stacked = [one for one in parameters if one.holds_keys is not False and not one.is_keys]
        if stacked and transform.keyword("split_rngs") is None and _is_mapped(axes):
            self.file.decide(transform.node, _STACKED)
            if not any(one.is_keys for one in parameters):
                return done
        if split.count is None:
            self.file.decide(transform.node, _COUNT)
            return done
        call = self.file.call("nnx.split_rngs", splits=split.count)
        if split.only is not None:
            call = with_keyword(call, "only", split.only)
        if transform.is_decorator:
            self._splits[transform.node] = call
            return done
        return cst.Call(call, [cst.Arg(done)])

    # -- axes ---------------------------------------------------------------------------------

    def _in_axes(
        self,
        transform: TransformCall,
        parameters: list[Parameter],
        split: Split,
        axes: list[Axis],
    ) -> cst.BaseExpression:
        entries = self._entries(transform, parameters)
        found: list[cst.BaseExpression] = []
        for parameter, entry in zip(parameters, entries, strict=False):
            if self._is_carry(entry) or not parameter.is_node:
                found.append(entry)
            elif parameter.is_keys:
                found.append(axis_expression(self.file, _of_keys(split)))
            else:
                own = with_keys(self.file, axes, split, parameter.holds_keys)
                found.append(axis_expression(self.file, own))
        return _tuple(found)

    def _entries(
        self, transform: TransformCall, parameters: list[Parameter]
    ) -> list[cst.BaseExpression]:
        """Return the axes that the call gives by position."""
        given = transform.keyword("in_axes") or transform.keyword("in_args_axes")
        carried = transform.keyword("carry_argnum")
        if given is not None and isinstance(given.value, (cst.Tuple, cst.List)):
            entries = [element.value for element in given.value.elements]
            if transform.keyword("in_args_axes") is not None:
                if transform.name == "nnx.scan":
                    raise CannotTell("`in_args_axes` of scan has no translation")
                entries = [ZERO, *entries]  # the Module had none
            if len(entries) != len(parameters):
                # Current flax wants an entry for parameters that calls leave out, too.
                raise CannotTell("`in_axes` does not have an entry for each parameter")
        else:
            axis = given.value if given is not None else ZERO
            if not isinstance(axis, cst.Integer) and not is_name(axis, "None"):
                raise CannotTell("`in_axes` is computed")
            if any(one.has_default for one in parameters):
                raise CannotTell("it cannot be seen which parameters calls leave out")
            entries = [axis for _ in parameters]
        if transform.name == "nnx.scan" and not any(self._is_carry(one) for one in entries):
            place = number_of(carried.value) if carried is not None else None
            if carried is None and transform.keyword("variable_axes") is not None:
                place = 1  # after the Module
            if not isinstance(place, int) or not 0 <= place < len(entries):
                raise CannotTell(
                    "scan has to say what is carried: nnx.Carry at its place in `in_axes=`"
                )
            entries[place] = self.file.refer("nnx.Carry")
        return entries

    def _out_axes(
        self,
        transform: TransformCall,
        parameters: list[Parameter],
        split: Split,
        axes: list[Axis],
    ) -> cst.BaseExpression | None:
        """Return the axes of the results; None where they stay as they are."""
        if transform.keyword("carry_argnum") is not None:
            return self._after_carry(transform)
        assert transform.function is not None
        results = result_of(self.file, transform.function)
        if True not in results:
            if None in results and not _is_plain(axes):
                self.file.decide(transform.node, _RESULT)
            return None
        given = transform.keyword("out_axes")
        entries: list[cst.BaseExpression] = [given.value if given is not None else ZERO]
        if isinstance(entries[0], (cst.Tuple, cst.List)):
            entries = [element.value for element in entries[0].elements]
        if len(entries) != len(results):
            entries = entries * len(results) if len(entries) == 1 else []
        if not entries or None in results:
            raise CannotTell("it cannot be seen which of the results are Modules")
        keys = None if any(one.holds_keys is not False for one in parameters) else False
        own = axis_expression(self.file, with_keys(self.file, axes, split, keys))
        found = [
            own if is_module and not self._is_carry(entry) else entry
            for is_module, entry in zip(results, entries, strict=True)
        ]
        return found[0] if len(found) == 1 else _tuple(found)

    def _after_carry(self, transform: TransformCall) -> cst.BaseExpression:
        given = transform.keyword("out_axes")
        output = transform.keyword("scan_output")
        carry = self.file.refer("nnx.Carry")
        gives_carry_only = (
            output is not None
            and isinstance(output.value, cst.Name)
            and output.value.value == "False"
        )
        if gives_carry_only:
            return carry
        return _tuple([carry, given.value if given is not None else ZERO])

    def _is_carry(self, node: cst.BaseExpression) -> bool:
        return self.file.name(node) == "nnx.Carry" or (
            isinstance(node, (cst.Name, cst.Attribute))
            and node.deep_equals(self.file.refer("nnx.Carry"))
        )


def _of_keys(split: Split) -> list[Axis]:
    """Return the axes of an Rngs."""
    if split.only is None:
        return [Axis(cst.Ellipsis(), ZERO if split.is_on else NONE)]
    return [Axis(split.only, ZERO), Axis(cst.Ellipsis(), NONE)]


def _placed(
    call: cst.Call, transform: TransformCall, name: str, value: cst.BaseExpression
) -> cst.Call:
    """Return a call with an argument, at its place or at that of ``state_axes``."""
    if transform.keyword(name) is not None:
        return renamed_keyword(call, name, name, value)
    if transform.keyword("state_axes") is not None and name == "in_axes":
        return renamed_keyword(call, "state_axes", name, value)
    return with_keyword(call, name, value)


def _is_default(transform: TransformCall, name: str, value: cst.BaseExpression) -> bool:
    """Whether axes are those that a transform takes where nothing is said, or was."""
    if transform.keyword(name) is not None or transform.name == "nnx.scan":
        return False
    entries = [one.value for one in value.elements] if isinstance(value, cst.Tuple) else [value]
    return all(isinstance(one, cst.Integer) and one.value == "0" for one in entries)


def _is_mapped(axes: list[Axis]) -> bool:
    """Whether everything in a Module has the first axis but for what some filters take."""
    return any(one.is_rest and one.axis.deep_equals(ZERO) for one in axes)


def _is_plain(axes: list[Axis]) -> bool:
    return len(axes) == 1 and isinstance(axes[0].axis, cst.Integer) and axes[0].axis.value == "0"


def _tuple(found: list[cst.BaseExpression]) -> cst.Tuple:
    elements = [cst.Element(one) for one in found]
    if len(elements) == 1:
        elements = [cst.Element(found[0], comma=cst.Comma())]
    return cst.Tuple(elements)


# -- what a scan gives ------------------------------------------------------------------------------


_CARRY: Final = "nnx.Carry"


def with_carry(file: File, transform: TransformCall) -> cst.BaseExpression | None:
    """Return ``(nnx.Carry, axes)`` for ``out_axes=axes`` of a scan that carries something.

    Current flax refuses every scan that this is done for.

    Args:
        file: The file.
        transform: The transform.

    Returns:
        The axes; None where they say what is carried already, or nothing is known of them.

    Raises:
        CannotTell: Some results have no axis, which scan does not take any more.
    """
    given = transform.keyword("out_axes")
    if transform.name != "nnx.scan" or given is None or not _is_carrying(file, transform):
        return None
    axes = given.value
    entries = [one.value for one in axes.elements] if isinstance(axes, cst.Tuple) else [axes]
    if any(isinstance(one, cst.Name) and one.value == "None" for one in entries):
        raise CannotTell("scan stacks all results: give each an axis, `(nnx.Carry, 0)`")
    if not all(isinstance(one, cst.Integer) for one in entries):
        return None
    return cst.Tuple([cst.Element(file.refer(_CARRY)), cst.Element(axes)])


def _is_carrying(file: File, transform: TransformCall) -> bool:
    """Whether the arguments of a scan have one that is carried, said or by default."""
    if transform.has_star:
        return False
    given = transform.keyword("in_axes")
    if given is None:
        return True
    axes = given.value
    # What a State carries by `nnx.StateAxes({...: nnx.Carry})` is no result.
    entries = (
        [one.value for one in axes.elements] if isinstance(axes, (cst.Tuple, cst.List)) else [axes]
    )
    return any(file.name(entry) == _CARRY for entry in entries)


# -- keys that are stacked already ------------------------------------------------------------------


def split_of_stacked_keys(
    file: File, calls: TransformCalls, function: cst.FunctionDef
) -> cst.Call | None:
    """Return the ``@nnx.split_rngs(...)`` over Modules whose keys have the mapped axis; or None.

    Layers shared the Rngs that they were made with up to flax 0.10; they keep keys of their own now,
    which are stacked as the rest of a Module is that was made under `nnx.vmap`.

    Args:
        file: The file.
        calls: The transforms that map.
        function: The function that they decorate.
    """
    splits = [
        one.decorator
        for one in function.decorators
        if isinstance(one.decorator, cst.Call) and file.name(one.decorator.func) == "nnx.split_rngs"
    ]
    if not splits:
        return None
    for transform in calls.decorator_of(function):
        if _maps_stacked_keys(file, transform):
            return splits[0]
    return None


def _maps_stacked_keys(file: File, transform: TransformCall) -> bool:
    """Whether a Module with random keys has one axis for all that it holds."""
    names = transform.parameters
    scope = file.analysis.scopes.get(transform.function) if transform.function else None
    if names is None or scope is None:
        return False
    given = transform.keyword("in_axes")
    axes: list[cst.BaseExpression] = [given.value if given is not None else ZERO] * len(names)
    if given is not None and isinstance(given.value, (cst.Tuple, cst.List)):
        axes = [element.value for element in given.value.elements]
    values = [without_none(scope.seen.get(name, UNKNOWN)) for name in names]
    return any(
        isinstance(axis, cst.Integer)
        and derives(value, "Module") is True
        and derives(value, "Rngs", "RngStream") is False
        and holds_keys(value) is True
        for value, axis in zip(values, axes, strict=False)
    )
