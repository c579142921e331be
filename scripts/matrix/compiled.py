# SPDX-License-Identifier: BSD-2-Clause
"""Programs that the distribution's own compilers make of our fixtures."""
from cells import check
from root import PLACE
from summaries import (
    check_counts,
    check_glibc,
    check_known,
    check_ledger,
    ledger_bytes,
    rows_of_leaks,
)

C_COUNTS = "gcc: counts by type, as the program prints them"
C_LEAKS = "gcc: planted leaks, single, chains and rings"
C_HEAP = "gcc: glibc's version and the ledger, with four threads"
C_ALIVE = "gcc: the program lives on"
CXX_COUNTS = "g++: counts by type, as the program prints them"
CXX_LEAKS = "g++: planted leaks, one type by its vtable"
CXX_MALLINFO = "glibc: mallinfo, to the byte"
# Chunks that malloc gave away, its own thread cache's, and what aligns the first one.
MALLINFO = ("live", "leak", "free_tcache", "allocator", "fragmentation")
CXX_ALIVE = "g++: the program answers afterwards"


def compile_in(root, compiler, source, name):
    root.run(root.need(compiler), "-O0", "-g", "-pthread", "-o", f"{PLACE}/{name}", f"/{source}")
    return f"{PLACE}/{name}"


def check_service_leaks(document):
    """What fixtures/leaky_service.c plants."""
    rows = {(row["shape"], "".join(row.get("fits", []))): row for row in rows_of_leaks(document)}
    for shape, name, count, objects in (
        ("single", "struct request", 300, 300),
        ("chain", "struct job", 40, 1000),
        ("cycle", "struct node", 60, 120),
    ):
        row = rows.get((shape, name), {"count": 0, "objects": 0})
        check(
            (row["count"], row["objects"]) == (count, objects),
            f"{count} leaks of {objects} {name}, {row['count']} of {row['objects']} are reported",
        )
    check(document["objects"]["leak"] == 1420, f"1420 leaked, {document['objects']['leak']} reported")


def ask_c(root, looks, cells, version):
    everywhere = [look.section for look in looks]
    questions = (C_COUNTS, C_LEAKS, C_HEAP, C_ALIVE)
    with cells.asking(everywhere, questions):
        program = compile_in(root, "gcc", "leaky_service.c", "leaky_service")
        with root.running(program) as service:
            said = [line.split() for line in service.until("ready")]
            truth = {f"struct {w[1][:-1]}": int(w[2]) for w in said if w[0] == "struct"}
            for look in looks:
                with cells.asking([look.section], questions):
                    document = look.summary(service.pid)
                    with cells.asking([look.section], [C_COUNTS]):
                        check(len(truth) == 2, f"the program says {said}")
                        check_counts(document, truth)
                    with cells.asking([look.section], [C_LEAKS]):
                        check_service_leaks(document)
                    with cells.asking([look.section], [C_HEAP]):
                        check_glibc(document, version)
                        check_known(document)
                        check_ledger(document)
                        check(document["snapshot"]["threads"] == 4, "4 threads")
                    with cells.asking([look.section], [C_ALIVE]):
                        check(service.process.poll() is None, "it has ended")
                        with open(f"/proc/{service.pid}/status", encoding="utf-8") as status:
                            check("TracerPid:\t0\n" in status.read(), "it is still traced")


def ask_cxx(root, looks, cells):
    everywhere = [look.section for look in looks]
    questions = (CXX_COUNTS, CXX_LEAKS, CXX_MALLINFO, CXX_ALIVE)
    with cells.asking(everywhere, questions):
        program = compile_in(root, "g++", "distribution_heap.cc", "distribution_heap")
        with root.running(program) as heap:
            said = [line.split() for line in heap.until("ready")]
            live = {w[2]: int(w[1]) for w in said if w[0] == "live"}
            malloc = sum(int(w[1]) for w in said if w[0] in ("chunks", "mapped"))
            for look in looks:
                with cells.asking([look.section], questions):
                    document = look.summary(heap.pid)
                    with cells.asking([look.section], [CXX_COUNTS]):
                        check(len(live) > 1, f"the program says {said}")
                        check_counts(document, live)
                    with cells.asking([look.section], [CXX_LEAKS]):
                        check_leaks_of_heap(document)
                    with cells.asking([look.section], [CXX_MALLINFO]):
                        seen = sum(ledger_bytes(document, key) for key in MALLINFO)
                        check(seen == malloc, f"{malloc} bytes by mallinfo, {seen} are reported")
                    with cells.asking([look.section], [CXX_ALIVE]):
                        heap.pong()


def check_leaks_of_heap(document, own=0):
    """What fixtures/distribution_heap.cc plants: chains with a vtable, and plain ones.
    own: leaks that the allocator itself may have."""
    rows = rows_of_leaks(document)
    chains = [r for r in rows if r["type"] == "shop::Savings" and r["shape"] == "chain"]
    seen = (sum(r["count"] for r in chains), sum(r["objects"] for r in chains))
    check(seen == (15, 150), f"15 chains of 150 shop::Savings, {seen[0]} of {seen[1]} are reported")
    leaked = document["objects"]["leak"]
    check(240 <= leaked <= 240 + own, f"240 leaked, {leaked} reported")


def ask(root, looks, cells, version):
    ask_c(root, looks, cells, version)
    ask_cxx(root, looks, cells)
