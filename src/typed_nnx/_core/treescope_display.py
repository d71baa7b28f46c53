"""What treescope shows in a notebook.

treescope is an optional dependency, imported only when it asks one of our objects for its display.
"""

from __future__ import annotations

from typing import Any

from typed_nnx._core.display_rows import Attribute, ObjectHeader

# The renderer that treescope passes and the parts that it gets are types of treescope: Any.


def render_rows(
    value: object, header: ObjectHeader, rows: list[Attribute], path: str | None, renderer: Any
) -> Any:
    """Render an object from its rows: as a constructor call, a wrapped dict or a wrapped list.

    Args:
        value: The object.
        header: Its header.
        rows: Its attributes.
        path: The Python expression that reaches it from the root, or None.
        renderer: treescope's renderer for the values in the rows.
    """
    from treescope import repr_lib

    kind, values = type(value), [row.value for row in rows]
    if header.start == "([":
        return repr_lib.render_list_wrapper(kind, values, path, renderer)
    entries = dict(zip([row.key for row in rows], values, strict=True))
    if header.start == "({":
        return repr_lib.render_dictionary_wrapper(kind, entries, path, renderer)
    return _constructor(value, header, entries, path, renderer)


def _constructor(
    value: object, header: ObjectHeader, entries: dict[str, Any], path: str | None, renderer: Any
) -> Any:
    """Render ``Foo(name=value, ...)``, coloured by its type, with the comment when expanded."""
    from treescope import formatting_util, rendering_parts

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
