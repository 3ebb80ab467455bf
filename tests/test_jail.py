"""A student's process is shut in: what a hostile one tries fails, and the fork server serves the next one.

Each attempt runs with the rights that a cell of a notebook has. Where this runs as root, all is tried twice: with a
grader who is root, and with one who is an ordinary user. Where there are no namespaces the tests are skipped, but never
in CI.
"""

import ast
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import venv
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from autograder.fork_server import ForkServer, ForkServerError, IsolationError
from autograder.process import STUDENT
from autograder.session import Session
from autograder.student.jail import PROMISES, REFUSED, Limits

LAUNCH = str(Path(__file__).with_name("launch.py"))
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" and "CI" not in os.environ, reason="only Linux can shut a process in"
)


@contextmanager
def server_for(grader, limits=None, **options):
    """A fork server whose grader is root, an ordinary user, or whoever runs the tests."""
    with ForkServer(limits, **options) as server:
        if grader != "yourself":
            server._command = [sys.executable, LAUNCH, grader, *server._command]
        yield server


@pytest.fixture(scope="module", params=["root", "ordinary"] if ROOT else ["yourself"])
def grader(request):
    with server_for(request.param) as server:
        try:
            server.start().kill()
        except IsolationError as error:
            if "CI" in os.environ:
                raise
            pytest.skip(str(error))
    return request.param


@pytest.fixture(scope="module")
def server(grader):
    with server_for(grader, Limits(address_space=3 << 29)) as server:
        yield server


@pytest.fixture
def session(server):
    """A session with a process that is shut in; afterwards the same fork server must do what is right."""
    server.start().kill()
    first = server._server.pid
    with Session(Path("/"), cell_limit=20, launch=server.start) as session:
        yield session
    nothing_is_left_of(server)
    is_honest(server)
    assert server._server.pid == first


def is_honest(server):
    """A submission as it should be gets the answer that it should."""
    with Session(Path("/"), launch=server.start) as session:
        source = "import os\nimport numpy as np\nassert os.listdir() == []\nopen('mine', 'w').write('x')\n"
        assert session.run(source + "def double(x):\n    return 2 * x") is None
        assert session.function("double")(np.arange(3)).tolist() == [0, 2, 4]


def parents():
    """The parent of each process that lives."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            if not fields["State"].startswith("Z"):
                found[int(fields["Pid"])] = int(fields["PPid"])
    return found


def descendants(process):
    """The processes that a process started, and those that they started."""
    above, found = parents(), {process}
    while more := {child for child, parent in above.items() if parent in found} - found:
        found |= more
    return found - {process}


def fork_server_of(server):
    """The process that forks: the child of the one that waits for it."""
    (child,) = (child for child, parent in parents().items() if parent == server._server.pid)
    return child


def nothing_is_left_of(server):
    assert descendants(fork_server_of(server)) == set()


def test_what_is_shut_in_can_still_do_what_a_notebook_does(session):
    source = """
import ctypes, json, multiprocessing, os, random, subprocess, sys, tempfile, threading, time
import numpy as np
import numpy.random, unittest.mock, xml.dom.minidom  # modules that were not imported before
thread = threading.Thread(target=lambda: None); thread.start(); thread.join()
assert os.getcwd() == os.path.expanduser("~") == tempfile.gettempdir() == "/submission"
assert os.path.samefile("/tmp", "/submission") or sys.prefix.startswith("/tmp/")
with open("file.txt", "w") as file: file.write("x")
np.save("array.npy", np.ones(3)); assert np.load("array.npy", mmap_mode="r").sum() == 3
assert subprocess.run(["/bin/sh", "-c", "echo $((1 + 1))"], capture_output=True).stdout == b"2\\n"
subprocess.run([sys.executable, "-c", "import numpy"], check=True)
assert ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 3)() == 3
with multiprocessing.Pool(2) as pool: assert pool.map(abs, [-1, 2]) == [1, 2]
assert np.linalg.inv(np.eye(200)).trace() == 200
print("to nowhere"); sys.stderr.write("to nowhere")
"""
    assert session.run(source) is None
    assert session.run("%matplotlib inline\n!ls\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()") is None


# What is there to see


def namespaces_of(process):
    kinds = ("mnt", "pid", "ipc", "net", "uts")
    return {kind: os.readlink(f"/proc/{process}/ns/{kind}") for kind in kinds}


@pytest.mark.skipif(not ROOT, reason="only root may look at it from outside; the attempts below look from inside")
def test_namespaces_are_its_own(session, server):
    ours, theirs = namespaces_of("self"), namespaces_of(fork_server_of(server))
    assert not set(ours.values()) & set(theirs.values())
    for _ in range(2):
        assert session.run("x = 1") is None
        (student,) = descendants(fork_server_of(server))
        seen = namespaces_of(student)
        assert {kind for kind in seen if seen[kind] == theirs[kind]} == {"net", "uts"}
        session.stop()


def test_its_limits_cannot_be_raised(session, server):
    limits = server.limits
    assert limits.processes == 32
    hard = {
        "AS": limits.address_space,
        "NPROC": limits.processes,
        "CPU": limits.cpu_seconds,
        "FSIZE": limits.file_size,
        "NOFILE": limits.open_files,
        "STACK": 8 << 20,
        **dict.fromkeys(["CORE", "MEMLOCK", "MSGQUEUE", "RTPRIO", "NICE"], 0),
    }
    source = f"""
import resource
for name, value in {hard}.items():
    assert resource.getrlimit(getattr(resource, "RLIMIT_" + name)) == (value, value), name
"""
    assert session.run(source) is None


@pytest.mark.skipif(not ROOT, reason="only root may look at it from outside; the attempts below look from inside")
def test_only_what_it_needs_is_mounted(session, server):
    session.start()
    (student,) = descendants(fork_server_of(server))
    mounts = [line.split() for line in Path(f"/proc/{student}/mountinfo").read_text().splitlines()]
    at = [mount[4] for mount in mounts]
    assert at.count("/") == 1  # and not, below or above it, the computer's own
    for place, options in ((mount[4], mount[5].split(",")) for mount in mounts):
        assert "nosuid" in options, place
        assert "nodev" in options or place.startswith("/dev/"), place
        assert "ro" in options or place.startswith("/dev/") or place == "/submission", place
    assert sorted(place for place in at if place.startswith("/dev")) == [
        f"/dev/{name}" for name in ("full", "null", "random", "urandom", "zero")
    ]
    assert at.count("/submission") == 2  # the fork server's, and on it the student's


def test_it_owns_nothing_and_has_no_rights(session, grader):
    groups = "" if grader == "root" else "# "  # an ordinary user cannot leave their groups
    source = f"""
import ctypes, os, resource, socket, stat
libc = ctypes.CDLL(None)
ids = set(os.getresuid()) | set(os.getresgid())
assert len(ids) == 1 and min(ids) > 999, ids
{groups}assert os.getgroups() == []
sets = (ctypes.c_uint32 * 6)(*[9] * 6)
assert libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), sets) == 0
assert list(sets) == [0] * 6
assert not any(libc.prctl(23, n, 0, 0, 0) > 0 for n in range(64))  # the bounding set
assert not any(libc.prctl(47, 1, n, 0, 0) > 0 for n in range(64))  # the ambient set
assert libc.prctl(39, 0, 0, 0, 0) == 1  # no new privileges
assert libc.prctl(3, 0, 0, 0, 0) == 0  # cannot be dumped
assert libc.prctl(21, 0, 0, 0, 0) == 2  # system calls are filtered
assert os.getpid() == 1 and os.getppid() == 0
assert socket.gethostname() == "student"
"""
    assert session.run(source) is None


def test_nothing_is_open_but_the_pipes(session):
    source = """
import os, stat
def kind(number):
    try:
        return stat.S_IFMT(os.fstat(number).st_mode)
    except OSError:
        return None
kinds = {number: kind(number) for number in range(256) if kind(number)}
pipes = [number for number in kinds if kinds[number] == stat.S_IFIFO]
assert len(pipes) == 2, kinds
for number in kinds.keys() - set(pipes):
    assert os.path.samestat(os.fstat(number), os.stat("/dev/null")), number
"""
    assert session.run(source) is None


def test_the_file_system_is_read_only_and_holds_nobodys_work(session):
    source = """
import os, sys
for place in ("/", "/usr", "/dev", "/etc", sys.prefix, os.path.dirname(os.__file__)):
    assert os.statvfs(place).f_flag & os.ST_RDONLY, place
    assert os.path.ismount(place) is False or os.statvfs(place).f_flag & (os.ST_NOSUID | os.ST_NODEV), place
assert sorted(os.listdir("/dev")) == ["full", "null", "random", "shm", "urandom", "zero"]
assert os.listdir("/proc") == os.listdir("/submission") == []
assert set(os.listdir("/etc")) <= {"ld.so.cache", "alternatives"}
mine = {"autograder", "solutions"} & set(os.listdir(os.path.dirname(os.path.dirname(__import__("numpy").__file__))))
assert not any(os.listdir(os.path.join(os.path.dirname(os.path.dirname(np.__file__)), each)) for each in mine)
"""
    assert session.run("import numpy as np\n" + source) is None


def test_packages_of_the_course_are_hidden_even_among_pythons_own(grader):
    import IPython

    with server_for(grader, hidden=[Path(IPython.__file__).parent / "testing"]) as server:
        if grader == "yourself" and server.missing:
            pytest.skip("no namespaces")
        with Session(Path("/"), launch=server.start) as session:
            assert session.run("import IPython, os") is None
            assert session.run("assert os.listdir(os.path.dirname(IPython.__file__) + '/testing') == []") is None
            assert session.run("import IPython.testing.decorators")["kinds"][0] == "ModuleNotFoundError"


def test_the_graders_environment_stays_outside(grader, monkeypatch):
    monkeypatch.setenv("A_SECRET", "abc123")
    with server_for(grader) as server, Session(Path("/"), launch=server.start) as session:
        assert session.run("import os\nassert 'A_SECRET' not in os.environ and b'A_SECRET' not in os.environb") is None


@pytest.fixture
def places(tmp_path):
    """A course that everyone may read and write, and sockets on which someone listens."""
    for name in ("source/ps1/ps1.ipynb", "submitted/ada/ps1/ps1.ipynb", "gradebook.db"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a secret")
        path.chmod(0o666)
    for each in (tmp_path, *tmp_path.parents[:2]):
        with suppress(OSError):
            each.chmod(0o777 if each == tmp_path else 0o755)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0the-course-{os.getpid()}")
        abstract.listen()
        path = socket.socket(socket.AF_UNIX)
        path.bind(str(tmp_path / "socket"))
        path.listen()
        yield {
            "course": str(tmp_path),
            "port": listener.getsockname()[1],
            "name": f"the-course-{os.getpid()}",
            "grader": os.getpid(),
            "home": str(Path.home()),
        }
        path.close()


#: What a cell tries, and what it must be told. A cell that comes to its end has succeeded.
ATTEMPTS = {
    "read the passwords": ("open('/etc/shadow')", "FileNotFoundError"),
    "go above the root": ("open('/../etc/shadow')", "FileNotFoundError"),
    "read the course": ("open('{course}/source/ps1/ps1.ipynb')", "FileNotFoundError"),
    "read another submission": ("open('{course}/submitted/ada/ps1/ps1.ipynb')", "FileNotFoundError"),
    "open the gradebook": (
        "import sqlite3\nsqlite3.connect('{course}/gradebook.db').execute('select 1')",
        "Operational",
    ),
    "read beside the notebook": ("import os\nos.listdir('../source')", "FileNotFoundError"),
    "see the home folder": ("open('{home}/.profile')", "FileNotFoundError"),
    "read the grader's environment": ("open('/proc/1/environ')", "FileNotFoundError"),
    "go through /proc": ("import os\nos.listdir('/proc/self/root')", "FileNotFoundError"),
    "look at the devices of the computer": ("import os\nos.listdir('/sys')", "FileNotFoundError"),
    "import the checks": ("import autograder", "ModuleNotFoundError"),
    "import the solutions": ("import solutions", "ModuleNotFoundError"),
    "follow a link out": ("import os\nos.symlink('{course}/gradebook.db', 'x')\nopen('x')", "FileNotFoundError"),
    "follow a link to a link": (
        "import os\nos.symlink('..', 'a')\nos.symlink('a/../../../..' + '{course}', 'b')\nos.listdir('b')",
        "FileNotFoundError",
    ),
    "write into the root": ("open('/x', 'w')", "Read-only file system"),
    "write into Python": ("import os\nopen(os.__file__, 'a')", "Permission denied|Read-only"),
    "write into a device's folder": ("open('/dev/x', 'w')", "Read-only"),
    "make a folder of one's own elsewhere": ("import os\nos.mkdir('/usr/x')", "Read-only"),
    "make a device": ("import os, stat\nos.mknod('d', stat.S_IFBLK | 0o666, os.makedev(254, 0))", "PermissionError"),
    "reach a server on this computer": (
        "import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)",
        "unreachable",
    ),
    "reach a server by IPv6": ("import socket\nsocket.create_connection(('::1', {port}), 5)", "OSError"),
    "reach the internet": (
        "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('1.1.1.1', 53))",
        "unreachable",
    ),
    "look up a name": ("import socket\nsocket.gethostbyname('example.org')", "gaierror"),
    "reach an abstract socket": (
        "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0{name}')",
        "ConnectionRefusedError",
    ),
    "reach a socket in the course": (
        "import socket\nsocket.socket(socket.AF_UNIX).connect('{course}/socket')",
        "FileNotFoundError",
    ),
    "reach the host of a virtual machine": ("import socket\nsocket.socket(socket.AF_VSOCK)", "PermissionError"),
    "talk to the kernel by netlink": ("import socket\nsocket.socket(socket.AF_NETLINK)", "PermissionError"),
    "use the kernel's ciphers": ("import socket\nsocket.socket(38, socket.SOCK_SEQPACKET)", "PermissionError"),
    "signal the grader": ("import os\nos.kill({grader}, 0)", "ProcessLookupError"),
    "signal everyone": ("import os\nos.kill(-1, 9)", "ProcessLookupError"),
    "signal the group": ("import os\nos.killpg({grader}, 0)", "ProcessLookupError"),
    "become root": ("import os\nos.setuid(0)", "PermissionError|Invalid argument"),
    "become another user": ("import os\nos.setresuid(1000, 1000, 1000)", "PermissionError|Invalid argument"),
    "become another group": ("import os\nos.setgroups([0])", "PermissionError"),
    "raise a limit": (
        "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (10**6, 10**6))",
        "not allowed to raise|ValueError",
    ),
    "leave the root": ("import os\nos.mkdir('x')\nos.chroot('x')", "PermissionError"),
    "fill the folder": (
        "for n in range(99):\n    with open(str(n), 'wb') as file:\n        file.write(bytes(2**20))",
        "No space left",
    ),
    "make files without end": ("for n in range(10**5):\n    open(str(n), 'w').close()", "No space left"),
    "write one huge file": ("with open('x', 'wb') as file:\n    file.truncate(2**40)", "File too large"),
    "open files without end": ("files = [open('/dev/null') for n in range(10**4)]", "Too many open files"),
    "start processes without end": (
        "import os, time\nfor n in range(10**4):\n    if os.fork() == 0:\n        time.sleep(1000)",
        "BlockingIOError",
    ),
    "start threads without end": (
        "import threading, time\nfor n in range(10**4):\n    threading.Thread(target=time.sleep, args=[1000]).start()",
        "can't start new thread",
    ),
    "take more memory than there is": ("x = []\nwhile True:\n    x.append(bytearray(2**30))", "MemoryError|memory"),
    "lock memory": (
        "import mmap, ctypes\nm = mmap.mmap(-1, 2**20)\nassert ctypes.CDLL(None).mlockall(1) == 0",
        "Assert",
    ),
    "ask for real-time priority": (
        "import os\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
        "Permission",
    ),
    "ask for a better priority": ("import os\nos.setpriority(os.PRIO_PROCESS, 0, -5)", "PermissionError"),
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_it_cannot(attempt, session, places):
    source, told = ATTEMPTS[attempt]
    error = session.run(source.format(**places))
    assert error is not None, "it could"
    text = " ".join([*error["kinds"], error["text"]])
    assert any(each in text for each in told.split("|")), text
    assert (Path(places["course"]) / "gradebook.db").read_text() == "a secret"


NEW = {"clone": (56, 220), "clone3": (435, 435), "nothing": (10**6, 10**6)}
SYSTEM_CALL = """
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
def call(numbers, *arguments):
    if libc.syscall(ctypes.c_long(numbers[0 if x86 else 1]), *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""


@pytest.mark.parametrize("name", [name for name, numbers in REFUSED.items() if None not in numbers])
def test_a_system_call_is_refused(name, session):
    assert session.run(SYSTEM_CALL) is None
    error = session.run(f"call({REFUSED[name]}, 0, 0, 0, 0, 0, 0)")
    assert error["kinds"][0] == "PermissionError", error


@pytest.mark.parametrize(
    "source, told",
    [
        ("call((56, 220), 0x10000000 | 17, 0, 0, 0, 0)", "PermissionError"),  # clone with a new user namespace
        ("call((56, 220), 0x00020000 | 17, 0, 0, 0, 0)", "PermissionError"),  # with a new mount namespace
        ("call((435, 435), 0, 0)", "Function not implemented"),  # clone3
        ("call((463, 463), 0, 0)", "Function not implemented"),  # newer than the list
        ("call((0x40000000 | 39, 10**6))", "Function not implemented"),  # getpid of x32
        ("call((101, 117), 16, {grader}, 0, 0)", "PermissionError"),  # ptrace the grader
    ],
)
def test_other_ways_to_a_system_call_are_closed(source, told, session, places):
    assert session.run(SYSTEM_CALL) is None
    error = session.run(source.format(**places))
    assert told in [*error["kinds"], error["text"].partition("] ")[2]]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="about x86")
def test_system_calls_of_32_bits_are_refused(session):
    source = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
got = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
assert got < 0, got
"""
    error = session.run(source)
    assert error is None or "signal 11" in error["text"]  # a kernel without 32 bits


# What is left behind


def test_nothing_outlives_a_submission(session, server):
    source = """
import os, signal, time
for number in set(range(1, 65)) - {signal.SIGCHLD}:
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        while True: time.sleep(1000)
    os._exit(0)
os.waitpid(child, 0)
"""
    assert session.run(source) is None
    assert len(descendants(fork_server_of(server))) == 2
    session.stop()
    nothing_is_left_of(server)


def test_processes_that_multiply_end_with_the_submission(server):
    session = Session(Path("/"), cell_limit=1, launch=server.start)
    session.run("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
    session.stop()
    nothing_is_left_of(server)
    is_honest(server)


def test_a_folder_and_names_are_new_each_time(server):
    for _ in range(2):
        with Session(Path("/"), launch=server.start) as session:
            source = "import os\nfrom multiprocessing.shared_memory import SharedMemory\nassert os.listdir() == []\n"
            assert session.run(source + "SharedMemory('mine', create=True, size=9)\nleft = open('left', 'w')") is None
            assert session.run("import builtins\nassert not hasattr(builtins, 'mine')\nbuiltins.mine = 1") is None


def test_a_cell_that_does_not_end_is_ended(server):
    with Session(Path("/"), cell_limit=0.5, launch=server.start) as session:
        began = time.monotonic()
        source = "import signal\nfor n in (1, 2, 3, 13, 14, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: pass"
        assert "still running" in session.run(source)["text"]
        assert session.run("x = 1") is None
        assert time.monotonic() - began < 5
    nothing_is_left_of(server)


# What a process says about its end


@pytest.mark.parametrize(
    "source, told",
    [
        ("import os\nos._exit(7)", "with exit status 7 while"),
        ("import ctypes\nctypes.string_at(0)", "by signal 11 while"),
        ("import os\nos.abort()", "by signal"),
        ("import os\nos.closerange(0, 256)", "its talk with the grader|with exit status"),
        ("import os\nos.write(4, b'x' * 100)", "Your code answered with"),
        (
            "import os\nfor n in range(3, 256):\n    try: os.write(n, b'\\0' * 100)\n    except OSError: pass",
            "answered with",
        ),
    ],
)
def test_it_is_told_how_it_ended(source, told, server):
    with Session(Path("/"), launch=server.start) as session:
        text = session.run(source)["text"]
        assert any(each in text for each in told.split("|")), text
    is_honest(server)


MULTIPLY_AND_FILL = """
import os, time
for n in range(8):
    if os.fork() == 0:
        x = bytearray(b"x") * (50 << 20)
        time.sleep(1000)
assert os.wait()[1] == 9
"""


def test_memory_is_limited_for_all_processes_together(grader):
    limits = Limits(memory=200 << 20, address_space=3 << 29)
    with server_for(grader, limits) as server:
        assert server.memory_cgroup or grader != "root" or not Path("/sys/fs/cgroup/memory").exists()
        with Session(Path("/"), cell_limit=10, launch=server.start) as session:
            error = session.run("x = []\nwhile True:\n    x.append(bytearray(2**20))")
            assert "more memory than the 200 MiB" in error["text"] or not server.memory_cgroup
            first = server._server.pid
            session.start()
            (student,) = descendants(fork_server_of(server))
            if server.memory_cgroup:
                assert Path(f"/proc/{student}/oom_score_adj").read_text() == "1000\n"  # it goes before the fork server
                assert session.run(MULTIPLY_AND_FILL) is None
        nothing_is_left_of(server)
        is_honest(server)
        assert server._server.pid == first


def test_address_space_is_limited(grader):
    with (
        server_for(grader, Limits(address_space=1 << 30)) as server,
        Session(Path("/"), launch=server.start) as session,
    ):
        assert session.run("x = bytearray(2 << 30)")["kinds"][0] == "MemoryError"


def test_processor_time_is_limited(grader):
    with server_for(grader, Limits(cpu_seconds=1)) as server, Session(Path("/"), launch=server.start) as session:
        assert "its 1 seconds of processor time" in session.run("while True: pass")["text"]
        assert session.run("x = 1") is None


# The fork server


def test_all_ends_with_the_fork_server(grader):
    with server_for(grader) as server:
        session = Session(Path("/"), cell_limit=20, launch=server.start)
        assert session.run("import ctypes\nctypes.CDLL(None).prctl(1, 0)") is None  # no signal at the parent's death
        started = descendants(server._server.pid)
        assert len(started) == 2
        server._server.kill()
        ends(*started)
        assert "ended" in session.run("x = 1")["text"]
        assert session.run("x = 1") is None  # with another server
        session.stop()


def alive(process):
    with suppress(OSError):
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    return False


def ends(*processes):
    """These processes are gone, or go within seconds."""
    for _ in range(100):
        if not any(map(alive, processes)):
            return
        time.sleep(0.05)
    pytest.fail("something lives on")


def test_all_ends_with_the_grader(grader):
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_jail import Session, descendants, server_for
with server_for({grader!r}) as server:
    session = Session(Path("/"), launch=server.start)
    session.run("import os\\nos.fork()")
    print(*descendants(os.getpid()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    started = [int(each) for each in done.stdout.split()]
    assert len(started) == 4
    ends(*started)


@pytest.mark.skipif(not ROOT, reason="needs root, to take rights away")
def test_strict_refuses_and_says_why_where_best_effort_goes_on():
    with server_for("powerless") as server, pytest.raises(IsolationError) as refused:
        server.start()
    for name in ("processes", "file system", "network", "shared memory", "user"):
        assert f"{name}: that {PROMISES[name]} (" in str(refused.value)
    with server_for("powerless", isolation="best-effort") as server:
        assert set(server.missing) == {"processes", "file system", "network", "shared memory", "user"}
        for _ in range(2):
            with Session(Path("/"), launch=server.start) as session:
                source = (
                    "import os\nassert os.listdir() == [] and os.getcwd() == os.environ['HOME']\nopen('x', 'w').close()"
                )
                assert session.run(source) is None
                assert session.run(SYSTEM_CALL + "call((272, 97), 0)")["kinds"][0] == "PermissionError"
                source = "import os, time\nchild = os.fork()\nif child == 0: time.sleep(1000)\nraise Exception(child)"
                left = int(session.run(source)["text"])
                assert alive(left)
            ends(left)
        is_honest(server)


@pytest.mark.parametrize("name", ["_mount", "_protect", "_pivot_root", "_python_needs"])
def test_where_the_file_system_cannot_be_made_all_is_as_it_was(name, grader):
    code = f"""
import os, sys
sys.path.insert(0, {str(STUDENT)!r})
import jail
def fails(*arguments):
    raise OSError(38, "no such call")
jail.{name} = fails
made = jail.Jail(jail.Limits())
made.begin()
made.enter([])
assert made.missing == {{"file system": "[Errno 38] no such call"}}, made.missing
assert os.path.isdir({str(STUDENT)!r})
import colorsys  # Python is where it was
"""
    launch = [sys.executable, LAUNCH, grader] if grader == "ordinary" else []
    subprocess.run([*launch, sys.executable, "-c", code], check=True)


def test_python_may_lie_in_the_folder_for_temporary_files(tmp_path):
    assert tmp_path.parts[1] == "tmp"
    venv.create(tmp_path / "here", with_pip=False)
    python = tmp_path / "here" / "bin" / "python"
    folder = sysconfig.get_path("purelib", vars={"base": str(tmp_path / "here")})
    Path(folder, "others.pth").write_text(sysconfig.get_path("purelib"))
    with ForkServer() as server:
        server._command = [str(python), *server._command[1:]]
        with Session(Path("/"), launch=server.start) as session:
            source = "import os, sys, tempfile\nraise Exception(sys.prefix, tempfile.gettempdir())"
            assert session.run(source)["text"] == str((str(tmp_path / "here"), "/submission"))
            (here,) = ast.literal_eval(session.run(f"raise Exception(os.listdir({str(tmp_path)!r}))")["text"])
            assert here == "here"  # and nothing else of the folder
        is_honest(server)


def test_a_server_that_cannot_begin_says_why(tmp_path):
    shutil.copytree(STUDENT, tmp_path / "student")
    with (tmp_path / "student" / "outputs.py").open("a") as file:
        file.write("\ndef Outputs():\n    import no_such_module\n")
    with ForkServer() as server:
        server._command = [*server._command[:2], str(tmp_path / "student"), *server._command[3:]]
        with pytest.raises(ForkServerError, match=r"all submissions need: .*no_such_module"):
            server.start()


def test_limits_cross_as_json():
    limits = Limits(memory=5)
    assert Limits.from_json(limits.to_json()) == limits
    assert json.loads(limits.to_json())["memory"] == 5
