"""Whether the language models that targets name can be used, asked for now and then."""

import threading
import time
from collections.abc import Mapping

from atlas_search.providers.chat import ChatModel, Health

SECONDS = 30.0  # monitors ask every few seconds; providers need not
PATIENCE_SECONDS = 0.6  # a monitor that waits longer than a second takes the server for dead
_SILENT = Health(ready=False, detail="It has not answered yet whether it can be used.")


class ProviderHealth:
    """`names` are the models wanted of each provider; one without any is asked for its default."""

    def __init__(self, models: Mapping[str, ChatModel], names: Mapping[str, frozenset[str]]):
        self._models = models
        self._names = names
        self._known: dict[str, tuple[float, Health]] = {}
        self._asking: set[str] = set()
        self._changed = threading.Condition()

    def __call__(self, patience: float = PATIENCE_SECONDS) -> dict[str, Health]:
        """The health of every provider, SECONDS old or newer; the extractive writer is always well.

        After `patience` seconds a provider that does not answer is said to be as it was before.
        """
        with self._changed:
            for name in self._models:
                self._begin(name)
            self._changed.wait_for(lambda: not self._asking, patience)
            found = {name: self._known.get(name, (0.0, _SILENT))[1] for name in self._models}
        return {"extractive": Health(ready=True), **found}

    def _begin(self, provider: str) -> None:
        """Ask it in a thread of its own, unless it is known or being asked."""
        asked_at, _ = self._known.get(provider, (float("-inf"), _SILENT))
        if provider in self._asking or time.monotonic() - asked_at < SECONDS:
            return
        self._asking.add(provider)
        threading.Thread(
            target=self._ask, args=(provider,), name=f"health-{provider}", daemon=True
        ).start()

    def _ask(self, provider: str) -> None:
        try:
            health = self._health(provider)
            with self._changed:
                self._known[provider] = time.monotonic(), health
        finally:
            with self._changed:
                self._asking.discard(provider)
                self._changed.notify_all()

    def _health(self, provider: str) -> Health:
        model = self._models[provider]
        wanted = sorted(self._names.get(provider, ())) or [model.default_model]
        states = [model.health(name) for name in wanted]
        # what keeps it from working goes before what is merely worth knowing
        return min(states, key=lambda state: (state.ready, not state.detail))
