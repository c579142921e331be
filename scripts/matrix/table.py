# SPDX-License-Identifier: BSD-2-Clause
"""python3 scripts/matrix/table.py FOLDER: prints docs/MATRIX.md, of the outcomes that
scripts/test-matrix left in that folder: SUITE.tsv and kernels.md."""
import os
import sys

SUITES = {
    "bullseye": "Debian 11",
    "bookworm": "Debian 12",
    "trixie": "Debian 13",
    "sid": "Debian sid",
}
SECTIONS = {
    "of": ("What was tried", "of Debian's packages"),
    "outside": ("From outside, as root", "heapinspect of this machine"),
    "inside": ("Inside, as the program's own user", "the portable program, without privileges"),
}
HEAD = """# Where it was tried

Made by `scripts/test-matrix`; not written by hand. It makes roots of these distributions, starts their own programs there, as a user without privileges, and asks questions whose answers the programs know: what they count themselves, what their allocator counts, and what was planted. *not there*: the distribution has no such package or function.
"""
KERNELS = """
## Kernels

The kernels of Debian 11, 12, 12's backports and sid, booted by `scripts/test-kernels` in a machine without KVM, {date}. What the rows mean, and what is used where a kernel lacks something: [kernels](KERNELS.md).
"""


def read_column(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {(section, question): outcome for section, question, outcome in rows}


def shown(outcome):
    return outcome.replace("not ok", "**not ok**", 1) if outcome.startswith("not ok") else outcome


def print_section(section, columns):
    title, of_what = SECTIONS[section]
    questions = {}
    for column in columns.values():
        questions.update({q: None for s, q in column if s == section})
    if not questions:
        return
    print(f"\n## {title}\n\n| {of_what} |", *(f"{SUITES[s]} |" for s in columns))
    print("|---|" + "---|" * len(columns))
    for question in questions:
        cells = (shown(column.get((section, question), "not tried")) for column in columns.values())
        print(f"| {question} |", *(f"{cell} |" for cell in cells))


def main():
    folder = sys.argv[1]
    files = {suite: os.path.join(folder, f"{suite}.tsv") for suite in SUITES}
    columns = {s: read_column(path) for s, path in files.items() if os.path.exists(path)}
    print(HEAD, end="")
    for section in SECTIONS:
        print_section(section, columns)
    kernels = os.path.join(folder, "kernels.md")
    if os.path.exists(kernels):
        with open(kernels, encoding="utf-8") as file:
            date, table = file.read().split("\n", 1)
        print(KERNELS.format(date=date))
        print(table.replace("FAILED", "**not ok**"), end="")


main()
