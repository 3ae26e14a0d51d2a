"""The `atlas` command."""
