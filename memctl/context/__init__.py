"""Packs for a prompt: layers, chat windows, fences, token counts."""

__all__ = ["chat", "chat_messages", "context", "counters", "fence", "pack", "public_pages", "session"]
