"""From settings to a tracer."""

from atlas_search.core.settings import Settings
from atlas_search.core.tracing.redaction import open_redactions
from atlas_search.core.tracing.tracer import Tracer


def open_tracer(settings: Settings) -> Tracer:
    """What sends spans to where the settings say, or nowhere if they name no endpoint.

    Raises ConfigurationError for a redaction that is not known.
    """
    return Tracer(
        settings.phoenix_collector_endpoint,
        settings.phoenix_project_name,
        content=settings.trace_content,
        key=settings.phoenix_api_key.get_secret_value().strip(),
        also=settings.otlp_destination,
        sampling=settings.trace_sampling,
        redactions=open_redactions(settings),
        delay=settings.otel_bsp_schedule_delay / 1000,
    )
