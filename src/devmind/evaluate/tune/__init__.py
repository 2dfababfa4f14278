"""A team's questions → weights of ranking for its knowledge base, kept if they are no worse on questions held out."""

from devmind.evaluate.tune.keep import undo
from devmind.evaluate.tune.tuning import Asked, Tuning, tune

__all__ = ["Asked", "Tuning", "tune", "undo"]
