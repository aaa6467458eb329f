"""Become root, or own a program that makes others root."""

import os
import shutil

from evidence import LIBC, checked, conclude, in_child


def root_program():
    shutil.copyfile("/usr/bin/env", "root")
    try:
        os.chown("root", 0, 0)
        os.chmod("root", 0o4755)
        return os.stat("root").st_uid == 0
    finally:
        os.unlink("root")


def all_rights():
    header, wanted = (
        (b"\x22\x05\x08\x20" + bytes(4)),
        b"\xff\xff\xff\xff" * 2 + bytes(4),
    )
    checked(LIBC.capset(header, wanted + wanted))


conclude(
    {
        "setuid": lambda: in_child(lambda: os.setuid(0)),
        "setgid": lambda: in_child(lambda: os.setgid(0)),
        "setgroups": lambda: in_child(lambda: os.setgroups([0])),
        "capabilities": lambda: in_child(all_rights),
        "a set-uid program": root_program,
        "read the shadow file": lambda: open("/etc/shadow").close(),
    }
)
