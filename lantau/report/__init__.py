"""What the estimates look like: memory of a card in the terminal and as a picture."""
