"""``devmind eval``: the commands of evaluation, one module a subject; importing a module registers its commands."""

import typer

from devmind.cli.app import app

evaluation = typer.Typer(
    name="eval",
    help="Measure DevMind or any other system: runs, comparisons, gates, reports.",
    rich_markup_mode=None,
)
app.add_typer(evaluation)

__all__ = ["evaluation"]
