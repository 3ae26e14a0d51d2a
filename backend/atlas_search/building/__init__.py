"""From drafts of documents to a live version of a collection."""
