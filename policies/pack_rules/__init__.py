"""Rules about the pack itself: its settings and the exceptions granted to it."""
