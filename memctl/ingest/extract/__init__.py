"""Which sentences of a conversation are worth keeping."""
