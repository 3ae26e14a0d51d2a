"""Many streams, half of them left early: nothing is left behind. The benchmark does it longer."""

from dataclasses import replace

from atlas_search.services import Services
from tests.answering import answered_by
from tests.load import put_under_load

STREAMS = 24
SECONDS = 3.0


def test_nothing_is_left_of_streams_that_end_or_are_left(services: Services) -> None:
    settings = services.settings.model_copy(update={"resume_seconds": 0.2, "atlas_threads": 64})
    served = replace(services, settings=settings)
    with answered_by("openai", served, kept=False, patience=60.0) as (own, model):
        patient = {
            name: t.model_copy(update={"llm_seconds": 60}) for name, t in own.targets.items()
        }
        own = replace(own, targets=patient)
        load = put_under_load(own, model, SECONDS, STREAMS)
    assert load.complete > 0
    assert load.left > 0
    assert (load.refused, load.other) == (0, [])
    assert len(load.threads_after) <= len(load.threads_before), load
    assert (load.calls_after, load.spans_after, load.answers_after) == (0, 0, 0)
