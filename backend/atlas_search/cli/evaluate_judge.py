"""`atlas eval` with a judge: a language model, or people at a page of their own."""

import secrets
import sys
import webbrowser
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Thread
from typing import Annotated

import typer
from flask_openapi3.openapi import OpenAPI
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from atlas_search.atlas import Atlas
from atlas_search.cli.ask import print_whole, printable, printable_json
from atlas_search.cli.evaluate_options import RunName, asking_bar, run_folder
from atlas_search.cli.main import stop_on_signal
from atlas_search.cli.options import AsJson
from atlas_search.core.errors import ConfigurationError, RequestError, SourceError
from atlas_search.core.logs import set_up_logs
from atlas_search.core.registry import require
from atlas_search.core.settings import Settings, load_settings
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.judge import (
    PASSAGE_TOKENS,
    VOTES,
    JudgeReport,
    JudgeWanted,
    judge_folder,
    open_panel,
)
from atlas_search.evaluation.metrics import Tools
from atlas_search.evaluation.people import (
    COHEN,
    KRIPPENDORFF,
    WEIGHTED,
    Agreement,
    LabelFile,
    Ratings,
    agreements,
    allocate,
    answer_digests,
    rater_name,
    read_scales,
)
from atlas_search.evaluation.report_files import write_reports
from atlas_search.evaluation.run import means
from atlas_search.evaluation.scored import Scored, Source
from atlas_search.providers.open import open_embedder
from atlas_search.server.access.caller import is_loopback
from atlas_search.server.labelling import (
    HOST,
    LABEL_ROUTES,
    MAX_BODY,
    RATING_ROUTES,
    SEARCH_ROUTES,
    Rated,
    label_blueprint,
    page_app,
    rating_blueprint,
)
from atlas_search.server.limits import networks
from atlas_search.server.search import search_blueprint
from atlas_search.server.sockets import BoundPort, ConnectionLimits

OF_THE_JUDGE = ("judge_target", "judge_provider", "judge_model", "max_cost")
"""Options that only a judge heeds."""

Judge = Annotated[bool, typer.Option("--judge", help="Let a language model judge the answers then")]
JudgeTarget = Annotated[
    str, typer.Option(help="Target whose model, time and prices count (default: TEST_TARGET)")
]
JudgeProvider = Annotated[str, typer.Option(help="Provider of the judge, in place of the target's")]
JudgeModelName = Annotated[str, typer.Option("--judge-model", help="Its model, likewise")]
Votes = Annotated[
    int,
    typer.Option(
        "--judge-votes",
        min=1,
        help=f"Times it is asked; odd (default: {VOTES})",
        show_default=False,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0, help="Most to spend, in the currency of the target's prices"),
]
PassageTokens = Annotated[
    int,
    typer.Option(
        "--judge-tokens",
        min=100,
        help=f"Tokens of passages in one call (default: {PASSAGE_TOKENS})",
        show_default=False,
    ),
]
Parallel = Annotated[int, typer.Option(min=1, max=64, help="Questions judged at once")]

_SOURCES: tuple[Source, ...] = ("judge", "fixed", "heuristic")


def judge_command(
    run: RunName,
    judge_target: JudgeTarget = "",
    judge_provider: JudgeProvider = "",
    judge_model: JudgeModelName = "",
    judge_votes: Votes = VOTES,
    max_cost: MaxCost = None,
    judge_tokens: PassageTokens = PASSAGE_TOKENS,
    parallel: Parallel = 4,
    as_json: AsJson = False,
) -> None:
    """Let a language model judge the replies of a run; what it does not judge stays estimated."""
    require("eval", "An evaluation")
    wanted = JudgeWanted(
        judge_target,
        judge_provider,
        judge_model,
        judge_votes,
        max_cost,
        judge_tokens,
        parallel,
    )
    folder = RunFolder(run_folder(run))
    report = judge_run(load_settings(), folder, wanted)
    if as_json:
        print(report.model_dump_json(indent=2))
    else:
        Console().print(_table(report, folder.load().scored))
    written = write_reports(folder.path)
    print(*written.remarks, sep="\n", file=sys.stderr)
    sys.exit(int(report.metrics_source == "heuristic" or bool(written.faults)))


def check_judge(wanted: JudgeWanted) -> None:
    """Raise AtlasError if there is no such judge: before anything is asked that it is to judge."""
    with open_panel(load_settings(), wanted):
        pass


def judge_run(settings: Settings, folder: RunFolder, wanted: JudgeWanted) -> JudgeReport:
    """Judge a run that is finished, and say on stderr what it took. Raises AtlasError."""
    tools = Tools(open_embedder(settings))
    parallel = min(wanted.parallel, settings.llm_concurrency)  # more would only wait, and too long
    with open_panel(settings, wanted) as panel, asking_bar("Judging") as progress:
        report = judge_folder(folder, panel, tools, parallel=parallel, told=progress)
    print(*map(printable, remarks_on(report)), sep="\n", file=sys.stderr)
    return report


def remarks_on(report: JudgeReport) -> list[str]:
    """Say what came of a judging, a sentence for each thing."""
    remarks = [
        f"metrics_source: {report.metrics_source}, by {report.provider}/{report.model}.",
        f"{report.calls} calls, {report.prompt_tokens} tokens read, {report.completion_tokens} "
        f"written, cost {'unknown' if report.cost is None else f'{report.cost:.4f}'}.",
        *_agreements(report),
        *(f"{count} figures are estimates: {note}" for note, count in report.notes.items()),
    ]
    if report.split:
        remarks.append(
            f"The passages of {report.split} figures were shown in several calls: they did not fit "
            "into one (--judge-tokens)."
        )
    return remarks


def _agreements(report: JudgeReport) -> Iterable[str]:
    if report.judge_agreement is not None:
        yield f"Agreement of its votes: {report.judge_agreement:.3f}."
    for one in report.people:
        kappa = "undefined" if one.kappa is None else f"{one.kappa:.3f}"
        yield (
            f"With people's {one.scale} ({one.metric}): kappa {kappa}, {one.agreeing:.1%} of "
            f"{one.count} ratings agree."
        )


def _table(report: JudgeReport, scored: Iterable[Scored]) -> Table:
    figures = means(list(scored))
    table = Table("Figure", "Mean", "By the judge", "Fixed", "Estimated", box=None)
    for name, counts in report.sources.items():
        cells = (str(counts.get(source, 0)) for source in _SOURCES)
        table.add_row(name, f"{figures[name]:.3f}", *cells)
    return table


_HEADS = {COHEN: "Cohen", WEIGHTED: "weighted", KRIPPENDORFF: "Krippendorff"}


def agreement_command(run: RunName, as_json: AsJson = False) -> None:
    """Print the agreement of raters on each scale, and their means with 95% intervals."""
    folder = run_folder(run)
    ratings = Ratings(folder)
    all_ratings = ratings.all(answer_digests(RunFolder(folder).replies()))
    if not all_ratings:
        raise SourceError(f"Nobody has rated {folder} yet: `atlas eval rate {run}` opens a page.")
    results = agreements(all_ratings, ratings.scales())
    if as_json:
        scales = [asdict(one) | {"scale": one.scale.model_dump()} for one in results]
        told = [one.model_dump(mode="json") for one in all_ratings]
        print(printable_json({"scales": scales, "ratings": told}))
    else:
        _print_agreement(results)


def _print_agreement(rows: Sequence[Agreement]) -> None:
    console = Console()
    heads = ("raters", "answers", "by several", *_HEADS.values(), "mean", "95%")
    right = [Column(head, justify="right") for head in heads]
    table = Table("scale", *right, box=None, padding=(0, 1, 0, 0))
    for one in rows:
        table.add_row(*(escape(str(printable(cell))) for cell in _row(one)))
    print_whole(console, table)
    for one in rows:
        for reason in dict.fromkeys(one.missing.values()):
            names = ", ".join(_HEADS[name] for name, why in one.missing.items() if why == reason)
            line = f"{one.scale.name}, no {names}: {reason}"
            console.print(escape(str(printable(line))), highlight=False)


def _row(one: Agreement) -> tuple[str, ...]:
    coefficients = (
        f"{one.coefficients[name]:.3f}" if name in one.coefficients else "-" for name in _HEADS
    )
    counts = (str(len(one.raters)), str(one.items), str(one.shared))
    scale = f"{one.scale.name} ({one.scale.low}-{one.scale.high})"
    if one.mean is None:
        return (scale, *counts, *coefficients, "-", "-")
    mean = one.mean
    return (scale, *counts, *coefficients, f"{mean.mean:.2f}", f"{mean.low:.2f}-{mean.high:.2f}")


THREADS = 8
DRAIN_SECONDS = 2.0
LIMITS = ConnectionLimits(connections=100, per_address=100, trusted=networks(""))
_FIRST_PORT, _PORTS = 20_000, 10_000  # below those that systems give to connections

Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser")
]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Port of the page; the same for the same file if absent"),
]


def show_page(
    app: OpenAPI,
    keys: Mapping[str, str],
    of: Path,
    port: int | None,
    *,
    browser: bool,
    host: str = HOST,
    url: str = "",
) -> None:
    """Serve until interrupted. Raises ConfigurationError if the port cannot be used.

    A browser keeps drafts by address, so the page `of` a file has the same port at each start, if
    it is free. It is opened here if there is one key.
    """
    listener = _listener(app, of, host, port)
    try:
        base = url.rstrip("/") or f"http://{f'[{host}]' if ':' in host else host}:{listener.port}"
        links = {f"{base}/#key={key}": name for key, name in keys.items()}
        for link, name in links.items():
            print(f"The page{name and f' of {name}'} is at {link}", flush=True)
        alone = browser and len(links) == 1
        with redirection(*links) if alone else nullcontext() as opened:
            if opened:
                # in a thread of its own: a browser for the terminal stays there
                Thread(target=webbrowser.open, args=(opened.as_uri(),), daemon=True).start()
            listener.run()
    except KeyboardInterrupt:
        pass
    finally:
        listener.drain(DRAIN_SECONDS)
        listener.close()


@contextmanager
def redirection(address: str) -> Iterator[Path]:
    """A file, of its user alone, that leads to an address; it is removed at the end.

    Everybody on a machine can read with which arguments a browser was started, and the address
    holds the key.
    """
    with NamedTemporaryFile("w", prefix="atlas-", suffix=".html") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
            f'<a href="{address}">The page</a>'
        )
        file.flush()
        yield Path(file.name)


def _listener(app: OpenAPI, of: Path, host: str, port: int | None) -> BoundPort:
    def listen(port: int) -> BoundPort:
        return BoundPort(app, host, port, threads=THREADS, max_body=2 * MAX_BODY, limits=LIMITS)

    if port is not None:
        try:
            return listen(port)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"--port {port} cannot be used ({error.__cause__}). Give another, or none."
            ) from error
    own = _FIRST_PORT + zlib.crc32(str(of.resolve()).encode()) % _PORTS
    try:
        return listen(own)
    except ConfigurationError:
        return listen(0)


def rate_command(
    run: RunName,
    scales: Annotated[
        str | None,
        typer.Option(help="`relevance,accuracy:1-3`, or a TOML file; those used before if absent"),
    ] = None,
    raters: Annotated[
        str,
        typer.Option(
            help="Names, divided by commas, each with a link; whoever gives a name if absent"
        ),
    ] = "",
    each: Annotated[
        int | None,
        typer.Option(min=1, help="Raters of each answer, who share all evenly (default: all)"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of each rater's answers, and of their order")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on, for raters elsewhere")] = HOST,
    url: Annotated[
        str, typer.Option(help="Address that raters open, if it is another: that of a proxy")
    ] = "",
    port: Port = None,
    browser: Browser = True,
) -> None:
    """Open a page to rate the answers of a run, without their target's name. Ctrl-C ends it."""
    stop_on_signal()
    names = _rater_names(raters)
    if each and not names:
        raise RequestError("--each shares the answers between raters: name them with --raters.")
    _check_reachable(host, url)
    settings = load_settings()
    set_up_logs(settings)
    folder = run_folder(run)
    rated = rated_answers(folder)
    ids = [one.label.id for one in rated]
    shares = allocate(ids, names, each or len(names), seed) if names else {}
    ratings = Ratings(folder)
    chosen = read_scales(scales) if scales else ratings.scales()
    ratings.begin(chosen)
    print(f"{folder}: {len(rated)} answers, {len(ratings.all())} ratings.", file=sys.stderr)
    blueprint = rating_blueprint(ratings, rated, [scale.name for scale in chosen], shares, seed)
    keys = {ratings.rater_key(name): name for name in names} or {secrets.token_urlsafe(24): ""}
    app = page_app("rate.html", settings, keys, {blueprint: RATING_ROUTES}, host=host, url=url)
    show_page(app, keys, folder, port, browser=browser, host=host, url=url)


def _rater_names(text: str) -> list[str]:
    names = [rater_name(part, [], others=True) for part in text.split(",") if part.strip()]
    if len({name.casefold() for name in names}) < len(names):
        raise RequestError(f"--raters {text}: give each rater a name of their own.")
    return names


def _check_reachable(host: str, url: str) -> None:
    """Raise RequestError if no link can be printed; tell what anybody on the way can read."""
    if host in ("0.0.0.0", "::") and not url:
        raise RequestError(
            f"--host {host} is every address of this machine: --url says which one raters open."
        )
    if not is_loopback(host) and not url.startswith("https://"):
        print(
            "Links and ratings can be read on the way: for more than a network of your own, put a "
            "proxy with TLS in front, and give its address as --url.",
            file=sys.stderr,
        )


def rated_answers(folder: Path) -> list[Rated]:
    """The answers of a run, finished or not. Raises SourceError if it has none."""
    run = RunFolder(folder)
    run.spec()
    replies = run.replies()
    answers = [
        Rated(label, reply.answer)
        for label in run.labels()
        if (reply := replies.get(label.id)) and reply.answer
    ]
    if not answers:
        raise SourceError(f"{folder} has no answers to rate: nothing was asked, or only searched.")
    return answers


LABELS = Path("data/labels.jsonl")


def label_command(
    labels: Annotated[Path, typer.Option(help="Label set to write (JSONL)")] = LABELS,
    collection: Annotated[
        str, typer.Option(help="Collection to search; the configured one if absent")
    ] = "",
    port: Port = None,
    browser: Browser = True,
) -> None:
    """Open a page to ask, mark passages and words that answer, and save labels. Ctrl-C ends it."""
    stop_on_signal()
    file = LabelFile(labels)
    with Atlas.open(collection) as atlas:
        settings = atlas.services.settings
        set_up_logs(settings)
        print(f"{labels}: {len(file.saved())} labels.", file=sys.stderr)
        keys = {secrets.token_urlsafe(24): ""}
        blueprints = {
            label_blueprint(atlas, file): LABEL_ROUTES,
            search_blueprint(lambda: atlas): SEARCH_ROUTES,
        }
        app = page_app("label.html", settings, keys, blueprints)
        show_page(app, keys, labels, port, browser=browser)
