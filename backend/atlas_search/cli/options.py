"""Options that several commands have, the settings they run with, and commands of requests."""

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from atlas_search.core.errors import RequestError
from atlas_search.core.logs import set_up_logs
from atlas_search.core.settings import Settings, load_settings
from atlas_search.search.request import request_of

CollectionChoice = Annotated[
    str | None, typer.Option("--collection", help="Collection of the server that is asked")
]
TargetChoice = Annotated[str | None, typer.Option("--target", help="Name of a target")]
K = ("-k", "--k")
"""Spellings of the number of passages, in every command that has one."""
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document, with all there is to say")]

R = TypeVar("R", bound=BaseModel)

_OWN_FORM: Mapping[str, Any] = {
    "question": Annotated[
        list[str], typer.Argument(help="In quotation marks, or word by word", show_default=False)
    ],
    "query": Annotated[
        str, typer.Argument(help='strike*, "a phrase", strike* NEAR/5 wage*, a OR b, wom?n')
    ],
    "corpora": Annotated[
        list[str] | None, typer.Option("--corpus", help="Only this corpus; repeatable")
    ],
    "filters": Annotated[
        list[str] | None, typer.Option("--where", help="FIELD=VALUE or FIELD=FROM..TO; repeatable")
    ],
    "require": Annotated[
        list[str] | None, typer.Option(help="A phrase passages must hold; repeatable")
    ],
    "exclude": Annotated[
        list[str] | None, typer.Option(help="A phrase no passage may hold; repeatable")
    ],
    "against": Annotated[
        list[str] | None,
        typer.Option(help="Compare with this corpus, not with everything else; repeatable"),
    ],
    "as_of": Annotated[str | None, typer.Option(help="The day ages are counted from: YYYY-MM-DD")],
}
"""Fields of requests that are written in another way in a terminal."""

_SHORT = {"k": K, "limit": ("-n", "--limit")}


def command_of(
    kind: type[R], work: Callable[..., None], without: Collection[str] = (), **defaults: object
) -> Callable[..., None]:
    """A command whose arguments and options are the fields of a request, and those of `work`.

    `work` gets the request first. Its docstring is the help of the command. Fields may be left
    out, or have other `defaults`.
    """
    fields = {name: field for name, field in kind.model_fields.items() if name not in without}
    own = list(inspect.signature(work).parameters.values())[1:]

    def command(**values: Any) -> None:
        options = {name: _value(name, values.pop(name)) for name in fields}
        chosen = {name: value for name, value in options.items() if value is not None}
        work(request_of(kind, None, chosen), **values)

    hints = get_type_hints(work, include_extras=True)
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(name, _default(field)),
            annotation=_OWN_FORM.get(name) or _option(name, field),
        )
        for name, field in fields.items()
    ]
    parameters += [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in own
    ]
    return _with_parameters(command, work, parameters)


Options = TypeVar("Options")


def command_with(
    kind: Callable[..., Options], work: Callable[[typer.Context, Options], None]
) -> Callable[..., None]:
    """A command whose options are the fields of a dataclass, which `work` gets with the context."""

    def command(context: typer.Context, **values: Any) -> None:
        work(context, kind(**values))

    context, *_ = inspect.signature(command).parameters.values()
    return _with_parameters(command, work, [context, *inspect.signature(kind).parameters.values()])


def _with_parameters(
    command: Callable[..., None], work: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    command.__doc__ = work.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _default(field: FieldInfo) -> object:
    if field.is_required():
        return inspect.Parameter.empty
    default = field.get_default(call_default_factory=True)
    return None if default in ("all", [], {}) else default


def _option(name: str, field: FieldInfo) -> Any:
    return Annotated[field.annotation, typer.Option(*_SHORT.get(name, ()), help=field.description)]


def _value(name: str, value: Any) -> Any:
    if name == "question":
        return " ".join(value)
    return filters_of(value) if name == "filters" and value else value


def filters_of(conditions: Iterable[str]) -> dict[str, object]:
    """Filters from `FIELD=VALUE` and `FIELD=FROM..TO`; of values of one field any may match.

    Raises RequestError.
    """
    filters: dict[str, object] = {}
    for condition in conditions:
        field, equals, value = condition.partition("=")
        if not (field and equals and value):
            raise RequestError(f"{condition!r} is neither FIELD=VALUE nor FIELD=FROM..TO.")
        low, between, high = value.partition("..")
        if between:
            ends = {"from": low, "to": high}
            filters[field] = {end: bound for end, bound in ends.items() if bound}
        else:
            known = filters.get(field)
            filters[field] = [*known, value] if isinstance(known, list) else [value]
    return filters


def command_settings() -> Settings:
    """The settings of a command, whose log they set up."""
    settings = load_settings()
    set_up_logs(settings)
    return settings
