"""What a sandbox consists of at this moment."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ProcessStatus:
    """One process: `rss` in bytes, `since` in seconds of the epoch; no pid when it does not run."""

    name: str
    pid: int | None
    port: int | None
    rss: int
    since: float | None
    log: Path


@dataclass(frozen=True)
class NodeStatus:
    """One node as the API server has it; `gpus` are those that it offers to pods."""

    name: str
    ready: bool
    pods: int
    gpus: int
    product: str


@dataclass(frozen=True)
class Status:
    """One sandbox; nodes, versions and families are empty when its API server does not answer."""

    name: str
    folder: Path
    kubeconfig: Path
    context: str
    processes: tuple[ProcessStatus, ...]
    nodes: tuple[NodeStatus, ...]
    versions: dict[str, str]
    families: tuple[str, ...]

    @property
    def running(self) -> bool:
        """Whether every process is alive."""
        return all(process.pid is not None for process in self.processes)

    @property
    def rss(self) -> int:
        """Resident memory of all processes together, in bytes."""
        return sum(process.rss for process in self.processes)
