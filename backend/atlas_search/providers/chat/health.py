"""Whether the language models that targets name can be used, asked for now and then."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from cachetools import TTLCache

from atlas_search.providers.chat import ChatModel, Health

SECONDS = 30.0  # monitors ask every few seconds; providers need not


class ProviderHealth:
    """`names` are the models wanted of each provider; one without any is asked for its default."""

    def __init__(self, models: Mapping[str, ChatModel], names: Mapping[str, frozenset[str]]):
        self._models = models
        self._names = names
        self._known: TTLCache[str, Health] = TTLCache(len(models) + 1, SECONDS)
        self._lock = threading.Lock()

    def __call__(self) -> dict[str, Health]:
        """The health of every provider, at most SECONDS old; the extractive writer is always well.

        Takes some seconds if a provider does not answer.
        """
        with self._lock:
            unknown = [name for name in self._models if name not in self._known]
            if unknown:
                with ThreadPoolExecutor(len(unknown)) as executor:
                    self._known.update(zip(unknown, executor.map(self._ask, unknown), strict=True))
            found = {name: self._known.get(name) for name in self._models}
        # one that expired between the two is asked again
        asked = {name: health or self._ask(name) for name, health in found.items()}
        return {"extractive": Health(ready=True), **asked}

    def _ask(self, provider: str) -> Health:
        model = self._models[provider]
        wanted = sorted(self._names.get(provider, ())) or [model.default_model]
        states = [model.health(name) for name in wanted]
        # what keeps it from working goes before what is merely worth knowing
        return min(states, key=lambda state: (state.ready, not state.detail))
