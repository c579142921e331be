# SPDX-License-Identifier: BSD-2-Clause
"""What `heapinspect --json` says, put beside what a program says of itself."""
from cells import check


def count_of(document, name):
    return sum(row["count"] for row in document["types"] if row["type"] == name)


def check_counts(document, truth):
    """truth: number by type."""
    for name, number in truth.items():
        seen = count_of(document, name)
        check(seen == number, f"{number} of {name}, {seen} are reported")


def rows_of_leaks(document):
    leaks = document["leaks"]
    check(leaks is not None and leaks.get("roots") is not None, "leaks are reported as unknown")
    return leaks["roots"]


def check_ledger(document):
    ledger = document["ledger"]
    rows = [row for row in ledger["rows"] if row["level"] == 0]
    total = sum(row["resident"] for row in rows) + ledger["unknown"]
    check(total == ledger["rss"], f"the ledger adds up to {total} of {ledger['rss']} bytes")


def check_glibc(document, version):
    names = [a["name"] for a in document["allocators"]]
    check("glibc" in names, f"the allocator is reported as {names}, not as glibc")
    seen = document["allocators"][names.index("glibc")]
    check(seen["refused"] is None, f"glibc's heap is refused: {seen['refused']}")
    check(seen["version"] == version, f"glibc {version} is reported as {seen['version']}")


def check_known(document):
    known = document["heap"]
    check(known["known"] == "all", f"a heap is not decoded: {known['not_decoded']}")


def check_partly_known(document, word, text):
    """The heap of a runtime that nobody decodes: it is named, and nothing is said of
    its leaks, in JSON or text."""
    heap = document["heap"]
    check(heap["known"] != "all", "its heap is taken for decoded", text)
    named = (heap["not_decoded"] or "").lower()
    check(word.lower() in named, f"{word} is not named: {named or 'nothing is'}", text)
    leaks = document["leaks"]
    check(leaks is None or leaks.get("bytes") is None, "leaks of it are counted", text)
    first = " ".join(text.split("paused", 1)[0].split())
    check("unknown" in first, "the first sentence does not say that leaks are unknown", text)


def ledger_bytes(document, key):
    return sum(row["virtual"] for row in document["ledger"]["rows"] if row["key"] == key)
