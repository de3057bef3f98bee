"""`python -m policies.check`: for a checkout of the pack alone; `lantau policy-check` is the command."""

import argparse
import sys

from policies.check import run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="policies.check")
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--config")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sys.exit(run(given.paths, given.config, as_json=given.json))
