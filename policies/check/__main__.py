"""`python -m policies.check`: the same as `lantau policy-check`."""

from policies.check.command import main

main()
