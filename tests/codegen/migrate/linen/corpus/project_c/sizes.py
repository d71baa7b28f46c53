"""Settings in a file that has nothing of jax."""

from dataclasses import dataclass

WIDTH = 6
DEPTH = 2
WIDTHS = (4, 8)
NAMES = {"last": 5}
ACTIVATION = "gelu"
RATIO = 0.5


class Defaults:
    width = 7


@dataclass(frozen=True)
class Config:
    width: int = 3
    hidden: tuple[int, ...] = (4, 5)


def doubled(number):
    return 2 * number


def in_rows(x):
    return x.reshape(x.shape[0], -1, WIDTH)
