"""A package whose name for one of its modules is a function."""

from .mlp import MLP as MLP
from .mlp import mlp as mlp
