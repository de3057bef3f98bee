"""`python -m sandbox.engine build|status|clean`."""

import shutil
import sys
from typing import Annotated

import typer

from sandbox.engine import build, build_engine, build_tools, crds, find_engine, links
from sandbox.engine.cache import LOCK, folder_size, written_plainly
from sandbox.engine.lock import exclusive
from sandbox.engine.versions import FAMILIES, TOOLS
from sandbox.errors import SandboxError

app = typer.Typer(
    help="Finds or builds Pulumi's engine and the sandbox's programs.", no_args_is_help=True, add_completion=False
)


@app.command("build")
def build_command(
    *,
    engine: Annotated[bool, typer.Option("--engine", help="only Pulumi's engine")] = False,
    tools: Annotated[bool, typer.Option("--tools", help="only the control plane's programs")] = False,
) -> None:
    """Build what is missing: everything, or the one part that is named."""
    if engine or not tools:
        found = build_engine()
        print(f"engine: {found.pulumi}{'' if found.built else ' (your own, used as it is)'}")
    if tools or not engine:
        print(f"tools:  {build_tools()}")


@app.command()
def status() -> None:
    """What is there, at which version, and where."""
    store = build.default_store()
    found = find_engine()
    own = f" (your own: {found.pulumi})" if found and not found.built else ""
    print(f"cache: {store.root}")
    for tool in TOOLS:
        about = store.about(store.folder(tool, build.recipe(tool)))
        state = (
            f"built with Go {about['go']}"
            if about
            else f"not needed{own}"
            if own and tool.group == "engine"
            else "missing"
        )
        print(f"  {tool.name:28} {tool.shown_version:10} {state:24} {tool.purpose}")
    for family in FAMILIES:
        state = "fetched" if crds.fetched(store, family) else "missing"
        print(f"  {'definitions ' + family.name:28.28} {family.version:10} {state:24} {family.purpose}")


@app.command()
def clean(*, everything: Annotated[bool, typer.Option("--all", help="also what this checkout uses")] = False) -> None:
    """Remove from the cache what this checkout does not use (other checkouts may, if their versions differ)."""
    store = build.default_store()
    with written_plainly(store.root), exclusive(store.root / LOCK, print):
        store.sweep()
        current = (
            [] if everything else [*links.current_folders(store), *(store.family_folder(family) for family in FAMILIES)]
        )
        freed = 0
        for folder in store.outdated(current):
            freed += folder_size(folder)
            shutil.rmtree(folder)
    if everything:
        shutil.rmtree(links.CHECKOUT / ".lantau" / "bin", ignore_errors=True)
        shutil.rmtree(links.home_folder() / "plugins", ignore_errors=True)
    print(f"freed {freed / 1e6:.0f} MB in {store.root}")
    print(
        "Go keeps its own caches: `go clean -cache -modcache` frees them, and makes the next build start from nothing"
    )


def main() -> None:
    """Run the command; errors meant for the user end with code 1 and no traceback."""
    try:
        app()
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
