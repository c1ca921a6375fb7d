"""Packs for a prompt: layers, chat windows, fences, token counts."""
