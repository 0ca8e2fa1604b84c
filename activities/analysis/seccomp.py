"""A seccomp filter for the sandbox: no new processes, and no system calls that reach for the kernel's rarer
parts.

`bwrap --seccomp` reads it as an array of `struct sock_filter`
(https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html). Threads are allowed (`clone` with
CLONE_THREAD), other processes are not: with one process its memory limit is the limit of the whole sandbox.
`clone3` answers ENOSYS, so that libc falls back to `clone`, whose flags a filter can read.
"""

import errno
import platform
import struct

_LOAD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in `struct seccomp_data`; the lower half of the first argument on little-endian machines."""
_CLONE_THREAD = 0x00010000
_X32 = 0x40000000
"""Bit of the numbers of x86-64's second set of system calls."""

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""linux/audit.h"""
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_FORKS = {"x86_64": (57, 58), "aarch64": ()}
"""fork, vfork."""
_OTHERS = {
    "ptrace": (101, 117),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "unshare": (272, 97),
    "setns": (308, 268),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "socket": (41, 198),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "mq_open": (240, 180),
}
"""Numbers on x86-64 and on ARM64."""
_NEW = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442)
"""io_uring and the newer calls for mounting and for other processes' files: the same numbers everywhere."""


def supported() -> bool:
    return platform.machine() in _AUDIT_ARCH


def program() -> bytes:
    machine = platform.machine()
    steps = [
        _step(_LOAD, _ARCH),
        _step(_JUMP_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [_step(_JUMP_SET, _X32, 0, 1), _step(_RETURN, _KILL)]
    steps += [_step(_JUMP_EQUAL, _CLONE3, 0, 1), _step(_RETURN, _ERROR | errno.ENOSYS)]
    place = list(_AUDIT_ARCH).index(machine)
    for number in (*_FORKS[machine], *(numbers[place] for numbers in _OTHERS.values()), *_NEW):
        steps += [_step(_JUMP_EQUAL, number, 0, 1), _step(_RETURN, _ERROR | errno.EPERM)]
    steps += [
        _step(_JUMP_EQUAL, _CLONE[machine], 0, 3),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_JUMP_SET, _CLONE_THREAD, 1, 0),
        _step(_RETURN, _ERROR | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
