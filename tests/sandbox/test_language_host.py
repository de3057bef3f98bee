"""The language host under the real engine: programs, policy packs and providers by path."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.engine import build_engine
from tests.sandbox.pulumi_project import VIRTUALENV, Project, assert_quiet, until

PROVIDER = """
    import asyncio, sys
    from pathlib import Path
    from pulumi.provider.experimental import provider as api, server
    from pulumi.provider.experimental.property_value import PropertyValue

    class Things(api.Provider):
        async def create(self, request):
            values = dict(request.properties)
            if not request.preview:
                wait = values.get("wait")
                if wait is not None:
                    Path(wait.value).write_text("creating")
                    while not Path("gate").exists():
                        await asyncio.sleep(0.05)
                Path("things.log").open("a").write(f"create {request.name}\\n")
            return api.CreateResponse(f"id-{request.name}", values)

        async def diff(self, request):
            return api.DiffResponse(changes=dict(request.old_state) != dict(request.new_inputs))

        async def update(self, request):
            return api.UpdateResponse(dict(request.news))

        async def delete(self, request):
            Path("things.log").open("a").write(f"delete {request.name}\\n")

    print("the provider says hello", file=sys.stderr)
    server.main(sys.argv[1:], "1.2.3", Things())
"""

THING = """
    import pulumi

    class Thing(pulumi.CustomResource):
        def __init__(self, name, **inputs):
            super().__init__("things:index:Thing", name, inputs)
"""

PACK = """
    from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

    def no_bad_name(args, report):
        if args.props.get("prefix") == "bad":
            report("prefix is bad")

    PolicyPack(
        "trial-pack",
        enforcement_level=EnforcementLevel.MANDATORY,
        policies=[ResourceValidationPolicy("no-bad-prefix", "A prefix is never bad.", no_bad_name)],
    )
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables under which `pulumi` runs with this checkout's language host, whoever's engine it is."""
    engine = build_engine()
    if engine.built:
        return engine.environment()
    folder = tmp_path_factory.mktemp("bin")
    for name, module in (("language-python", "language"), ("resource-random", "random_provider")):
        script = folder / f"pulumi-{name}"
        checkout = Path(__file__).resolve().parents[2]
        run = f"runpy.run_module('sandbox.host.{module}', run_name='__main__', alter_sys=True)"
        code = f"import runpy, sys; sys.path.insert(0, {str(checkout)!r}); {run}"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -P -c "{code}" "$@"\n')
        script.chmod(0o755)
    return os.environ | {"PATH": f"{folder}{os.pathsep}{engine.pulumi.parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def project(tmp_path: Path, environment: dict[str, str]) -> Iterator[Project]:
    """An empty project; afterwards nothing that it started may be left."""
    made = Project(tmp_path, environment)
    (tmp_path / "state").mkdir()
    made.settings()
    made.program("")
    made.run("stack", "init", "dev")
    yield made
    try:
        until("every process has ended", lambda: not made.processes(), timeout=15)
    finally:
        made.end_all()


def with_provider(project: Project, **inputs: str) -> None:
    more = {"plugins": {"providers": [{"name": "things", "path": "./things"}]}}
    project.settings(more=more)
    options = f"runtime: {{name: python, options: {{virtualenv: {VIRTUALENV}}}}}\n"
    project.write("things/PulumiPlugin.yaml", options)
    project.write("things/__main__.py", PROVIDER)
    project.write("thing.py", THING)
    project.program(f"from thing import Thing\nThing('one', **{inputs!r})\n")


def with_pack(project: Project) -> Path:
    project.write("pack/PulumiPolicy.yaml", f"runtime: {{name: python, options: {{virtualenv: {VIRTUALENV}}}}}\n")
    return project.write("pack/__main__.py", PACK).parent


def test_a_programs_output_and_outputs_reach_the_user(project: Project) -> None:
    project.program("""
        import sys, pulumi
        print("to stdout"); print("to stderr", file=sys.stderr)
        pulumi.export("python", sys.executable)
    """)
    text = project.up()
    assert "to stdout" in text
    assert "to stderr" in text
    assert project.outputs() == {"python": str(VIRTUALENV / "bin" / "python")}


def test_output_is_shown_while_the_program_still_runs(project: Project) -> None:
    gate = project.folder / "gate"
    project.program(f"""
        import time
        from pathlib import Path
        print("a line in time")
        while not Path({str(gate)!r}).exists():
            time.sleep(0.05)
    """)
    with project.start("up", "--yes", "--skip-preview") as process:
        assert process.stdout is not None
        assert any("a line in time" in line for line in process.stdout)
        assert process.poll() is None
        gate.touch()
        process.communicate(timeout=120)
    assert process.returncode == 0


def test_a_programs_own_exit_code_is_told(project: Project) -> None:
    project.program("import sys; sys.exit(3)")
    assert "Program exited with non-zero exit code: 3" in project.up(code=None)


def test_a_run_error_shows_its_message_and_nothing_else(project: Project) -> None:
    project.program("import pulumi\nraise pulumi.RunError('the stack file is wrong: replicas is 0')")
    text = project.up(code=None)
    assert "error: the stack file is wrong: replicas is 0" in text
    assert "Traceback" not in text
    assert "non-zero exit code" not in text


def test_an_exception_shows_the_users_frames_only(project: Project) -> None:
    project.write("helper.py", "def fail():\n    raise ValueError('it broke here')\n")
    project.program("import helper\nhelper.fail()\n")
    text = project.up(code=None)
    assert "Program failed with an unhandled exception" in text
    assert f'File "{project.folder / "__main__.py"}", line 2' in text
    assert "ValueError: it broke here" in text
    for foreign in ("run_program.py", "runpy", "asyncio", "site-packages/pulumi", "non-zero exit code"):
        assert foreign not in text


def test_a_missing_environment_is_named_with_how_to_make_it(project: Project) -> None:
    project.settings(virtualenv="nowhere/env")
    text = project.up(code=None)
    assert f"the virtual environment {project.folder / 'nowhere' / 'env'}" in text
    assert "does not exist" in text
    assert "python3 -m venv" in text
    assert "Traceback" not in text


def test_install_says_which_environment_is_used(project: Project) -> None:
    assert f"Using the Python environment {VIRTUALENV}" in project.run("install")


def test_install_fails_for_a_missing_environment(project: Project) -> None:
    project.settings(virtualenv="nowhere")
    assert f"the virtual environment {project.folder / 'nowhere'}" in project.run("install", code=None)


def test_about_lists_the_programs_dependencies(project: Project) -> None:
    text = project.run("about", "--transitive")
    assert str(VIRTUALENV / "bin" / "python") in text
    assert "pulumi_random" in text
    assert "pulumi_random" not in project.run("about"), "the lantau distribution requires it"


def test_secret_config_stays_secret(project: Project) -> None:
    project.run("config", "set", "--secret", "token", "correct horse")
    project.run("config", "set", "plain", "visible")
    project.program("""
        import pulumi
        config = pulumi.Config()
        pulumi.export("token", config.require_secret("token"))
        pulumi.export("plain", config.require("plain"))
        pulumi.export("is_secret", pulumi.runtime.is_config_secret("trial:token"))
        pulumi.export("plain_is_secret", pulumi.runtime.is_config_secret("trial:plain"))
    """)
    text = project.up()
    assert "correct horse" not in text
    assert "correct horse" not in str(project.state())
    shown = project.outputs(secrets=True)
    assert shown == {"token": "correct horse", "plain": "visible", "is_secret": True, "plain_is_secret": False}


def test_a_policy_pack_passes_and_rejects(project: Project) -> None:
    pack = with_pack(project)
    project.program("import pulumi_random\npulumi_random.RandomPet('pet', prefix='good')\n")
    assert "trial-pack" in project.up("--policy-pack", str(pack))
    project.program("import pulumi_random\npulumi_random.RandomPet('pet', prefix='bad')\n")
    text = project.run("preview", "--policy-pack", str(pack), code=None)
    assert "no-bad-prefix" in text
    assert "prefix is bad" in text
    assert "Traceback" not in text
    assert "KeyboardInterrupt" not in text


def test_a_pack_without_its_environment_says_so(project: Project) -> None:
    pack = with_pack(project)
    (pack / "PulumiPolicy.yaml").write_text("runtime: {name: python, options: {virtualenv: gone}}\n")
    text = project.run("preview", "--policy-pack", str(pack), code=None)
    assert f"the virtual environment {pack / 'gone'}" in text


def test_a_provider_by_path_lives_its_whole_life(project: Project) -> None:
    with_provider(project, colour="red")
    text = project.up()
    assert "1 error" not in text
    assert "Traceback" not in text
    assert project.resource("one")["outputs"] == {"colour": "red"}
    project.preview_changes_nothing()
    with_provider(project, colour="blue")
    project.up()
    assert project.resource("one")["outputs"] == {"colour": "blue"}
    project.run("destroy", "--yes", "--skip-preview")
    assert (project.folder / "things.log").read_text() == "create one\ndelete one\n"


@pytest.mark.parametrize("with_policies", [False, True])
def test_an_interrupted_up_finishes_what_it_began_and_ends_quietly(project: Project, with_policies: bool) -> None:
    waiting = project.folder / "waiting"
    with_provider(project, wait=str(waiting))
    pack = ["--policy-pack", str(with_pack(project))] if with_policies else []
    with project.start("up", "--yes", "--skip-preview", *pack) as process:
        assert process.stdout is not None
        until("the provider creates", waiting.exists)
        os.killpg(process.pid, signal.SIGINT)
        seen = ""
        while "cancel" not in seen:
            seen += process.stdout.readline() or pytest.fail(f"the engine ended without a word:\n{seen}")
        (project.folder / "gate").touch()
        seen += process.communicate(timeout=60)[0]
    assert process.returncode != 0
    assert_quiet(seen)
    assert project.resource("one")["id"] == "id-one"


def test_a_second_interrupt_ends_everything_at_once(project: Project) -> None:
    waiting = project.folder / "waiting"
    with_provider(project, wait=str(waiting))
    with project.start("up", "--yes", "--skip-preview", "--policy-pack", str(with_pack(project))) as process:
        assert process.stdout is not None
        until("the provider creates", waiting.exists)
        os.killpg(process.pid, signal.SIGINT)
        seen = ""
        while "cancel" not in seen:
            seen += process.stdout.readline() or pytest.fail(f"the engine ended without a word:\n{seen}")
        os.killpg(process.pid, signal.SIGINT)
        seen += process.communicate(timeout=60)[0]
    assert process.returncode != 0
    assert_quiet(seen)


def test_a_program_that_waits_is_ended_by_an_interrupt(project: Project) -> None:
    waiting = project.folder / "waiting"
    project.program(f"""
        import time
        from pathlib import Path
        Path({str(waiting)!r}).touch()
        time.sleep(300)
    """)
    with project.start("up", "--yes", "--skip-preview") as process:
        until("the program waits", waiting.exists)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert_quiet(output)


@pytest.mark.parametrize("victim", ["pulumi", "sandbox.host.language"])
def test_nothing_survives_a_killed_engine_or_host(project: Project, victim: str) -> None:
    waiting = project.folder / "waiting"
    with_provider(project, wait=str(waiting))
    project.program((project.folder / "__main__.py").read_text() + "import pulumi_random; pulumi_random.RandomPet('a')")
    process = project.start("up", "--yes", "--skip-preview")
    try:
        until("the provider creates", waiting.exists)
        until("the random provider runs", lambda: "random_provider" in str(project.processes()))
        everything = project.processes()
        chosen = (
            process.pid if victim == "pulumi" else next(pid for pid, command in everything.items() if victim in command)
        )
        os.kill(chosen, signal.SIGKILL)
        others = {pid for pid in everything if pid != process.pid}
        if victim != "pulumi":  # what the engine started itself is its own to end
            others -= {pid for pid, command in everything.items() if "random_provider" in command}
        until("the others have ended", lambda: not others & set(project.processes()), timeout=15)
    finally:
        process.kill()
        process.communicate()


def test_random_values_stay_and_secrets_are_encrypted(project: Project) -> None:
    project.program("""
        import pulumi, pulumi_random as random
        password = random.RandomPassword("password", length=40)
        pulumi.export("password", password.result)
        pulumi.export("pet", random.RandomPet("pet").id)
        pulumi.export("hex", random.RandomId("id", byte_length=4, prefix="x-").hex)
        pulumi.export("number", random.RandomInteger("number", min=1, max=6).result)
    """)
    first = project.up()
    before = project.outputs(secrets=True)
    project.preview_changes_nothing()
    project.up()
    assert project.outputs(secrets=True) == before
    assert len(before["password"]) == 40
    assert before["password"] not in first
    assert before["password"] not in str(project.state())
    stored = project.resource("password")["outputs"]["result"]
    assert set(stored) == {"4dabf18193072939515e22adb298388d", "ciphertext"}


def test_a_changed_keeper_draws_again(project: Project) -> None:
    drawn = []
    for keeper in ("1", "1", "2"):
        project.program(f"""
            import pulumi, pulumi_random as random
            pulumi.export("text", random.RandomString("text", length=20, keepers={{"round": "{keeper}"}}).result)
        """)
        project.up()
        drawn.append(project.outputs()["text"])
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_dynamic_provider_runs(project: Project) -> None:
    project.program("""
        import pulumi.dynamic as dynamic

        class Things(dynamic.ResourceProvider):
            def create(self, props):
                return dynamic.CreateResult("an-id", {"seen": props["given"]})

        class Thing(dynamic.Resource):
            seen = None
            def __init__(self, name, given):
                super().__init__(Things(), name, {"given": given, "seen": None})

        Thing("thing", "a word")
    """)
    assert_quiet(project.up())
    assert project.resource("thing")["outputs"]["seen"] == "a word"


def test_wrong_inputs_of_a_random_resource_are_named(project: Project) -> None:
    project.program("import pulumi_random\npulumi_random.RandomString('text', length=3, min_upper=4)\n")
    text = project.run("preview", code=None)
    assert "length" in text
    assert "less than the 4 that the minimums add up to" in text


def test_a_plugin_that_cannot_start_shows_why(project: Project) -> None:
    with_provider(project)
    project.write("things/__main__.py", "import a_module_that_is_not_there\n")
    text = project.run("preview", code=None)
    assert "a_module_that_is_not_there" in text


def test_commands_end_soon_after_their_work(project: Project) -> None:
    with_provider(project, colour="red")
    process = project.start("up", "--yes", "--skip-preview")
    with process:
        assert process.stdout is not None
        assert any("Duration:" in line for line in process.stdout)
        try:
            process.wait(timeout=4)
        except subprocess.TimeoutExpired:
            pytest.fail("the engine waited for a plugin that did not end")
