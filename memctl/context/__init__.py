"""Packs for a prompt: layers, chat windows with their sessions, fences, token counts; the pages that a server offers."""

__all__ = ["chat", "chat_messages", "context", "fence", "pack"]
