"""``nnx.filterlib``: filters under the name of their module."""

from typed_nnx._core.filters import All as All
from typed_nnx._core.filters import Any as Any
from typed_nnx._core.filters import Everything as Everything
from typed_nnx._core.filters import Filter as Filter
from typed_nnx._core.filters import Not as Not
from typed_nnx._core.filters import Nothing as Nothing
from typed_nnx._core.filters import OfType as OfType
from typed_nnx._core.filters import PathContains as PathContains
from typed_nnx._core.filters import PathIn as PathIn
from typed_nnx._core.filters import Predicate as Predicate
from typed_nnx._core.filters import WithTag as WithTag
from typed_nnx._core.filters import filters_to_predicates as filters_to_predicates
from typed_nnx._core.filters import to_predicate as to_predicate
