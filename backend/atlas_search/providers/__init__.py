"""Models: embedding and chat, on this machine or behind HTTP."""
