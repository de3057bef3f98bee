"""A sandbox: brought up, looked at, taken down; each step may be cut short at any moment and done again."""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sandbox.cluster import addons, crds, services
from sandbox.cluster.api import Api
from sandbox.cluster.health import Probe
from sandbox.cluster.inventory import free_released_volumes, node_statuses, put_nodes
from sandbox.cluster.layout import Layout, seed_home, state_home
from sandbox.cluster.lock import exclusive
from sandbox.cluster.nodes import DEFAULT_NODES, NodeSpec
from sandbox.cluster.ports import DEFAULT_NAME, Ports, is_free, taken_message
from sandbox.cluster.process import ProcessTable, Spec
from sandbox.cluster.proxy import without_proxy
from sandbox.cluster.seed import harvest, plant, seed_file
from sandbox.cluster.services import Services
from sandbox.cluster.status import ProcessStatus, Status
from sandbox.cluster.text import write_private
from sandbox.engine import build_tools, crd_dir
from sandbox.engine.versions import TOOLS
from sandbox.errors import SandboxError

Progress = Callable[[str], None]
FOREIGN_VARIABLES = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL_SECRETS_MANAGER",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_ENDPOINT_URL_IAM",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "PULUMI_CONFIG_PASSPHRASE",
)
"""What must not be in the environment beside `Sandbox.env()`: each would win over it."""
# Those that need the API server end first, so that none fills its log with complaints about the others.
_STOP_ORDER = (
    (services.EXTERNAL_SECRETS, services.KWOK, services.SCHEDULER, services.CONTROLLERS),
    (services.API,),
    (services.ETCD, services.AWS, services.KEEPER),
)
# An API server waits a minute for the watches of those who stay; each of its writes is in etcd already, so it need not.
REPLACE_GRACE = 2.0
# Each step takes a second or two; a machine that builds beside it has been seen to need thirty times as long.
PATIENCE = 180.0


def _silent(_: str) -> None:
    return


class Sandbox:
    """The sandbox called `name`.

    `tools` is the folder of the programs (default: what `sandbox.engine` finds or builds); `crd_dir` gives the folder
    of a family of custom resource definitions; `home` is where sandboxes keep their state.
    Every method raises SandboxError, whose message is meant for the user.
    """

    def __init__(
        self,
        name: str = DEFAULT_NAME,
        *,
        tools: Path | None = None,
        crd_dir: Callable[[str], Path] = crd_dir,
        home: Path | None = None,
    ) -> None:
        self._layout = Layout(home or state_home(), name)
        self._table = ProcessTable(self._layout.folder)
        self._tools = tools
        self._crd_dir = crd_dir

    @property
    def name(self) -> str:
        """The name of the sandbox."""
        return self._layout.name

    @property
    def folder(self) -> Path:
        """Everything that the sandbox keeps."""
        return self._layout.folder

    @property
    def context(self) -> str:
        """The name of the context in its kubeconfig."""
        return self._layout.context

    @property
    def audit_log(self) -> Path:
        """The API server's audit log, JSON lines."""
        return self._layout.audit_log

    def up(
        self,
        nodes: Sequence[NodeSpec] | None = None,
        *,
        audit_policy: Path | str | None = None,
        families: Sequence[str] = crds.DEFAULT_FAMILIES,
        base_port: int | None = None,
        progress: Progress = _silent,
    ) -> None:
        """Bring it up, or bring it to what is asked for: what already runs from the same inputs is left running.

        `nodes` default to those of the last `up`, at first to DEFAULT_NODES; fake nodes not among them are deleted.
        `audit_policy` is a file or the text of one, by default Lantau's own. `base_port` moves the block of ports.
        """
        if sys.platform != "linux":
            raise SandboxError(
                "the sandbox needs Linux (processes are told apart by /proc): run it there or in a container"
            )
        tools, folders = self.obtain(families)
        definitions = {family: crds.read(folder) for family, folder in folders.items()}
        digests = {family: crds.digest(found) for family, found in definitions.items()}
        seed = seed_file(seed_home(), digests, tools / services.API)
        with exclusive(self._layout.lock) as lock:
            self._layout.prepare()
            ports = self._layout.ports(base_port)
            made = Services(self._layout, ports, tools)
            policy = self._write_audit_policy(audit_policy)
            self._layout.secret("passphrase")
            self._write_credentials()
            made.admin_kubeconfig(self._layout.kubeconfig, self._layout.context)
            self._start_control_plane(made, policy, seed, lock, progress)
            api = self._api(made)
            try:
                self._furnish(api, made, definitions, self._remember_nodes(nodes), lock, progress)
                if definitions and not seed.exists() and crds.installed(api) == digests:
                    harvest(made.store(), seed)
            except SandboxError:
                # A refusal of the API server says little when the reason is that etcd is gone.
                for name in (services.ETCD, services.API):
                    self._table.check(name)
                raise
            finally:
                api.close()

    def obtain(self, families: Sequence[str] = crds.DEFAULT_FAMILIES) -> tuple[Path, dict[str, Path]]:
        """The folders of the programs and of the definitions; what is missing is built first, which takes its time."""
        return self._programs(), {family: self._crd_dir(family) for family in families}

    def down(self) -> list[str]:
        """End every process of this sandbox and keep its data; returns the names of those that ran."""
        with exclusive(self._layout.lock):
            return self._stop_all()

    def delete(self) -> None:
        """End every process of this sandbox and remove all of its data."""
        with exclusive(self._layout.lock):
            self._stop_all()
            self._layout.delete()

    def status(self) -> Status:
        """What runs and what is in the cluster."""
        ports = self._layout.ports() if self._layout.exists else None
        processes = tuple(self._process_status(name, ports) for name in self._process_names())
        nodes, versions, families = self._look() if ports and self._table.find(services.API) else ((), {}, ())
        layout = self._layout
        return Status(
            layout.name, layout.folder, layout.kubeconfig, layout.context, processes, nodes, versions, families
        )

    def env(self) -> dict[str, str]:
        """The environment in which `pulumi` and `kubectl` work on this sandbox; AWS keys are throwaway values."""
        ports = self._ports()
        credentials = self._write_credentials()
        return {
            **without_proxy(os.environ),
            "KUBECONFIG": str(self._layout.kubeconfig),
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports.aws}",
            "AWS_REGION": services.REGION,
            "AWS_DEFAULT_REGION": services.REGION,
            "AWS_ACCESS_KEY_ID": credentials[0],
            "AWS_SECRET_ACCESS_KEY": credentials[1],
            # Nothing of the user's own account is read: profiles and endpoints of it would lead away from the sandbox.
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            # Without the sidecar files: an engine that is killed while it writes one cannot read its state again.
            "PULUMI_BACKEND_URL": f"file://{self._layout.folder / 'pulumi'}?metadata=skip",
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(self._layout.folder / "passphrase"),
        }

    def kubeconfig(self, context: str | None = None) -> Path:
        """The administrator's kubeconfig; with `context` another file whose one context has that name."""
        made = self._services()
        if context is None or context == self._layout.context:
            return self._layout.kubeconfig
        path = self._layout.folder / "kubeconfigs" / hashlib.sha256(context.encode()).hexdigest()[:16]
        made.admin_kubeconfig(path, context)
        return path

    def user_kubeconfig(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig with which the API server sees this user in these groups."""
        identity = json.dumps([user, *groups])
        path = self._layout.folder / "users" / hashlib.sha256(identity.encode()).hexdigest()[:16]
        self._services().user_kubeconfig(path, user, tuple(groups))
        return path

    def api(self) -> Api:
        """A client with the administrator's rights; the caller closes it."""
        return self._api(self._services())

    def free_volumes(self) -> list[str]:
        """Make local volumes usable again whose claim was deleted; returns their names."""
        api = self.api()
        try:
            return free_released_volumes(api)
        finally:
            api.close()

    def _start_control_plane(self, made: Services, policy: Path, seed: Path, lock: int, progress: Progress) -> None:
        progress("starting etcd, the API server and the stand-in for AWS")
        fresh = not (self._layout.folder / "etcd").exists()
        etcd = made.etcd()
        self._ensure(made.keeper(), lock)
        self._ensure(made.aws(), lock)
        self._ensure(etcd, lock)
        self._await(services.ETCD, made.etcd_ready(), PATIENCE)
        if fresh:
            plant(made.store(), seed)
        self._ensure(made.api_server(policy), lock)
        api = self._api(made)
        try:
            self._await(services.API, api.ready, PATIENCE)
        finally:
            api.close()

    def _furnish(
        self,
        api: Api,
        made: Services,
        families: Mapping[str, Sequence[crds.Definition]],
        nodes: Sequence[NodeSpec],
        lock: int,
        progress: Progress,
    ) -> None:
        progress("starting the controllers, the scheduler and the fake nodes")
        for body in addons.rights():
            api.apply(body)
        for spec in (made.controller_manager(), made.scheduler(), made.kwok()):
            self._ensure(spec, lock)
        with ThreadPoolExecutor(max_workers=2) as pool:
            definitions = pool.submit(crds.install, api, families, progress)
            for body in addons.objects():
                api.apply(body)
            put_nodes(api, nodes)
            definitions.result()
        if "gateway-api" in crds.installed(api):
            api.apply(addons.GATEWAY_CLASS)
        if "external-secrets" in crds.installed(api):
            self._ensure(made.external_secrets(), lock)
        free_released_volumes(api)
        progress("waiting until everything is ready")
        for name, probe in made.probes().items():
            if self._table.pid_file(name).exists():
                self._await(name, probe, PATIENCE)
        # No pod can be made in a namespace before the controllers have put its default account there.
        account = f"/api/v1/namespaces/{addons.NAMESPACES[-1]}/serviceaccounts/default"
        self._await(services.CONTROLLERS, lambda: api.get(account) is not None, PATIENCE)
        self._await(services.KWOK, lambda: self._all_ready(api, nodes), PATIENCE)
        self._layout.remember_processes(self._table.names())

    def _all_ready(self, api: Api, nodes: Sequence[NodeSpec]) -> bool:
        ready = {node.name for node in node_statuses(api) if node.ready}
        return ready >= {node.name for node in nodes}

    def _ensure(self, spec: Spec, lock: int) -> None:
        """Start the process unless it runs from these very inputs; one from older inputs is replaced."""
        running = self._table.find(spec.name)
        if running is not None:
            if running.fingerprint == spec.fingerprint() and not running.ending:
                return
            self._table.stop([spec.name], REPLACE_GRACE)
        for port, purpose in spec.ports.items():
            if not is_free(port):
                raise SandboxError(taken_message(port, purpose, self.name))
        self._table.start(spec, lock)

    def _await(self, name: str, probe: Probe, timeout: float) -> None:
        try:
            self._table.wait(name, probe, timeout)
        except SandboxError as error:
            hint = f"\nif its data is damaged, start afresh: python -m sandbox down --delete --name {self.name}"
            raise SandboxError(f"{error}{hint if name in (services.ETCD, services.AWS) else ''}") from error

    def _stop_all(self) -> list[str]:
        stopped = [name for names in _STOP_ORDER for name in self._table.stop(names)]
        # A pid file of an older version's process may bear a name that is not in the order.
        return stopped + self._table.stop(self._table.names())

    def _process_names(self) -> list[str]:
        known = [name for names in reversed(_STOP_ORDER) for name in names]
        expected = {*self._layout.processes, *self._table.names()}
        return [name for name in known if name in expected] or known

    def _process_status(self, name: str, ports: Ports | None) -> ProcessStatus:
        running = self._table.find(name)
        port = services.port_of(name, ports) if ports else None
        log = self._table.log(name)
        if running is None:
            return ProcessStatus(name, None, port, 0, None, log)
        return ProcessStatus(name, running.pid, port, running.rss, running.since, log)

    def _look(self) -> tuple[tuple[Any, ...], dict[str, str], tuple[str, ...]]:
        api = self.api()
        try:
            if not api.ready():
                return (), {}, ()
            version = str((api.get("/version") or {}).get("gitVersion", ""))
            others = () if self._tools else (services.ETCD, services.KWOK, services.EXTERNAL_SECRETS)
            versions = {"kubernetes": version} | {
                tool.name: tool.shown_version for tool in TOOLS if tool.name in others
            }
            return tuple(node_statuses(api)), versions, tuple(sorted(crds.installed(api)))
        finally:
            api.close()

    def _ports(self) -> Ports:
        if not self._layout.exists:
            raise SandboxError(
                f"there is no sandbox {self.name!r} in {self._layout.home}; "
                f"make it with: python -m sandbox up --name {self.name}"
            )
        return self._layout.ports()

    def _services(self) -> Services:
        return Services(self._layout, self._ports(), self._tools or Path())

    def _api(self, made: Services) -> Api:
        return Api(made.server, made.authority_file, *made.admin)

    def _write_audit_policy(self, policy: Path | str | None) -> Path:
        if policy is None:
            from lantau.audit import render_audit_policy

            text = json.dumps(render_audit_policy(), indent=1)
        elif isinstance(policy, Path):
            try:
                text = policy.read_text()
            except OSError as error:
                raise SandboxError(f"cannot read the audit policy {policy}: {error.strerror}") from error
        else:
            text = policy
        path = self._layout.config / "audit-policy.yaml"
        write_private(path, text)
        return path

    def _write_credentials(self) -> tuple[str, str]:
        # No real key begins like this, so that a leak is seen to be harmless.
        identifier = "SANDBOX" + self._layout.secret("aws-key-id", 6).upper()
        return identifier, self._layout.secret("aws-key", 20)

    def _remember_nodes(self, nodes: Sequence[NodeSpec] | None) -> Sequence[NodeSpec]:
        path = self._layout.folder / "nodes.json"
        if nodes is not None:
            write_private(path, json.dumps([node.to_json() for node in nodes]))
            return nodes
        try:
            return [NodeSpec.from_json(item) for item in json.loads(path.read_text())]
        except (OSError, ValueError, TypeError, KeyError):
            return DEFAULT_NODES

    def _programs(self) -> Path:
        tools = self._tools or build_tools()
        missing = [name for name in services.PROGRAMS if not os.access(tools / name, os.X_OK)]
        if missing:
            raise SandboxError(f"{tools} lacks {', '.join(missing)}; build them with: python -m sandbox build")
        return tools
