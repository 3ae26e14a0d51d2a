"""The shapes on the wire, and their translation from and to the nouns inside."""
