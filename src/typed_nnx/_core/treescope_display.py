"""What treescope shows in a notebook; imported only when treescope asks an object."""

from __future__ import annotations

from typing import Any

from treescope import formatting_util, rendering_parts, repr_lib

from typed_nnx._core.display import Attribute, NestedMapping, ObjectHeader, Representable
from typed_nnx._core.display_renderer import header_of

# The renderer that treescope passes and the parts that it gets are types of treescope, which is
# an optional dependency: Any.


def render_object(value: Representable, path: str | None, renderer: Any) -> Any:
    """Render an object from its rows: as a constructor call, a wrapped dict or a wrapped list.

    Args:
        value: the object.
        path: the Python expression that reaches it from the root, or None.
        renderer: treescope's renderer for the values in the rows.
    """
    if isinstance(value, NestedMapping):
        return renderer(value.mapping, path=path)
    rows = value.__nnx_repr__()
    header = header_of(rows)
    attributes = [row for row in rows if isinstance(row, Attribute)]
    kind, values = type(value), [_plain(row.value) for row in attributes]
    if header.start == "([":
        return repr_lib.render_list_wrapper(kind, values, path, renderer)
    entries = dict(zip([row.key for row in attributes], values, strict=True))
    if header.start == "({":
        return repr_lib.render_dictionary_wrapper(kind, entries, path, renderer)
    return _constructor(value, header, entries, path, renderer)


def _plain(value: Any) -> Any:
    return value.mapping if isinstance(value, NestedMapping) else value


def _constructor(
    value: object, header: ObjectHeader, entries: dict[str, Any], path: str | None, renderer: Any
) -> Any:
    """Render ``Foo(name=value, ...)``, coloured by its type, with the comment when expanded."""
    comment = header.comment() if header.comment else ""
    note = rendering_parts.comment_color(rendering_parts.text(f" # {comment}")) if comment else None
    children = [
        rendering_parts.siblings_with_annotations(
            f"{name}=", renderer(child, path=None if path is None else f"{path}.{name}")
        )
        for name, child in entries.items()
    ]
    name = rendering_parts.maybe_qualified_type_name(type(value))
    return rendering_parts.build_foldable_tree_node_from_children(
        prefix=rendering_parts.siblings(name, header.start),
        children=children,
        suffix=header.end,
        comma_separated=True,
        path=path,
        background_color=formatting_util.color_from_string(type(value).__qualname__),
        first_line_annotation=note,
    )
