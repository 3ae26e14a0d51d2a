"""The commands below `atlas eval`, one module for each."""

import typer

from atlas_search.cli.evaluation.agreement import agreement_command
from atlas_search.cli.evaluation.compare import compare_command
from atlas_search.cli.evaluation.export import export_command
from atlas_search.cli.evaluation.gate import baseline_command, gate_command
from atlas_search.cli.evaluation.grid import grid_command
from atlas_search.cli.evaluation.judge import judge_command
from atlas_search.cli.evaluation.label import label_command
from atlas_search.cli.evaluation.phoenix import phoenix_command
from atlas_search.cli.evaluation.rate import rate_command
from atlas_search.cli.evaluation.report import report_command
from atlas_search.cli.evaluation.run import run_command

eval_app = typer.Typer(help="How good a target is.", invoke_without_command=True)
eval_app.callback()(run_command)
eval_app.command("compare")(compare_command)
eval_app.command("gate")(gate_command)
eval_app.command("baseline")(baseline_command)
eval_app.command("grid")(grid_command)
eval_app.command("label")(label_command)
eval_app.command("rate")(rate_command)
eval_app.command("agreement")(agreement_command)
eval_app.command("phoenix")(phoenix_command)
eval_app.command("report")(report_command)
eval_app.command("export")(export_command)
eval_app.command("judge")(judge_command)
