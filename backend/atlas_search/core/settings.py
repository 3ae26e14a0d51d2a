"""Settings: places, ports and names from the environment and `.env`. The only reader of both.

Defaults of target keys, such as `SEARCH_K`, are in `targets.py`.
"""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from atlas_search.core.addresses import (
    METRICS,
    Destination,
    address_fault,
    is_key,
    otlp_at,
    read_headers,
    without_login,
)
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.files import bundled_folder
from atlas_search.core.ids import LONGEST, PATTERN
from atlas_search.core.targets import Target

_SOURCES = SettingsConfigDict(
    env_file=".env",
    env_ignore_empty=True,
    extra="ignore",
    frozen=True,
    hide_input_in_errors=True,  # it may be a key
)


def listed(text: str) -> list[str]:
    """Split a list at its commas; empty parts are left out."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _reachable(address: str) -> str:
    if address and (fault := address_fault(without_login(address))):
        raise ValueError(f"the address {fault}")
    return address


Endpoint = Annotated[str, AfterValidator(_reachable)]
AbsolutePath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
WebAddress = Annotated[str, Field(pattern=r"^(https?://.+)?$")]


class Settings(BaseSettings):
    """Folders, addresses, keys and limits. Every name is an environment variable."""

    model_config = _SOURCES

    chroma_persist_directory: AbsolutePath = Field(
        Path("data/stores"), description="Folder that holds the built collections"
    )
    chroma_collection_name: str = Field(
        "atlas_demo",
        pattern=rf"^{PATTERN}$",
        max_length=LONGEST,
        description="The collection that is served",
    )
    atlas_umask: str = Field(
        "077",
        pattern=r"^[0-7]{3,4}$",
        description="Permissions that files of the `atlas` command do not get; `027` lets a group "
        "read",
    )
    search_engine: Literal["", "embedded", "qdrant"] = Field(
        "",
        description="Who finds candidates in what is built: `embedded` (Chroma and tantivy) or "
        "`qdrant`; empty: as the collection has it, else `embedded`",
    )
    qdrant_url: WebAddress = Field(
        "", description="Address of a Qdrant server; empty: its engine in this process"
    )
    qdrant_api_key: SecretStr = Field(
        SecretStr(""), description="Key of the Qdrant server, if it asks for one"
    )
    multi_corpus_metadata: str = Field(
        "", description='Corpora that "all" means, separated by commas; empty: every corpus'
    )
    collections: str = Field(
        "",
        description="Collections a request may choose, separated by commas; empty: only "
        "CHROMA_COLLECTION_NAME; `*`: all",
    )
    collections_open: int = Field(
        8, ge=1, description="Collections kept open beside CHROMA_COLLECTION_NAME"
    )
    ingest_root: AbsolutePath = Field(
        Path("data/ingest"), description="Folder of the files handed to a running server"
    )
    ingest_max_file_mb: int = Field(50, ge=1, description="Size of one such file in MB")
    ingest_max_request_mb: int = Field(
        200, ge=1, le=1000, description="Size of all files of one request"
    )
    embedding_model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="Name or folder of a sentence-transformers model",
    )
    embedding_provider: str = Field(
        "local",
        description="`local`, `mistral`, `openai` (any servers of its protocol), or the name of a "
        "plug-in",
    )
    embedding_urls: str = Field(
        "",
        pattern=r"^(https?://[^,\s]+(\s*,\s*https?://[^,\s]+)*)?$",
        description="Embedding servers for `openai`, up to `/v1`, separated by commas; "
        "empty: OPENAI_BASE_URL",
    )
    embedding_requests: int = Field(
        8, ge=1, le=1000, description="Requests to all embedding servers at once"
    )
    pooling: Literal["", "mean", "cls", "max", "mean+max"] = Field(
        "", description="mean, cls, max or mean+max; empty: the model's own way"
    )
    embedding_passage_prefix: str = Field(
        "", description="Put before every passage; empty: the model's own"
    )
    embedding_query_prefix: str = Field(
        "", description="Put before every question; empty: the model's own"
    )
    embedding_device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="auto (CUDA where there is one), cpu or cuda"
    )
    embedding_runtime: Literal["auto", "torch", "onnxruntime", "int8"] = Field(
        "auto",
        description="What runs a local model: onnxruntime, int8 (rounded weights, faster, vectors "
        "of its own), torch, or auto: torch on a GPU and for a model that cannot be "
        "exported",
    )
    sparse_model: str = Field(
        "", description="A sparse encoder, by name or folder: a third leg; empty: none"
    )
    read_workers: int | None = Field(
        None,
        ge=0,
        le=256,
        description="Processes that read source files; empty: one for each CPU; 0: none, and no "
        "limits",
    )
    file_seconds: int = Field(
        300,
        ge=1,
        description="Seconds of computing without a new document after which a file is left out",
    )
    file_memory_mb: int = Field(4000, ge=50, description="Megabytes that reading a file may take")
    file_characters: int = Field(
        200_000_000, ge=1, description="Characters that a document and its passages may have"
    )
    mistral_api_key: SecretStr = Field(
        SecretStr(""), description="Key of a Mistral account, for `mistral`"
    )
    mistral_server_url: WebAddress = Field(
        "", description="Address of Mistral's API; empty: the public one"
    )
    mistral_requests_per_minute: int = Field(
        60, ge=1, description="Requests sent to Mistral in a minute"
    )
    mistral_timeout_seconds: int = Field(
        60, ge=1, description="Seconds after which a request to Mistral counts as unanswered"
    )
    openai_api_key: SecretStr = Field(
        SecretStr(""), description="Key for `openai`; a server of your own may need none"
    )
    openai_base_url: WebAddress = Field(
        "", description="Address of an OpenAI-compatible server, up to `/v1`; empty: OpenAI's"
    )
    llm_concurrency: int = Field(8, ge=1, le=1000, description="Calls to language models at once")
    llm_queue: int = Field(
        64, ge=0, le=10_000, description="Answers that may wait; more are refused with 429"
    )
    llm_queue_seconds: float = Field(
        30, gt=0, description="Seconds an answer waits for its turn before it fails with 503"
    )
    query_cache_enabled: bool = Field(
        True, description="Whether answers are kept for the same question"
    )
    query_cache_ttl_sec: float = Field(
        300, gt=0, description="Seconds an answer is kept for the same question"
    )
    query_cache_size: int = Field(
        2048, ge=1, le=100_000, description="Answers kept for the same question"
    )
    resume_seconds: float = Field(
        2.0, ge=0, description="Seconds a client that went away has to resume its stream"
    )
    cohere_api_key: SecretStr = Field(
        SecretStr(""), description="Key of a Cohere account, for the reranker `cohere`"
    )
    cohere_server_url: WebAddress = Field(
        "", description="Address of Cohere's API; empty: the public one"
    )
    test_target: str = Field("k10_extractive", description="Target used when a request names none")
    targets_directory: Path = Field(
        bundled_folder("targets"), description="Folder of the target files"
    )
    atlas_host: str = Field("127.0.0.1", description="Address the server listens on")
    atlas_address: str = Field(
        "", description="Address under which others reach it, if not ATLAS_HOST"
    )
    atlas_port: int = Field(8000, ge=0, le=65535, description="Port of the server and the page")
    atlas_threads: int = Field(
        96, ge=8, description="Requests served at once; a stream is one until it ends"
    )
    max_connections: int = Field(400, ge=16, le=100_000, description="Connections at once")
    connections_per_address: int = Field(
        64, ge=1, le=100_000, description="Connections at once from one address, proxies aside"
    )
    zotero_address: WebAddress = Field(
        "",
        description="Address of the readers' Zotero, as http://127.0.0.1:23119; empty: that of this"
        " machine",
    )
    trusted_proxies: str = Field(
        "",
        description="Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto "
        "count, separated by commas",
    )
    atlas_public_url: WebAddress = Field(
        "",
        description="Address of the page as readers reach it, for permalinks; empty: the request's",
    )
    atlas_allowed_hosts: str = Field(
        "", description="Further names by which the server is called, separated by commas"
    )
    atlas_allowed_origins: str = Field(
        "",
        description="Origins whose pages may use the API, such as `https://wiki.example.org`, "
        "separated by commas",
    )
    phoenix: bool = Field(True, description="Whether `make run` starts Phoenix and traces to it")
    phoenix_port: int = Field(
        6006, ge=1, le=65535, description="Port of the Phoenix that is started"
    )
    phoenix_working_dir: AbsolutePath = Field(
        Path("data/phoenix"), description="Folder of the Phoenix that is started"
    )
    phoenix_collector_endpoint: Endpoint = Field(
        "", description="Address of a running Phoenix to trace to; empty: no tracing"
    )
    phoenix_api_key: SecretStr = Field(
        SecretStr(""), description="Key of a Phoenix that asks for one"
    )
    phoenix_public_url: str = Field(
        "", description="Address of Phoenix as a browser reaches it; empty: the collector's"
    )
    phoenix_project_name: str = Field("atlas", description="Phoenix project the traces go to")
    otel_exporter_otlp_endpoint: Endpoint = Field(
        "",
        description="Address of a server of OTLP over HTTP: traces go to `/v1/traces` below it, "
        "metrics to `/v1/metrics`",
    )
    otel_exporter_otlp_traces_endpoint: Endpoint = Field(
        "", description="Address for traces as it is, if it is not below the other"
    )
    otel_exporter_otlp_headers: SecretStr = Field(
        SecretStr(""), description="Its headers: `name=value`, separated by commas, percent-encoded"
    )
    otel_bsp_schedule_delay: int = Field(
        5000, ge=1, description="Milliseconds between two sendings of spans"
    )
    trace_content: bool = Field(True, description="Whether traces hold questions and texts")
    trace_sampling: float = Field(1.0, ge=0, le=1, description="Share of traces that are kept")
    trace_redact: str = Field(
        "",
        description="Redactions of texts in traces, separated by commas: `contacts`, or plug-ins",
    )
    otel_exporter_otlp_metrics_endpoint: Endpoint = Field(
        "", description="Address for metrics as it is, if it is not below the other"
    )
    otel_exporter_otlp_metrics_headers: SecretStr = Field(
        SecretStr(""), description="Headers for metrics alone; empty: those above"
    )
    otel_metric_export_interval: int = Field(
        60_000, ge=100, description="Milliseconds between two sendings of metrics"
    )
    atlas_admin_token: SecretStr = Field(
        SecretStr(""),
        description="Token that allows changes to a running server; empty: who is on its machine "
        "may, and keys of administrators",
    )
    api_keys_file: AbsolutePath | None = Field(
        None,
        description="File of the keys that `atlas keys` makes; with one, every request needs a key",
    )
    atlas_access: Literal["keys", "shared", "proxy"] = Field(
        "keys",
        description="Who lets others in where ATLAS_HOST is not this machine alone: `keys` of "
        "API_KEYS_FILE, keys that are `shared` by all servers of STATE_URL, or a `proxy` in front",
    )
    atlas_api_key: SecretStr = Field(
        SecretStr(""), description="Key that `atlas ask`, `search` and `store pull` send"
    )
    limit_requests_per_minute: int = Field(
        0, ge=0, description="Requests of one key or address; 0: any number"
    )
    limit_streams: int = Field(
        0, ge=0, description="Answers sent at once to one key or address; 0: any number"
    )
    limit_cost_per_day: float = Field(
        0, ge=0, description="What models may cost one key or address a day; 0: anything"
    )
    audit_log: AbsolutePath | None = Field(
        None, description="File that gets a line of JSON for every request; empty: none"
    )
    atlas_state_directory: AbsolutePath = Field(
        Path("data/state"), description="Folder of costs, shared answers and ratings"
    )
    state_url: SecretStr = Field(
        SecretStr(""),
        description="PostgreSQL in which several servers keep these together, with recent answers "
        "and counts of requests: `postgresql://USER:PASSWORD@HOST/DATABASE`; empty: "
        "ATLAS_STATE_DIRECTORY",
    )
    atlas_evaluation_directory: AbsolutePath = Field(
        Path("data/evaluations"), description="Folder of the runs of `atlas eval`"
    )
    atlas_model_directory: AbsolutePath = Field(
        Path("data/models"), description="Folder of models that are exported to ONNX Runtime"
    )
    feedback_days: int = Field(
        90,
        ge=1,
        le=36_500,
        description="Days for which an answer can be rated, and a rating waits for Phoenix",
    )
    atlas_log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="DEBUG, INFO, WARNING or ERROR"
    )
    atlas_log_format: Literal["text", "json"] = Field(
        "text", description="Lines of the log: `text`, or `json` with one object each"
    )

    @field_validator("trusted_proxies")
    @classmethod
    def _addresses(cls, text: str) -> str:
        for part in listed(text):
            ip_network(part)
        return text

    @field_validator("atlas_allowed_hosts")
    @classmethod
    def _hosts(cls, text: str) -> str:
        for part in listed(text):
            if not re.fullmatch(r"[\w.-]+|\[[0-9A-Fa-f:.]+\]", part):
                raise ValueError(
                    f"{part!r} is not a host: no `https://` before it, no port after it"
                )
        return text

    @field_validator("atlas_allowed_origins")
    @classmethod
    def _origins(cls, text: str) -> str:
        for part in listed(text):
            if not re.fullmatch(r"https?://[^/?#@*\s]+", part):
                raise ValueError(f"{part!r} is not an origin such as `https://wiki.example.org`")
        return text

    @field_validator("phoenix_api_key", "atlas_api_key")
    @classmethod
    def _usable_key(cls, key: SecretStr) -> SecretStr:
        if not is_key(key.get_secret_value().strip()):
            raise ValueError("it holds characters that cannot be part of a key; copy it again")
        return key

    @field_validator("state_url")
    @classmethod
    def _postgres(cls, url: SecretStr) -> SecretStr:
        if url and not url.get_secret_value().startswith("postgresql://"):
            raise ValueError("it does not begin with postgresql://")
        return url

    @field_validator("otel_exporter_otlp_headers", "otel_exporter_otlp_metrics_headers")
    @classmethod
    def _readable_headers(cls, headers: SecretStr) -> SecretStr:
        read_headers(headers.get_secret_value())
        return headers

    @property
    def umask(self) -> int:
        """`atlas_umask` as a number."""
        return int(self.atlas_umask, 8)

    @property
    def kept_folder(self) -> Path:
        """The folder of the files that a server was handed for the collection."""
        return self.ingest_root / self.chroma_collection_name

    @property
    def collection_folder(self) -> Path:
        """The folder of the served collection."""
        return self.chroma_persist_directory / self.chroma_collection_name

    @property
    def phoenix_url(self) -> str:
        """Phoenix as a browser reaches it; empty without tracing."""
        return without_login(self.phoenix_public_url or self.phoenix_collector_endpoint).rstrip("/")

    @property
    def otlp_destination(self) -> Destination | None:
        """The server besides Phoenix that gets the traces."""
        return otlp_at(
            self.otel_exporter_otlp_endpoint,
            self.otel_exporter_otlp_traces_endpoint,
            read_headers(self.otel_exporter_otlp_headers.get_secret_value()),
        )

    @property
    def header_secrets(self) -> list[str]:
        """The values of the headers for traces and metrics, each as it is sent and without the word
        before a token."""
        own = (self.otel_exporter_otlp_headers, self.otel_exporter_otlp_metrics_headers)
        values = [value for each in own for value in read_headers(each.get_secret_value()).values()]
        return [part for value in values for part in (value, value.rpartition(" ")[2])]

    @property
    def metrics_destination(self) -> Destination | None:
        """The server that gets the metrics; Phoenix takes none."""
        own = self.otel_exporter_otlp_metrics_headers.get_secret_value()
        return otlp_at(
            self.otel_exporter_otlp_endpoint,
            self.otel_exporter_otlp_metrics_endpoint,
            read_headers(own or self.otel_exporter_otlp_headers.get_secret_value()),
            METRICS,
        )


class _EnvironmentTarget(Target, BaseSettings):
    """Target keys that the environment or `.env` sets, below what a target file says."""

    model_config = _SOURCES


def load_settings(**overrides: Any) -> Settings:
    """Settings of this process. Raises ConfigurationError naming the variable."""
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise _explain(error) from error


def environment_target() -> dict[str, Any]:
    """Target keys set in the environment or `.env`, by lower-case name."""
    try:
        return _EnvironmentTarget().model_dump(exclude_unset=True)
    except ValidationError as error:
        raise _explain(error) from error


def _explain(error: ValidationError) -> ConfigurationError:
    first = error.errors()[0]
    name = str(first["loc"][0])
    field = Settings.model_fields.get(name)
    secret = field is not None and field.annotation is SecretStr
    value = "..." if secret else repr(_plain(first.get("input")))
    return ConfigurationError(f"{name.upper()}={value} in the environment or .env: {first['msg']}.")


def _plain(value: object) -> object:
    if not isinstance(value, str):
        return value
    return ",".join(map(without_login, value.split(",")))  # a setting may hold several addresses
