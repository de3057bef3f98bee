"""The engine's view of Python: the calls of `pulumirpc.LanguageRuntime` that running programs and plugins takes.

Calls that generate, pack or link SDKs are answered as not implemented, which the engine knows how to take.
"""

# ruff: noqa: ARG002, N802 - names and arguments are those of the protocol

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import grpc  # type: ignore[import-untyped]
from google.protobuf import empty_pb2
from pulumi.runtime.proto import language_pb2 as language
from pulumi.runtime.proto import language_pb2_grpc, plugin_pb2

from sandbox.errors import SandboxError
from sandbox.host.children import Child, Children
from sandbox.host.environment import Options, PythonEnvironment

RUN_PROGRAM: Final = Path(__file__).with_name("run_program.py")
BAIL: Final = 32
CANCEL_GRACE: Final = 2.0
"""Seconds that a program has after the engine's cancellation to end by itself: its next call to the engine fails."""


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs programs, providers and policy packs written in Python, each with the Python that its project names."""

    def __init__(self, engine_address: str) -> None:
        self._engine = engine_address
        self._cancelled = asyncio.Event()
        self.children = Children()

    async def Handshake(self, request: Any, context: Any) -> Any:
        """The engine's address, when it did not come on the command line."""
        self._engine = request.engine_address or self._engine
        return language.LanguageHandshakeResponse()

    async def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """The version of the SDK that this host goes with."""
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi"))

    async def About(self, request: Any, context: Any) -> Any:
        """The program's Python."""
        about = await self._describe(request.info, context)
        return language.AboutResponse(executable=about["executable"], version=about["version"])

    async def GetProgramDependencies(self, request: Any, context: Any) -> Any:
        """The distributions in the program's environment: all, or those that no other one requires."""
        about = await self._describe(request.info, context)
        return language.GetProgramDependenciesResponse(
            dependencies=[
                language.DependencyInfo(name=entry["name"], version=entry["version"])
                for entry in about["distributions"]
                if request.transitiveDependencies or not entry["required"]
            ]
        )

    async def GetRequiredPackages(self, request: Any, context: Any) -> Any:
        """None, although the SDKs in the environment say which providers they need.

        A self-built engine cannot download any, and warns at every look-up of one that lies on PATH, used or not. Those
        that a program does use it finds when the program asks for them.
        """
        return language.GetRequiredPackagesResponse()

    async def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:
        """Nothing to ask."""
        return language.RuntimeOptionsResponse()

    async def Template(self, request: Any, context: Any) -> Any:
        """Nothing to add to a new project."""
        return language.TemplateResponse()

    async def InstallDependencies(self, request: Any, context: Any) -> AsyncIterator[Any]:
        """Says which environment is used, or fails with how to make it: what it holds is its owner's business."""
        environment = await self._environment_or_abort(request.info, context)
        text = f"Using the Python environment {environment.virtualenv or environment.python}\n"
        yield language.InstallDependenciesResponse(stdout=text.encode())

    async def Run(self, request: Any, context: Any) -> Any:
        """Run a program to its end; its output goes straight to the host's, which the engine reads line by line."""
        info = request.info
        try:
            environment = _environment(info)
            variables = os.environ | {
                "PULUMI_CONFIG": json.dumps(dict(request.config)),
                "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
            }
            settings = {
                "monitor": request.monitor_address,
                "engine": self._engine,
                "project": request.project,
                "stack": request.stack,
                "organization": request.organization or "organization",
                "parallel": request.parallel,
                "dry_run": request.dryRun,
                "root_directory": info.root_directory,
                "pwd": request.pwd,
            }
            target = os.path.normpath(Path(info.program_directory) / info.entry_point)
            arguments = [str(RUN_PROGRAM), json.dumps(settings), target, *request.args]
            folder = request.pwd or info.program_directory
            async with self.children.start(environment, arguments, variables, folder, piped=False) as child:
                code, cancelled = await _end_of(child, self._cancelled)
        except SandboxError as error:
            return language.RunResponse(error=str(error))
        if code == BAIL or (cancelled and code < 0):
            return language.RunResponse(bail=True)
        if code < 0:
            return language.RunResponse(error=f"Program was ended by {_signal_name(-code)}")
        return language.RunResponse(error=f"Program exited with non-zero exit code: {code}" if code else "")

    async def RunPlugin(self, request: Any, context: Any) -> AsyncIterator[Any]:
        """Run a provider or policy pack until it ends or the engine ends the call; its output comes as it prints."""
        environment = await self._environment_or_abort(request.info, context)
        folder = request.info.program_directory
        if request.kind == "analyzer":
            arguments = ["-m", "pulumi.policy", *request.args, folder]
        else:
            arguments = [os.path.normpath(Path(folder) / request.info.entry_point), *request.args]
        variables = dict(entry.split("=", 1) for entry in request.env if "=" in entry) or dict(os.environ)
        try:
            async with self.children.start(environment, arguments, variables, request.pwd, piped=True) as child:
                async with contextlib.aclosing(child.output()) as output:
                    async for stream, content in output:
                        yield _printed(stream, content)
                yield language.RunPluginResponse(exitcode=await child.wait())
        except SandboxError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))

    async def Cancel(self, request: Any, context: Any) -> Any:
        """Abort running programs. Plugins go on: the engine tells them itself, and ends their calls when it is done."""
        self._cancelled.set()
        self._cancelled = asyncio.Event()  # a later program is not meant
        return empty_pb2.Empty()

    async def _describe(self, info: Any, context: Any) -> dict[str, Any]:
        environment = await self._environment_or_abort(info, context)
        try:
            return await asyncio.to_thread(environment.describe)
        except SandboxError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise

    async def _environment_or_abort(self, info: Any, context: Any) -> PythonEnvironment:
        try:
            return _environment(info)
        except SandboxError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise


async def _end_of(child: Child, cancelled: asyncio.Event) -> tuple[int, bool]:
    """The exit code of a program, and whether the engine cancelled it."""
    ended, told = asyncio.create_task(child.wait()), asyncio.create_task(cancelled.wait())
    try:
        await asyncio.wait([ended, told], return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            await asyncio.wait([ended], timeout=CANCEL_GRACE)
            await child.stop()
        return await ended, cancelled.is_set()
    finally:
        ended.cancel()
        told.cancel()


def _environment(info: Any) -> PythonEnvironment:
    return PythonEnvironment.find(Options.read(info.options, Path(info.root_directory)))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _printed(stream: str, content: bytes) -> Any:
    if stream == "stdout":
        return language.RunPluginResponse(stdout=content)
    return language.RunPluginResponse(stderr=content)
