"""Shut a student's process in, on Linux, by namespaces, limits and a filter of system calls.

By system calls and not with bubblewrap, since a warmed process is forked for each submission: bubblewrap starts a
program anew, and what was imported would be lost. Standard library only. In the order in which it happens:

1. `Jail.begin`, once: a process that waits, and its child, the fork server, alone in a PID namespace: when it dies, the
   kernel kills every process that it ever made.
2. `Jail.enter`, once, after the imports: a file system that holds Python and programs of /usr, read-only, and nothing
   else; a network without interfaces. No student's code has run, and none ever runs in the fork server.
3. `Jail.fork` and `Jail.shut_in`, for each submission: a child that is PID 1 of a PID namespace of its own, so that all
   it starts dies with it; an empty scratch folder that is gone with it; limits; a user id that nobody has; no
   capabilities; no system calls that are of use for getting out.

A root that may do all this does it as such, and the child changes to an unused user id. Anyone else makes a user
namespace first, in which their own id is the only one: outside, the child is still that user, and still in that user's
groups, but it sees nothing that is theirs.

What does not work is put down in `Jail.missing`, by the names in PROMISES, with the reason; what works is done
nevertheless. Whoever starts a fork server decides whether that is enough.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
import sysconfig
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

#: What is promised, by name.
PROMISES = {
    "processes": "its processes see and signal no others, and all are gone when it ends",
    "file system": "it sees Python and system programs, read-only, and one small folder of its own",
    "network": "it reaches no network, not even this computer's",
    "shared memory": "System V and POSIX queues and segments are its own, and gone when it ends",
    "limits": "processor time, memory, processes, file sizes and open files are limited",
    "user": "it runs as a user who owns nothing and has no capabilities",
    "system calls": "calls of no use to a notebook (mounts, namespaces, tracing, keys, BPF ...) are refused",
}


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Sizes are in bytes.

    Attributes
    ----------
    memory : int
        All processes together, scratch folder included, where a control group (cgroup) can be made.
    address_space : int
        Each process. NumPy and IPython reserve about 0.3 GiB of it.
    processes : int
        Processes and threads at one time.
    cpu_seconds : int
        Processor time of each process.
    scratch, scratch_files : int
        Size of the scratch folder, and how many files it holds.
    file_size : int
        Each file.
    open_files : int
        Each process.
    """

    memory: int = 1 << 30
    address_space: int = 4 << 30
    processes: int = 32
    cpu_seconds: int = 300
    scratch: int = 64 << 20
    scratch_files: int = 4096
    file_size: int = 64 << 20
    open_files: int = 256


# Values of <linux/sched.h>, <sys/mount.h>, <sys/prctl.h>; they are the same on every architecture.
NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
ANY_NAMESPACE = NEWNS | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET | 0x2000000  # the last: cgroup
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, AT_RECURSIVE, AT_FDCWD = 1, 2, 4, 0x8000, -100
SET_PDEATHSIG, SET_DUMPABLE, SET_SECCOMP, CAPBSET_DROP, SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
#: In a user namespace, the one user is called this.
NOBODY = 65534
#: Where the scratch folder is. /tmp is a link to it, unless this Python itself lies in /tmp.
SCRATCH = "/submission"

_X86 = platform.machine() == "x86_64"
_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    """Call a function of the C library, and raise OSError where it fails."""
    result = getattr(_libc, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return int(result)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    texts = [each and each.encode() for each in (source, target, kind)]
    _call("mount", *texts, ctypes.c_ulong(flags), options.encode())


def _protect(target: str, attributes: int, flags: int = AT_RECURSIVE) -> None:
    """Add attributes to a mount and all below it, and leave those that it has (mount_setattr, Linux 5.12)."""
    wanted = struct.pack("QQQQ", attributes, 0, 0, 0)
    _call("syscall", ctypes.c_long(442), AT_FDCWD, target.encode(), flags, wanted, ctypes.c_size_t(len(wanted)))


def _pivot_root(folder: str, old: str) -> None:
    """Make a mounted folder the root, and put the old root where ``old``, seen from there, says."""
    os.chdir(folder)
    _call("syscall", ctypes.c_long(155 if _X86 else 41), b".", old.encode())


class Jail:
    """The walls around the submissions of one fork server.

    Parameters
    ----------
    limits : Limits

    Attributes
    ----------
    missing : dict
        The promises that cannot be kept here, with the reasons.
    memory_cgroup : bool
        Whether the processes of a submission have a memory limit together; otherwise it is ``address_space`` times
        ``processes``.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.missing: dict[str, str] = {}
        self.memory_cgroup = False
        self._user_namespace = False
        self._uid = 0
        self._inside = False  # in the file system made here
        self._cgroup: Path | None = None
        self._kills = -1  # the file that counts the processes killed for memory
        self._own_pids = -1
        self._proc = -1  # a /proc that is mounted nowhere

    @contextmanager
    def _promise(self, name: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, AttributeError) as error:  # AttributeError: no such function in this C library
            self.missing.setdefault(name, str(error))

    # Once

    def begin(self) -> None:
        """Go on as the first process of a PID namespace, while the one that called this waits, and ends with it."""
        self._uid = _unused_uid()
        with self._promise("processes"):
            try:
                if not self._uid:
                    raise PermissionError
                _call("unshare", NEWPID)
            except PermissionError:
                user, group = os.geteuid(), os.getegid()
                _call("unshare", NEWUSER)
                Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
                Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1", encoding="ascii")
                Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1", encoding="ascii")
                self._user_namespace = True
                _call("unshare", NEWPID)
        with suppress(OSError):
            self._make_cgroup()
        server = os.fork()
        if server:
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            status = os.waitpid(server, 0)[1]
            if self._cgroup:
                with suppress(OSError):
                    self._cgroup.rmdir()
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
        _call("prctl", SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    def enter(self, hidden: Collection[str]) -> None:
        """Leave the file system, the network, and what else all processes of a computer share.

        Parameters
        ----------
        hidden : collection of str
            Folders that stay empty even where they lie among Python's own, as an installed package does.
        """
        if self._cgroup:  # from here on, with all its children: to move each one takes milliseconds
            with suppress(OSError):
                (self._cgroup / "cgroup.procs").write_text("0", encoding="ascii")
                self.memory_cgroup = True
        with self._promise("network"):
            _call("unshare", NEWNET)
        with self._promise("shared memory"):
            _call("unshare", NEWIPC)
        with self._promise("processes"):
            self._own_pids = os.pidfd_open(os.getpid())
        with self._promise("file system"):
            os.umask(0o022)
            needed, hidden = _python_needs(), [os.path.realpath(each) for each in hidden]
            _call("unshare", NEWNS | NEWUTS)
            _mount("none", "/", None, MS_REC | MS_PRIVATE)
            _mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755")
            try:
                os.mkdir("/tmp/new")
                os.mkdir("/tmp/old")
                _pivot_root("/tmp", "old")  # now /old/tmp is what /tmp was
                _mount("tmpfs", "/new", "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755")
                _furnish("/old", "/new", needed, hidden)
            except OSError:
                if os.path.isdir("/old/tmp"):
                    _pivot_root("/old", "tmp")
                _call("umount2", b"/tmp", MNT_DETACH)  # all is as it was
                raise
            _pivot_root("/new", ".")  # the old root lies on the new one
            _call("umount2", b".", MNT_DETACH)
            os.chdir("/")
            self._inside = True
            _call("sethostname", b"student", ctypes.c_size_t(7))
            with suppress(OSError):  # a container may forbid it; what it is for, shut_in says
                _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV)
                self._proc = os.open("/proc", os.O_RDONLY)
                _call("umount2", b"/proc", MNT_DETACH)
            _mount("tmpfs", SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m")

    # For each submission

    def fork(self) -> int:
        """Fork a child that is the first process of a new PID namespace."""
        if "processes" in self.missing:
            return os.fork()
        _call("unshare", NEWPID)  # for its children; it stays where it is
        child = -1
        try:
            child = os.fork()
        finally:
            if child:  # not in the child
                _call("setns", self._own_pids, NEWPID)  # a second "unshare" is only allowed from there
        return child

    def shut_in(self) -> None:
        """Give up, in a child, all that a student's code must not have. What fails goes into ``missing``."""
        uid = NOBODY if self._user_namespace else self._uid
        if self._proc >= 0:  # where memory runs out, this process is to go, and not the fork server
            adjust = os.open("self/oom_score_adj", os.O_WRONLY, dir_fd=self._proc)
            os.write(adjust, b"1000")
            os.close(adjust)
            os.close(self._proc)
        with self._promise("shared memory"):
            _call("unshare", NEWIPC)
        with self._promise("file system"):
            if not self._inside:
                raise OSError(self.missing["file system"])
            _call("unshare", NEWNS)
            size = f"size={self.limits.scratch},nr_inodes={self.limits.scratch_files}"
            _mount("tmpfs", SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV, f"{size},mode=700,uid={uid},gid={uid}")
            os.chdir(SCRATCH)
        with self._promise("limits"):
            self._set_limits()
        with self._promise("user"):
            self._drop_privileges(uid)
        with self._promise("system calls"):
            _call("prctl", SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            _refuse_system_calls()
        with self._promise("processes"):
            os.setsid()
            _call("prctl", SET_DUMPABLE, 0, 0, 0, 0)
            if "processes" in self.missing:  # else the kernel sees to it
                _call("prctl", SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    def killed_for_memory(self) -> int:
        """How many processes the kernel killed since the beginning, because the memory limit was reached."""
        if self._kills < 0:
            return 0
        lines = os.pread(self._kills, 4096, 0).decode("ascii").splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def _set_limits(self) -> None:
        values = {
            "AS": self.limits.address_space,
            "NPROC": self.limits.processes,
            "CPU": self.limits.cpu_seconds,
            "FSIZE": self.limits.file_size,
            "NOFILE": self.limits.open_files,
            "STACK": 8 << 20,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
            "SIGPENDING": 256,
            "RTPRIO": 0,
            "NICE": 0,
        }
        for name, value in values.items():
            kind = getattr(resource, f"RLIMIT_{name}")
            highest = resource.getrlimit(kind)[1]
            if highest != resource.RLIM_INFINITY:
                value = min(value, highest)
            resource.setrlimit(kind, (value, value))

    def _drop_privileges(self, uid: int) -> None:
        for capability in range(64):
            try:
                _call("prctl", CAPBSET_DROP, capability, 0, 0, 0)
            except OSError as error:
                if error.errno == errno.EINVAL:  # the last one was the last
                    break
                raise
        if not self._user_namespace:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
        _call("capset", header, nothing)
        if os.getresuid() != (uid, uid, uid):
            raise OSError(errno.EPERM, "the user id did not change")

    def _make_cgroup(self) -> None:
        """Make a control group with a memory limit: in this process's own, or above it, wherever that is allowed."""
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, kinds, own = line.split(":", 2)
            first = "memory" in kinds.split(",")
            if not (first or kinds == ""):
                continue
            top = Path("/sys/fs/cgroup/memory" if first else "/sys/fs/cgroup")
            places = [top / own.lstrip("/"), *(top / own.lstrip("/")).parents]
            for place in places[: places.index(top) + 1]:
                group = place / f"autograder-{os.getpid()}"
                try:
                    _remove_left_behind(place)
                    group.mkdir()
                    for name in ("limit_in_bytes", "memsw.limit_in_bytes") if first else ("max", "swap.max"):
                        file = group / f"memory.{name}"
                        if "sw" not in name or file.exists():  # not every kernel counts swapped memory
                            with file.open("r+", encoding="ascii") as opened:  # "w" would try to make it
                                opened.write(str(0 if name == "swap.max" else self.limits.memory))
                    self._kills = os.open(group / ("memory.oom_control" if first else "memory.events"), os.O_RDONLY)
                except OSError:
                    with suppress(OSError):
                        group.rmdir()
                else:
                    self._cgroup = group
                    return


def _remove_left_behind(place: Path) -> None:
    """Remove the control groups of fork servers that were killed."""
    for group in place.glob("autograder-*"):
        if not Path("/proc", group.name.removeprefix("autograder-")).exists():
            with suppress(OSError):
                group.rmdir()


def _unused_uid() -> int:
    """A user id that no other process has; 0 where there are none to choose from."""
    try:
        ranges = [line.split() for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()]
    except OSError:
        return 0
    highest = max(int(start) + int(count) - 1 for start, _, count in ranges)
    if highest > 2_100_000_000:  # far from all that is handed out, and a process has an id below 2**22
        return 2_000_000_000 + os.getpid()
    return 20_000 + os.getpid() % 40_000 if highest >= 65_535 else 0  # in a container


# The file system


def _python_needs() -> dict[str, str]:
    """The files and folders without which this Python does not run, and where they really are.

    What is in a folder comes after the folder.
    """
    paths = {f"{top}/{name}" for top in ("", "/usr") for name in ("bin", "lib", "lib32", "lib64")}
    paths |= {"/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/alternatives"}
    for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix):
        paths |= {f"{prefix}/{name}" for name in ("bin", "lib", "lib64", "pyvenv.cfg")}
    paths |= {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths |= {path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")}
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        loaded = ["/" + line.rstrip("\n").partition("/")[2] for line in maps if "/" in line]
    paths |= {os.path.dirname(path) for path in loaded if ".so" in os.path.basename(path)}
    paths |= {os.path.realpath(path) for path in paths}
    return {path: os.path.realpath(path) for path in sorted(paths) if os.path.exists(path)}


def _furnish(old: str, new: str, needed: dict[str, str], hidden: Collection[str]) -> None:
    """Put into an empty root what is needed of the old one, read-only, and the little that every program expects."""
    done: set[str] = set()
    for path, really in needed.items():
        if not done.isdisjoint(map(str, Path(path).parents)):
            continue
        done.add(path)
        os.makedirs(new + os.path.dirname(path), exist_ok=True)
        if os.path.islink(old + path):
            os.symlink(os.readlink(old + path), new + path)  # such as /lib; what it points to is needed, too
            continue
        if os.path.isdir(old + path):
            os.makedirs(new + path, exist_ok=True)
        else:
            open(new + path, "xb").close()
        _mount(old + really, new + path, None, MS_BIND | MS_REC)
        _protect(new + path, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV)
        for folder in hidden:
            if folder.startswith(really + "/") and os.path.isdir(old + folder):
                covered = new + path + folder.removeprefix(really)
                _mount("tmpfs", covered, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,mode=555")
                _protect(covered, ATTR_RDONLY)
    for folder in ("/dev", "/etc", "/proc", SCRATCH):
        os.makedirs(new + folder, exist_ok=True)
    if not os.path.exists(new + "/tmp"):
        os.symlink(SCRATCH, new + "/tmp")
    for device in ("null", "zero", "full", "random", "urandom"):
        open(f"{new}/dev/{device}", "xb").close()
        _mount(f"{old}/dev/{device}", f"{new}/dev/{device}", None, MS_BIND)
        _protect(f"{new}/dev/{device}", ATTR_NOSUID)
    os.symlink(SCRATCH, new + "/dev/shm")  # Python's multiprocessing keeps its locks there
    _protect(new, ATTR_RDONLY, 0)


# System calls

#: Numbers of system calls that are refused, on x86_64 and on aarch64; None where there is no such call.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    # look into, or take from, another process
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    # namespaces, mounts, files by handle
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "statmount": (457, 457), "listmount": (458, 458),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "fanotify_init": (300, 262),
    # keys are shared by all processes of a login
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # memory that no limit of a process counts
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "semget": (64, 190),
    "msgget": (68, 186), "mq_open": (240, 180),
    # large parts of the kernel that a notebook has no use for
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "personality": (135, 92),
    "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None), "vmsplice": (278, 75),
    # the computer's own affairs
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443), "syslog": (103, 116),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171), "vhangup": (153, 58),
}  # fmt: skip
#: The first number that is too new to be known here; the few that a C library tries have older ones to fall back on.
UNKNOWN = 463


class _Filter(ctypes.Structure):
    """A struct sock_fprog: a count of instructions, and where they are."""

    _fields_ = [("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def _refuse_system_calls() -> None:
    """Make the kernel answer EPERM to what a notebook has no use for, for good, in this process and its children."""
    machine = platform.machine()
    if machine not in ("x86_64", "aarch64") or sys.maxsize < 2**32:
        raise OSError(errno.ENOSYS, f"no numbers of system calls are known for {machine}")
    column = 0 if _X86 else 1
    architecture = 0xC000003E if _X86 else 0xC00000B7
    clone, socket = ((56, 41), (220, 198))[column]
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06  # operations of classic BPF
    allow, refuse, unknown = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
    # Each: operation, how many to skip if it holds, how many if not, value. Loaded are struct seccomp_data's
    # architecture (at 4), number (0), and the lower half of the first argument (16).
    program = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, refuse), (load, 0, 0, 0)]
    program += [(at_least, 0, 1, UNKNOWN), (give, 0, 0, unknown)]  # also those of x32, which have a high bit
    program += [(equal, 0, 1, 435), (give, 0, 0, unknown)]  # clone3 hides its flags; libraries then call clone
    for numbers in REFUSED.values():
        if (number := numbers[column]) is not None:
            program += [(equal, 0, 1, number), (give, 0, 0, refuse)]
    program += [(equal, 0, 4, clone), (load, 0, 0, 16), (any_bit, 0, 1, ANY_NAMESPACE), (give, 0, 0, refuse)]
    program += [(give, 0, 0, allow)]
    families = (1, 2, 10)  # Unix, IPv4, IPv6: they stay in the network namespace; others, such as vsock, do not
    program += [(equal, 0, 5, socket), (load, 0, 0, 16), *((equal, 3 - n, 0, each) for n, each in enumerate(families))]
    program += [(give, 0, 0, refuse), (give, 0, 0, allow)]
    packed = b"".join(struct.pack("HBBI", *each) for each in program)
    whole = _Filter(len(program), packed)
    _call("prctl", SET_SECCOMP, 2, ctypes.byref(whole), 0, 0)
