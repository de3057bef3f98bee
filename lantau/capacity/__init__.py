"""What fits on a card and how fast it runs: pure functions of a model, a card, an engine's version and its flags."""
