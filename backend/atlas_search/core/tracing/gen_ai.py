"""OpenTelemetry's names for generative models, which stand beside those of OpenInference.

The conventions are still in development and their Python constants are not public, so the names
are written out, as of SCHEMA. Of what OpenInference has a place for (messages, documents) nothing
is said twice: a span would hold every text two times.

Tokens are on model calls only. Phoenix reads `gen_ai.usage` of any span as tokens of that span and
adds up a trace, so on the root they would count twice.
"""

from collections.abc import Mapping
from typing import Literal

SCHEMA = "https://opentelemetry.io/schemas/1.44.0"

CONVERSATION = "gen_ai.conversation.id"
DATA_SOURCE = "gen_ai.data_source.id"
DIMENSION = "gen_ai.embeddings.dimension.count"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
MAX_TOKENS = "gen_ai.request.max_tokens"
OPERATION = "gen_ai.operation.name"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
PROMPT = "gen_ai.prompt.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
STREAM = "gen_ai.request.stream"
TEMPERATURE = "gen_ai.request.temperature"
WORKFLOW = "gen_ai.workflow.name"

Operation = Literal["chat", "embeddings", "retrieval", "invoke_workflow", "extract"]
"""`extract` is our own: quotes are chosen, and no model is asked."""

_PROVIDERS: Mapping[str, str] = {"mistral": "mistral_ai"}


def provider(name: str) -> str:
    """A provider's name as the conventions have it; ours where they have none."""
    return _PROVIDERS.get(name, name)
