# SPDX-License-Identifier: BSD-2-Clause
"""The same programs on other allocators of the distribution: preloaded ones, and musl's."""
import glob

from cells import Absent, check
from compiled import check_leaks_of_heap, check_service_leaks, compile_in
from root import PLACE
from summaries import check_counts, check_known, check_ledger

LIBRARIES = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.*",
}
QUESTION = "{}: counts by type, planted leaks, all of its heap"
MUSL = QUESTION.format("musl, linked dynamically")
MUSL_STATIC = QUESTION.format("musl, linked statically")


def find_library(root, pattern):
    folder = root.outside("/usr/lib/x86_64-linux-gnu")
    found = sorted(glob.glob(f"{folder}/{pattern}"))
    if not found:
        raise Absent(pattern)
    return found[0].removeprefix(root.path)


def check_allocator(document, name):
    """Blocks that came before a preloaded one may be glibc's."""
    seen = {a["name"]: a for a in document["allocators"]}
    said = document["heap"]["not_decoded"] or ", ".join(seen) or "none"
    check(name in seen, f"{name} is reported as {said}")
    check(seen[name]["refused"] is None, f"its heap is refused: {seen[name]['refused']}")
    check_known(document)
    check_ledger(document)


def ask_preloaded(root, looks, cells, name, pattern):
    question = QUESTION.format(name)
    with cells.asking([look.section for look in looks], [question]):
        library = find_library(root, pattern)
        program = compile_in(root, "g++", "distribution_heap.cc", "distribution_heap")
        with root.running("/usr/bin/env", f"LD_PRELOAD={library}", program) as heap:
            said = [line.split() for line in heap.until("ready")]
            live = {w[2]: int(w[1]) for w in said if w[0] == "live"}
            for look in looks:
                with cells.asking([look.section], [question]):
                    document = look.summary(heap.pid)
                    check_allocator(document, name)
                    check(len(live) > 1, f"the program says {said}")
                    check_counts(document, live)
                    # tcmalloc's first MallocExtension, in whose place another comes.
                    check_leaks_of_heap(document, own=int(name == "tcmalloc"))
                    heap.pong()


def ask_musl(root, looks, cells, question, *options):
    with cells.asking([look.section for look in looks], [question]):
        program = f"{PLACE}/leaky_musl"
        root.run(root.need("musl-gcc"), *options, "-O0", "-g", "-o", program, "/leaky_service.c")
        with root.running(program) as service:
            said = [line.split() for line in service.until("ready")]
            truth = {f"struct {w[1][:-1]}": int(w[2]) for w in said if w[0] == "struct"}
            for look in looks:
                with cells.asking([look.section], [question]):
                    document = look.summary(service.pid)
                    check_allocator(document, "musl")
                    check(len(truth) == 2, f"the program says {said}")
                    check_counts(document, truth)
                    check_service_leaks(document)


def ask(root, looks, cells):
    for name, pattern in LIBRARIES.items():
        ask_preloaded(root, looks, cells, name, pattern)
    ask_musl(root, looks, cells, MUSL)
    # Without free() in it a static program gets a malloc that only counts up.
    ask_musl(root, looks, cells, MUSL_STATIC, "-static", "-Wl,-u,free")
