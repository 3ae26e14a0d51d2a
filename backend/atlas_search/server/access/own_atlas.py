"""The collection as each caller may see it."""

from atlas_search.atlas import Atlas
from atlas_search.core.errors import NotAllowed
from atlas_search.server.access.caller import present_caller
from atlas_search.server.serving import Serve


def serve_caller(serve: Serve) -> Serve:
    """Gives the present caller's part of what `serve` gives; NotAllowed if it is none."""

    def own() -> Atlas:
        atlas = serve()
        corpora = present_caller().sees(atlas.services.settings.chroma_collection_name)
        if corpora is None:
            return atlas
        part = atlas.permitted(corpora) if corpora else None
        if part is None or not part.corpora:
            raise NotAllowed("This key sees no corpus of the collection that is served.")
        return part

    return own
