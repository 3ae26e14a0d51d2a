"""The commands below `atlas eval`, one module for each."""

import typer

from atlas_search.cli.evaluation.grid import grid_command
from atlas_search.cli.evaluation.judge import judge_command
from atlas_search.cli.evaluation.run import run_command

eval_app = typer.Typer(help="How good a target is.", invoke_without_command=True)
eval_app.callback()(run_command)
eval_app.command("grid")(grid_command)
eval_app.command("judge")(judge_command)
