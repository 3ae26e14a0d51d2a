"""From settings to a tracer."""

from atlas_search.core.settings import Settings
from atlas_search.core.tracing.tracer import Tracer


def open_tracer(settings: Settings) -> Tracer:
    """What sends spans to where the settings say, or nowhere if they name no endpoint."""
    return Tracer(
        settings.phoenix_collector_endpoint,
        settings.phoenix_project_name,
        content=settings.trace_content,
    )
