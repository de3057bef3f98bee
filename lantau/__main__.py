"""`python -m lantau`."""

from lantau.cli import main

main()
