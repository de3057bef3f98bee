"""Runs one Pulumi program. The language host starts it with the program's own Python, which holds nothing of ours.

`run_program.py SETTINGS PROGRAM ARGUMENTS…`, where SETTINGS is a JSON object with the fields of the SDK's `Settings`
and `pwd`; config comes in the variables that the SDK itself reads. Exit codes: 0 when all went well; 32 when it did not
and the user has been told why; any other is the program's own.
"""

import os
import sys
from pathlib import Path

# The folder of this script comes first on the path, where its modules would hide others of the same name.
_HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != _HERE]

import asyncio  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import runpy  # noqa: E402
import traceback  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from concurrent.futures import ThreadPoolExecutor  # noqa: E402
from typing import Any  # noqa: E402

BAIL = 32
"""Tells the host that the user has seen the reason already."""
_THREADS_PER_OPERATION = 4


def main(arguments: list[str]) -> int:
    """Run the program; returns the exit code."""
    settings, target, rest = json.loads(arguments[0]), arguments[1], arguments[2:]
    if settings["pwd"]:
        os.chdir(settings["pwd"])
    try:
        import pulumi
        import pulumi.runtime
    except ImportError as error:
        sys.stderr.write(f"The Pulumi SDK cannot be imported by {sys.executable} ({error}). Is it installed there?\n")
        return 1
    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env())
    pulumi.runtime.configure(pulumi.runtime.Settings(**{key: settings[key] for key in settings if key != "pwd"}))

    program = _entry(target)
    if program is None:
        pulumi.log.error(f"there is no program to run: {Path(target).absolute()} has no __main__.py")
        return BAIL
    sys.argv = [target, *rest]
    sys.path.insert(0, str(program.parent))

    # A program that fails leaves futures that nobody looks at any more; asyncio's complaints would bury the reason.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    executor = ThreadPoolExecutor(max_workers=max(1, settings["parallel"]) * _THREADS_PER_OPERATION)
    loop.set_default_executor(executor)
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(lambda: _run(program)))
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return BAIL
    except KeyboardInterrupt:
        return BAIL
    except Exception as error:  # noqa: BLE001 - whatever the program raises is shown
        pulumi.log.error(f"Program failed with an unhandled exception:\n{users_traceback(error)}")
        return BAIL
    finally:
        executor.shutdown(wait=True)
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _run(program: Path) -> None:
    runpy.run_path(str(program), run_name="__main__")


def _entry(target: str) -> "Path | None":
    path = Path(target).absolute()
    if path.is_dir():
        path = path / "__main__.py"
    return path if path.is_file() else None


def users_traceback(error: BaseException) -> str:
    """The traceback without the frames that lead from here to the user's code, for the error and all behind it."""
    shown = traceback.TracebackException.from_exception(error)
    for part in _chain(shown):
        frames = list(part.stack)
        first = next((index for index, frame in enumerate(frames) if not _machinery(frame.filename)), None)
        if first is None:  # the SDK failed by itself, or the user's file could not even be compiled
            first = max((index + 1 for index, frame in enumerate(frames) if _ours(frame.filename)), default=0)
        part.stack = traceback.StackSummary.from_list(frames[first:])
    return "".join(shown.format())


def _chain(shown: Any) -> "Iterator[traceback.TracebackException]":
    waiting, seen = [shown], set()
    while waiting:
        part = waiting.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        waiting += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or [])]


def _ours(filename: str) -> bool:
    return filename in (__file__, "<frozen runpy>", runpy.__file__)


def _machinery(filename: str) -> bool:
    import pulumi

    folders = [Path(module.__file__ or "").parent for module in (pulumi, asyncio)]
    return _ours(filename) or any(Path(filename).is_relative_to(folder) for folder in folders)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
