"""Who speaks in a transcript that says so in its text alone.

openings   how a speech begins: `Mr SMITH:`, `The PRESIDENT pro tempore.`, `Q.`
labels     what stands there: a person, an office, perhaps a name
people     one name for each, with his office
letters    what is left where a document is letters, or holds some: salutations are no speakers
transcript whether a document is one, and its speeches
"""

from atlas_search.readers.speeches.openings import begins_speech
from atlas_search.readers.speeches.transcript import with_speeches

__all__ = ["begins_speech", "with_speeches"]
