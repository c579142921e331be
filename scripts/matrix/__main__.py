# SPDX-License-Identifier: BSD-2-Clause
"""python3 scripts/matrix ROOT SUITE HEAPINSPECT FILE: asks the questions in that root,
of that heapinspect and of /heapinspect in the root, and writes the outcomes."""
import datetime
import os
import subprocess
import sys

import allocators
import compiled
import runtimes
import services
from cells import Cells
from root import Look, Root

OUTSIDE = "outside"
INSIDE = "inside"


PACKAGES = (
    "libc6", "gcc", "libjemalloc2", "libtcmalloc-minimal4", "libtcmalloc-minimal4t64",
    "libmimalloc2.0", "libmimalloc3", "musl", "python3", "redis-server", "memcached", "nginx",
    "postgresql", "lua5.4", "ruby", "nodejs", "default-jdk-headless",
)


def note_versions(root, cells):
    """What the column is about: packages, as dpkg knows them."""
    shown = subprocess.run(
        root.command("/usr/bin/dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES),
        env=root.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
    ).stdout
    versions = dict(line.split(" ", 1) for line in shown.splitlines() if line.count(" ") == 1)
    for package in PACKAGES:
        cells.outcomes["of", package] = versions.get(package) or "not there"


def main():
    path, suite, heapinspect, file = sys.argv[1:]
    root = Root(path)
    looks = [
        Look(OUTSIDE, [heapinspect]),
        Look(INSIDE, root.command("/heapinspect"), root.env),
    ]
    cells = Cells()
    cells.outcomes["of", "tried on"] = datetime.datetime.now(datetime.timezone.utc).strftime("%F")
    cells.outcomes["of", "kernel of the host"] = os.uname().release
    note_versions(root, cells)
    version = root.run("/usr/bin/getconf", "GNU_LIBC_VERSION").split()[-1]
    compiled.ask(root, looks, cells, version)
    allocators.ask(root, looks, cells)
    services.ask(root, looks, cells, version)
    runtimes.ask(root, looks, cells, version)
    cells.write(file)
    sys.exit(any(o.startswith("not ok") for o in cells.outcomes.values()))


main()
