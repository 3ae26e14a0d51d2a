"""What a search looked through: its scope, as every result and every answer says it."""
