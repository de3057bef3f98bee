"""Keeps the logs of a sandbox bounded: run as a script, with a folder and a number of bytes, until it is ended.

It stands alone (no import of ours) so that it costs few megabytes. A process keeps its log open for appending, so the
file is copied to NAME.1 and then cut to nothing: the process goes on writing at the new end.
"""

import shutil
import sys
import time
from pathlib import Path

PERIOD = 20.0


def rotate(folder: Path, limit: int) -> list[Path]:
    """Copy away and empty every log in `folder` that is larger than `limit` bytes; returns those logs."""
    large = [log for log in sorted(folder.glob("*.log")) if log.stat().st_size > limit]
    for log in large:
        shutil.copyfile(log, log.with_suffix(".log.1"))
        with log.open("r+b") as content:
            content.truncate(0)
    return large


def main(folder: Path, limit: int) -> None:
    """Rotate every PERIOD seconds, as long as the folder exists."""
    while folder.is_dir():
        try:
            rotate(folder, limit)
        except OSError as error:
            print(f"keeper: {error}", flush=True)
        time.sleep(PERIOD)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
