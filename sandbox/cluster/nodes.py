"""Fake nodes: what a kubelet, Node Feature Discovery and NVIDIA's feature discovery would put on each of them.

Nothing of Lantau's own (pool and role labels, taints) is put here: that is the program's work.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

from sandbox.errors import SandboxError

SANDBOX_LABEL: Final = "app.kubernetes.io/managed-by"
SANDBOX_VALUE: Final = "lantau-sandbox"
FAKE: Final = "kwok.x-k8s.io/node"
STORAGE_CLASS: Final = "local-nvme"
VOLUME_SIZE: Final = "1Ti"
GPU: Final = "nvidia.com/gpu"


@dataclass(frozen=True)
class Card:
    """A GPU as NVIDIA's feature discovery names it: `memory` in MiB, `compute` as (major, minor)."""

    product: str
    memory: int
    family: str
    compute: tuple[int, int]
    mig_capable: bool


A100 = Card("NVIDIA-A100-SXM4-80GB", 81920, "ampere", (8, 0), mig_capable=True)
RTX_4090 = Card("NVIDIA-GeForce-RTX-4090", 24564, "ada-lovelace", (8, 9), mig_capable=False)


@dataclass(frozen=True)
class NodeSpec:
    """A fake node: `cpu` in cores, `memory` as a Kubernetes quantity, `volumes` of 1 Ti each in class local-nvme."""

    name: str
    cpu: int = 32
    memory: str = "256Gi"
    card: Card | None = None
    gpus: int = 0
    volumes: int = 4
    machine: str = "bare-metal"

    def __post_init__(self) -> None:
        """Refuse GPUs of no kind, and a card of which there is none."""
        if (self.gpus > 0) != (self.card is not None):
            raise SandboxError(f"node {self.name}: gpus is {self.gpus} and card is {self.card}: give both or neither")

    def to_json(self) -> dict[str, Any]:
        """Everything as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "NodeSpec":
        """What `to_json` gave; KeyError or TypeError for anything else."""
        card = value["card"]
        known = Card(**{**card, "compute": tuple(card["compute"])}) if card else None
        return cls(**{**value, "card": known})

    def labels(self) -> dict[str, str]:
        """The labels that are on such a node before Lantau comes."""
        labels = {
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            SANDBOX_LABEL: SANDBOX_VALUE,
        }
        return labels | (_gpu_labels(self.card, self.gpus, self.machine) if self.card else {})

    def body(self, address: str) -> dict[str, Any]:
        """The Node object, to be applied; `address` is the node's own in the cluster."""
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": self.labels(), "annotations": {FAKE: "fake"}},
            "status": {
                "capacity": self._resources(),
                "allocatable": self._resources(),
                "addresses": [
                    {"type": "InternalIP", "address": address},
                    {"type": "Hostname", "address": self.name},
                ],
            },
        }

    def volume_bodies(self) -> list[dict[str, Any]]:
        """The PersistentVolumes on its disks: no driver runs here, so they are made beforehand."""
        return [_volume(self.name, number) for number in range(1, self.volumes + 1)]

    def _resources(self) -> dict[str, str]:
        gpus = {GPU: str(self.gpus)} if self.gpus else {}
        return {"cpu": str(self.cpu), "memory": self.memory, "ephemeral-storage": "800Gi", "pods": "250", **gpus}


DEFAULT_NODES: Final = (
    NodeSpec("biz-1", machine="EPYC-4585PX"),
    NodeSpec("biz-2", machine="EPYC-4585PX"),
    NodeSpec("data-1", volumes=6, machine="EPYC-4585PX"),
    NodeSpec("data-2", volumes=6, machine="EPYC-4585PX"),
    NodeSpec("gpu-a100-1", 128, "1Ti", A100, 8, 2, "HGX-A100"),
    NodeSpec("gpu-a100-2", 128, "1Ti", A100, 8, 2, "HGX-A100"),
    NodeSpec("gpu-4090-1", 64, "512Gi", RTX_4090, 8, 2, "8x-RTX-4090"),
)

STORAGE_CLASS_BODY: Final = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": STORAGE_CLASS, "labels": {SANDBOX_LABEL: SANDBOX_VALUE}},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
    "reclaimPolicy": "Retain",
}


def _gpu_labels(card: Card, count: int, machine: str) -> dict[str, str]:
    """As GPU operator v26.7 with feature discovery 0.20, driver 595.91.07 and CUDA 13 would set them."""
    major, minor = card.compute
    labels = {
        "gpu.present": "true",
        "gpu.product": card.product,
        "gpu.memory": str(card.memory),
        "gpu.count": str(count),
        "gpu.replicas": "1",
        "gpu.family": card.family,
        "gpu.machine": machine,
        "gpu.mode": "compute",
        "gpu.sharing-strategy": "none",
        "gpu.compute.major": str(major),
        "gpu.compute.minor": str(minor),
        "mig.capable": "true" if card.mig_capable else "false",
        "mig.strategy": "single",
        "mps.capable": "false",
        "vgpu.present": "false",
        "cuda.driver.major": "595",
        "cuda.driver.minor": "91",
        "cuda.driver.rev": "07",
        "cuda.driver-version.full": "595.91.07",
        "cuda.driver-version.major": "595",
        "cuda.driver-version.minor": "91",
        "cuda.driver-version.revision": "07",
        "cuda.runtime.major": "13",
        "cuda.runtime.minor": "0",
        "cuda.runtime-version.full": "13.0",
        "cuda.runtime-version.major": "13",
        "cuda.runtime-version.minor": "0",
        "gpu.workload.config": "container",
        "gpu-driver-upgrade-state": "upgrade-done",
    }
    if card.mig_capable:
        labels |= {"mig.config": "all-disabled", "mig.config.state": "success"}
    for part in ("container-toolkit", "dcgm", "dcgm-exporter", "device-plugin", "driver", "gpu-feature-discovery"):
        labels[f"gpu.deploy.{part}"] = "true"
    return {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        **{f"nvidia.com/{key}": value for key, value in labels.items()},
    }


def _volume(node: str, number: int) -> dict[str, Any]:
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{node}-nvme-{number}", "labels": {SANDBOX_LABEL: SANDBOX_VALUE}},
        "spec": {
            "capacity": {"storage": VOLUME_SIZE},
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": "Filesystem",
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": STORAGE_CLASS,
            "local": {"path": f"/var/lib/lantau/nvme/{number}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }
