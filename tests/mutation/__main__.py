"""`python -m tests.mutation`: every rule is made a little worse, and a test must notice."""

from tests.mutation.command import main

raise SystemExit(main())
