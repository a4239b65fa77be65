"""Shared fixtures: the test vectors, the hostile identifiers, and servers that run as processes.

A test receives rows by a mark. A run of all tests groups them (`tests/case_groups.py`). A run that selects tests by
name has a test for each vector, named by its id, and a test for each class of hostile identifiers:

    @pytest.mark.vectors("ark-parse")
    def test_an_ark_is_read_as_the_draft_says(vector): ...      # a Vector

    @pytest.mark.naughty                                        # or of some classes: @pytest.mark.naughty("bidi")
    def test_no_input_makes_it_fail(naughty): ...               # a Naughty
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import gzip
import inspect
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPResponse
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite
from hypothesis import HealthCheck, settings
from hypothesis.internal import charmap

from ararat.bindings.system.thread_slots import slots
from tests import case_groups
from tests.forking import fork
from tests.preloaded import VARIABLE, ForkServer, Process, can_start, prepare

pytest_plugins = [
    "tests.scheduling",
    "tests.workers",
    "tests.ready_tables",
    "tests.databases",
    "tests.memory",
    "tests.logs",
    "tests.workbooks",
]

# Hypothesis must not fail a test because the machine is slow. It draws the same examples each time, so that a change
# which fails a test has caused the failure. `make fuzz` draws others, and more of them.
settings.register_profile(
    "ararat",
    settings.get_profile("ci"),
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ararat")
# `make fuzz`: a given number of inputs for each invariant, different each time. An input that takes seconds fails.
settings.register_profile(
    "fuzz",
    settings.get_profile("default"),
    deadline=10_000,
    max_examples=int(os.environ.get("FUZZ", "20000")),
    derandomize=False,
    suppress_health_check=list(HealthCheck),
)

DATA = Path(__file__).parent / "data"


def _know_utf_8() -> None:
    """Give Hypothesis the characters of UTF-8. In a fresh clone it would encode each character, for a second."""
    file = charmap.charmap_file("codec-v2-utf-8")
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(json.dumps([[[0, 0xD7FF], [0xE000, sys.maxunicode]], []]).encode()))


def _temporary_files_in_memory() -> None:
    """Put temporary files into a file system in memory if it has space, because it needs half the time."""
    memory = Path("/dev/shm")  # noqa: S108 - only pytest creates files there, in a folder of its own
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK):
        return
    state = os.statvfs(memory)
    if state.f_bavail * state.f_frsize > 2_000_000_000 and not state.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(memory)


_temporary_files_in_memory()


def _only_to_loopback(connect: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that fails if a test connects to another machine, regardless of the default of the tested code.

    An audit hook would be called for each file, import and statement of SQLite, too.
    """

    @functools.wraps(connect)
    def checked(self: socket.socket, address: Any) -> Any:
        if isinstance(address, tuple):
            host = str(address[0])
            if host != "localhost" and not ip_address(host.partition("%")[0]).is_loopback:
                raise AssertionError(f"a test would have connected to {host}")
        return connect(self, address)

    return checked


for _method in ("connect", "connect_ex"):
    setattr(socket.socket, _method, _only_to_loopback(getattr(socket.socket, _method)))

# A shell starts a command in the background with an ignored SIGINT, and each process of a test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Rows of data ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Vector:
    """One row of vectors.jsonl."""

    id: str
    kind: str
    input: Any
    expect: dict[str, Any]
    req: list[str]
    source: str
    note: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Naughty:
    """One row of hostile/naughty-identifiers.jsonl; hostile/README.md describes the fields."""

    id: str
    category: str
    input: str
    verdict: str
    http: tuple[int, ...]
    must: str
    kind: str | None = None
    normal: str | None = None
    must_not_appear_raw: tuple[str, ...] = ()
    never_in_html: tuple[str, ...] = ()
    note: str = ""


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with (DATA / name).open(encoding="ascii") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


@functools.cache
def _vectors() -> tuple[Vector, ...]:
    return tuple(Vector(**row) for row in _rows("vectors.jsonl"))


@functools.cache
def _naughty() -> tuple[Naughty, ...]:
    return tuple(_naughty_row(**row) for row in _rows("hostile/naughty-identifiers.jsonl"))


def _naughty_row(
    *, input: str | None, http: list[int], rule: str = "", must_not_appear_raw: Sequence[str] = (), **row: Any
) -> Naughty:
    return Naughty(
        category=row.pop("class"),
        input=eval(rule, {"__builtins__": {}}) if input is None else input,
        http=tuple(http),
        # "U+202E" in the file, the character itself here.
        must_not_appear_raw=tuple(chr(int(code_point.removeprefix("U+"), 16)) for code_point in must_not_appear_raw),
        never_in_html=tuple(row.pop("never_in_html", ())),
        **row,
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the test modules in several processes before the collection.

    In a fresh clone this takes longer than all imports, because pytest rewrites the assertions.
    """
    config, processes = session.config, session.config.option.processes
    if sys.dont_write_bytecode or config.args_source is not config.ArgsSource.TESTPATHS:
        return
    modules = sorted(Path(__file__).parent.rglob("test_*.py"))
    children = [fork(functools.partial(_compile, modules[n::processes], config)) for n in range(1, processes)]
    _compile(modules[::processes], config)
    for child in children:
        os.waitpid(child, 0)


def _compile(modules: Sequence[Path], config: pytest.Config) -> None:
    for module in modules:
        folder = rewrite.get_cache_dir(module)
        compiled = folder / f"{module.stem}{rewrite.PYC_TAIL}"
        # pytest compiles a module again that was changed after this.
        if not compiled.exists() and rewrite.try_makedirs(folder):
            status, code = rewrite._rewrite_test(module, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, status, compiled)


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Iterator[None]:
    """Let the workers share one process that starts servers."""
    if config.option.processes < 2 or VARIABLE in os.environ:
        return (yield)
    server = ForkServer()
    os.environ[VARIABLE] = server.address
    try:
        return (yield)
    finally:
        del os.environ[VARIABLE]
        server.stop()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect no garbage during the collection of the tests, nor from it later: this takes a third of its time.

    Later, collect it less often than Python does by default. A process of the tests has a million objects, and
    Hypothesis, pytest and SQLAlchemy create many that live briefly. What each worker needs is made once, before them.
    """
    gc.disable()
    config = session.config
    try:
        result = yield
        _know_utf_8()
        if config.option.processes > 1 and config.args_source is config.ArgsSource.TESTPATHS:
            prepare(os.environ[VARIABLE])
        return result
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


def _omits_long(config: pytest.Config) -> bool:
    """Return whether a run would deselect the long tests."""
    return config.option.markexpr == "not long"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import the folder whose tests are all long in a usual run of all tests."""
    every = config.args_source is config.ArgsSource.TESTPATHS
    return True if every and _omits_long(config) and collection_path == Path(__file__).parent / "fuzz" else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:
    def rows(kinds: Sequence[str]) -> list[tuple[str, Vector]]:
        return [(row.id, row) for row in _vectors() if row.kind in kinds]

    marks = getattr(obj, "pytestmark", ()) if inspect.isfunction(obj) else ()  # A proxy of Flask has no attributes.
    if _omits_long(collector.config) and "long" in {each.name for each in marks}:
        return []
    return case_groups.items(collector, name, obj, vectors=rows)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if mark := metafunc.definition.get_closest_marker("vectors"):
        _require_known(metafunc, mark.args, {row.kind for row in _vectors()})
        rows = [row for row in _vectors() if row.kind in mark.args]
        metafunc.parametrize("vector", [pytest.param(row, id=row.id) for row in rows])
    if mark := metafunc.definition.get_closest_marker("naughty"):
        categories = dict.fromkeys(row.category for row in _naughty())
        _require_known(metafunc, mark.args, {*categories})
        asked = [category for category in categories if not mark.args or category in mark.args]
        rows = {category: Rows(row for row in _naughty() if row.category == category) for category in asked}
        parameters = [pytest.param(each, id=category) for category, each in rows.items()]
        if not case_groups.is_selective(metafunc.config):
            every = [row for each in rows.values() for row in each]
            short, long = ([row for row in every if (len(row.input) >= LONG) is is_long] for is_long in (False, True))
            # A long row takes longer than all short ones. So the tests of a file get one, and all in `make long`.
            place = zlib.crc32(metafunc.definition.nodeid.partition("::")[0].encode()) % max(1, len(long))
            parameters = [pytest.param(Rows([*short, *long[place : place + 1]]), id="all")]
            if long:
                parameters.append(pytest.param(Rows(long), id="long", marks=pytest.mark.long))
        metafunc.parametrize("naughty", parameters)


def _require_known(metafunc: pytest.Metafunc, asked: Sequence[str], known: set[str]) -> None:
    if unknown := set(asked) - known:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: unknown rows {sorted(unknown)}; known: {sorted(known)}")


LONG = 100_000
"""The number of characters from which a hostile identifier is long."""


class Rows(tuple[Naughty, ...]):
    """The rows of one test."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test once for each of its rows. A failure names the row."""
    rows = pyfuncitem.funcargs.get("naughty")
    if not isinstance(rows, Rows):
        return None
    taken = inspect.signature(pyfuncitem.obj).parameters
    fixtures = {name: value for name, value in pyfuncitem.funcargs.items() if name in taken}
    for row in rows:
        try:
            pyfuncitem.obj(**fixtures | {"naughty": row})
        except Exception as error:
            error.add_note(f"The row is {row.id}.")
            raise
    return True


@pytest.fixture(scope="session")
def every_naughty() -> tuple[Naughty, ...]:
    """All hostile identifiers, for a check that is faster than one test for each row."""
    return _naughty()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder tests/data."""
    return DATA


@pytest.fixture
def fixture_fx1() -> dict[str, Any]:
    """The bindings that vectors of kind `http` call "FX1", created for each test."""
    return json.loads((DATA / "fixture_FX1.json").read_text("ascii"))


# Variables that configure the tests: the browser, and the benchmarks.
_OF_TESTS = ("ARARAT_BROWSER", "ARARAT_BENCH_")


@pytest.fixture(autouse=True)
def _threads_of_serve() -> Iterator[None]:
    """Give each test the slots of a process with 96 threads, as `ararat serve` has them."""
    slots.forget()
    slots.use(96)
    yield
    slots.use(None)


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_the_developers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Remove the settings and registries of the developer, for this process and those that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data-home")))
        for name in [name for name in os.environ if name.startswith("ARARAT_") and not name.startswith(_OF_TESTS)]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def _fast_passwords() -> Iterator[None]:
    """Hash passwords with little memory and time, and estimate each password once. Other processes do as usual."""
    import argon2

    from ararat.webapp.accounts import passwords

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", argon2.PasswordHasher.from_parameters(argon2.profiles.CHEAPEST))
        patch.setattr(passwords, "_is_common", functools.cache(passwords._is_common))
        yield


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """Wait long for a thread, lock, slot or password, because a busy machine can stop each thread for seconds.

    A test of one of these limits sets it. Other processes have the usual ones."""
    from ararat.bindings.checks import near_names
    from ararat.bindings.storage.databases import connections, postgresql, sqlite
    from ararat.bindings.system import thread_slots
    from ararat.webapp.accounts import passwords
    from ararat.webapp.accounts.records import attempts
    from ararat.webapp.management import acting

    with pytest.MonkeyPatch.context() as patch:
        for module in (attempts, connections, passwords):
            patch.setattr(module, "WAIT_SECONDS", 30.0)
        patch.setattr(sqlite, "BUSY_SECONDS", 30.0)
        for name in ("CONNECT_SECONDS", "_QUICK_SECONDS"):
            patch.setattr(postgresql, name, 30)
        patch.setattr(thread_slots, "PAGE_SECONDS", 30.0)
        patch.setattr(acting, "BRIEF_SECONDS", 30.0)
        patch.setattr(near_names, "_SECONDS", 30.0)
        yield


@pytest.fixture
def few_objects() -> None:
    """Hide older objects from a search among all objects of the process. A process of the tests has millions."""
    gc.freeze()


@pytest.fixture
def public_path() -> Iterator[Path]:
    """An empty folder that other users can enter. Each run of pytest removes this permission from those of pytest."""
    made = Path(tempfile.mkdtemp(prefix="ararat-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


# Servers --------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a server, with its fields as received."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def all(self, name: str) -> list[str]:
        """Return all values of a field, in order."""
        return [value for field, value in self.headers if field.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        """Return the value of a field that occurs at most once, or None."""
        values = self.all(name)
        assert len(values) < 2, f"{name} stands {len(values)} times: {values}"
        return values[0] if values else None

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    def json(self) -> Any:
        return json.loads(self.body)


_RESERVED = re.compile(rb"\S+ /(ark|urn):", re.IGNORECASE)


def is_running(process: int) -> bool:
    """Return whether a process exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@dataclasses.dataclass(slots=True)
class Server:
    """A server process of a test. It listens on a free loopback port."""

    process: subprocess.Popen[bytes] | Process
    log_file: Path
    port: int = 0

    @property
    def origin(self) -> str:
        """Return `http://127.0.0.1:PORT`, without a final slash."""
        return f"http://127.0.0.1:{self.port}"

    def log(self) -> str:
        """Return the standard output and standard error so far."""
        return self.log_file.read_text("utf-8", errors="backslashreplace")

    def ask(self, raw: bytes, timeout: float = 30) -> Answer:
        """Send these bytes on a new connection, and read one answer."""
        method = raw.split(b" ", 1)[0].decode("latin-1")
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            connection.sendall(raw)
            with HTTPResponse(connection, method=method) as response:
                response.begin()
                # The address of an identifier must never be a permanent redirect.
                assert response.status not in (301, 308) or not _RESERVED.match(raw), raw
                return Answer(response.status, response.reason, tuple(response.getheaders()), response.read())

    def get(self, target: str, method: str = "GET", **headers: str) -> Answer:
        """Request a target without changing it. Pass a header field as `accept_language="en"`."""
        fields = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"}
        fields |= {name.replace("_", "-").title(): value for name, value in headers.items()}
        head = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        return self.ask("\r\n".join([*head, "", ""]).encode("latin-1"))

    def exchange(self, raw: bytes, timeout: float = 30) -> bytes:
        """Send these bytes, and return all received bytes until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            connection.sendall(raw)
            return b"".join(iter(functools.partial(connection.recv, 65536), b""))

    def wait_for(self, pattern: str, times: int = 1, seconds: float = 40) -> str:
        """Wait until the log contains this pattern a number of times. Return its first group, or fail with the log."""
        deadline = time.monotonic() + seconds
        while len(found := re.findall(pattern, self.log())) < times:
            if self.process.poll() is not None:
                pytest.fail(
                    f"the server ended with {self.process.returncode} before {pattern!r} was in its log:\n{self.log()}"
                )
            if time.monotonic() > deadline:
                pytest.fail(f"{pattern!r} was not in the server's log after {seconds} s:\n{self.log()}")
            time.sleep(0.01)
        return found[0]

    def workers(self) -> list[int]:
        """Return the process IDs of the workers of gunicorn that run, in the order of their start."""
        started = re.findall(r"Booting worker with pid: (\d+)", self.log())
        return [worker for worker in map(int, started) if is_running(worker)]

    @contextlib.contextmanager
    def only(self, worker: int) -> Iterator[None]:
        """Stop the other workers of gunicorn, because the system decides which one gets a request."""
        others = [other for other in self.workers() if other != worker]
        try:
            for other in others:
                os.kill(other, signal.SIGSTOP)
            yield
        finally:
            for other in others:
                os.kill(other, signal.SIGCONT)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM, seconds: float = 10) -> int:
        """End the process and its workers, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = -1
        # The process leads its own group. The group can still contain workers.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(5)
        return code


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """The process that starts others quickly (`tests/preloaded.py`)."""
    used = ForkServer()
    yield used
    used.stop()


@pytest.fixture(scope="session")
def run_command(fork_server: ForkServer) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """run_command(*command, given=b"", folder=None, seconds=100, **environ) runs a command of Python until its end.

    It starts in a process that has already imported the modules (`tests/preloaded.py`).
    """

    def run(
        *command: object, given: bytes = b"", folder: Path | None = None, seconds: float = 100, **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        words = [os.fsdecode(each) if isinstance(each, bytes) else str(each) for each in command]
        assert can_start(words, environ), words
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(given)
            files[0].seek(0)
            streams = files[0].fileno(), files[1].fileno(), files[2].fileno()
            process = fork_server.start(words, streams, folder or Path.cwd(), {**os.environ} | environ)
            try:
                process.wait(seconds)
            finally:
                process.kill()
            for file in files:
                file.seek(0)
            return subprocess.CompletedProcess(words, process.wait(5), files[1].read(), files[2].read())

    return run


@pytest.fixture(scope="session")
def search_path(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The variable PATH for scripts of a shell. Their commands ``ararat`` start quickly, as by `run_command`."""
    folder = tmp_path_factory.mktemp("programs")
    fork_server.write_program(folder)
    return f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"


@pytest.fixture(scope="session")
def start_server(tmp_path_factory: pytest.TempPathFactory, fork_server: ForkServer) -> Iterator[Callable[..., Server]]:
    """start_server(command, environ={}, folder=None) starts a server. All servers are stopped after the run.

    A command of Python starts in a process that has already imported the modules (`tests/preloaded.py`), except with
    preloaded=False.
    """
    started: list[Server] = []

    def start(
        command: Sequence[str | Path],
        environ: dict[str, str] | None = None,
        folder: Path | None = None,
        *,
        preloaded: bool = True,
    ) -> Server:
        folder = folder or tmp_path_factory.mktemp("server")
        log = folder / "server.log"
        words, own = [*map(str, command)], environ or {}
        # ARARAT_* variables of the developer must not change the tests.
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ARARAT_")}
        variables = clean | {"PYTHONUNBUFFERED": "1"} | own
        process: subprocess.Popen[bytes] | Process
        with log.open("wb") as output, Path(os.devnull).open("rb") as nothing:
            if preloaded and can_start(words, own):
                streams = nothing.fileno(), output.fileno(), output.fileno()
                process = fork_server.start(words, streams, folder, variables)
            else:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env=variables,
                    # Under nohup, SIGHUP is ignored, and the server would inherit that.
                    preexec_fn=functools.partial(signal.signal, signal.SIGHUP, signal.SIG_DFL),
                    start_new_session=True,
                )
        server = Server(process, log)
        started.append(server)
        return server

    yield start
    # Kill the servers: an orderly stop takes half a second each and has its own tests.
    for server in started:
        server.stop(signal.SIGKILL)


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A loopback port that refuses connections. No other process can use it during the test."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


GUNICORN_SETTINGS = """\
def post_worker_init(worker):
    worker.log.info("worker ready")
"""


@pytest.fixture
def wsgi_server(start_server: Callable[..., Server], tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """wsgi_server(source) runs gunicorn with the WSGI callable `application` of a module with this source.

    Keywords: workers=1, threads=1 (more than one selects the worker gthread), preload=False, environ, options.
    Returns after every worker has loaded the application. The servers end with the test."""
    started: list[Server] = []

    def serve(
        source: str,
        *,
        workers: int = 1,
        threads: int = 1,
        preload: bool = False,
        environ: dict[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> Server:
        folder = tmp_path / f"server-{len(started)}"
        folder.mkdir()
        (folder / "site_under_test.py").write_text(source, "utf-8")
        (folder / "settings.py").write_text(GUNICORN_SETTINGS, "utf-8")
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "--config",
            "settings.py",
            "--bind",
            "127.0.0.1:0",
            "--no-control-socket",
        ]
        command += ["--workers", str(workers), "--threads", str(threads), *(["--preload"] if preload else []), *options]
        server = start_server([*command, "site_under_test:application"], environ, folder)
        started.append(server)
        server.port = int(server.wait_for(r"Listening at: http://127\.0\.0\.1:(\d+)"))
        server.wait_for("worker ready", times=workers)
        return server

    yield serve
    # By default gunicorn waits two seconds for a connection that a client keeps open, as browsers do.
    for server in started:
        server.stop(signal.SIGKILL)


@pytest.fixture(scope="session")
def serve_ararat(
    start_server: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Server]:
    """serve_ararat(*options) runs `ararat serve`, by default with the demo, and returns when it answers and has printed
    its addresses."""

    def serve(*options: str, environ: dict[str, str] | None = None) -> Server:
        folder = tmp_path_factory.mktemp("ararat")
        command = [Path(sys.executable).with_name("ararat"), "serve", "--host", "127.0.0.1", "--port", "0"]
        server = start_server([*command, *options], environ, folder)
        server.port = int(server.wait_for(r"http://127\.0\.0\.1:(\d+)"))
        deadline = time.monotonic() + 40
        while True:
            try:
                assert server.get("/healthz").status == 200, server.log()
            except ConnectionError:
                assert time.monotonic() < deadline, server.log()
                time.sleep(0.02)
            else:
                server.wait_for(r"Stop +Ctrl-C")
                return server

    return serve


@pytest.fixture(scope="session")
def ararat_server(serve_ararat: Callable[..., Server]) -> Server:
    """One `ararat serve` with the demo and a policy, which sends no requests to other hosts.

    Tests that only read share it.
    """
    return serve_ararat("--no-trace-elsewhere", "--policy", "17beta")
