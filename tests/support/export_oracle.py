# SPDX-License-Identifier: BSD-2-Clause
"""Readers of what `heapinspect export` writes that know nothing of heapinspect.

export_oracle.py DIRECTORY: x.heapsnapshot, x.csv (objects), edges.csv, roots.csv,
x.ndjson, x.folded, x.speedscope, x.dot, x.prometheus, live.json (the summary). Retained
sizes are computed again from the .heapsnapshot, by another algorithm than ours.
"""
import csv
import json
import os
import re
import sqlite3
import sys

WEAK, SYNTHETIC = 6, 9


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def dominators(n, successors):
    """Cooper, Harvey and Kennedy: iterate over the reverse postorder."""
    order, state, stack = [], bytearray(n), [(0, iter(successors[0]))]
    state[0] = 1
    while stack:
        node, rest = stack[-1]
        for to in rest:
            if not state[to]:
                state[to] = 1
                stack.append((to, iter(successors[to])))
                break
        else:
            order.append(node)
            stack.pop()
    order.reverse()
    number = {node: i for i, node in enumerate(order)}
    before = [[] for _ in order]
    for node in order:
        for to in successors[node]:
            before[number[to]].append(number[node])
    idom = [None] * len(order)
    idom[0] = 0
    changed = True
    while changed:
        changed = False
        for i in range(1, len(order)):
            new = None
            for p in before[i]:
                if idom[p] is None:
                    continue
                if new is None:
                    new = p
                    continue
                a, b = p, new
                while a != b:
                    while a > b:
                        a = idom[a]
                    while b > a:
                        b = idom[b]
                new = a
            if idom[i] != new:
                idom[i], changed = new, True
    return order, idom


def check_heapsnapshot(directory, live):
    with open(os.path.join(directory, "x.heapsnapshot"), encoding="utf-8") as f:
        doc = json.load(f)
    meta, nodes, edges = doc["snapshot"]["meta"], doc["nodes"], doc["edges"]
    width = len(meta["node_fields"])
    assert width == 7 and meta["edge_fields"] == ["type", "name_or_index", "to_node"]
    n, m = doc["snapshot"]["node_count"], doc["snapshot"]["edge_count"]
    assert len(nodes) == n * width and len(edges) == 3 * m, (len(nodes), n, len(edges), m)
    ids = nodes[2::width]
    assert len(set(ids)) == n and all(i % 2 == 1 for i in ids)
    assert sum(nodes[4::width]) == m
    assert all(0 <= s < len(doc["strings"]) for s in nodes[1::width] + edges[1::3])
    assert all(t % width == 0 and t < n * width for t in edges[2::3])
    assert all(0 <= s < 2**32 for s in nodes[3::width])
    successors, at, weak = [], 0, 0
    for i in range(n):
        out = []
        for _ in range(nodes[i * width + 4]):
            if edges[3 * at] == WEAK:
                weak += 1
            else:
                out.append(edges[3 * at + 2] // width)
            at += 1
        successors.append(out)
    assert all(nodes[to * width] == SYNTHETIC for to in successors[0])
    order, idom = dominators(n, successors)
    retained = [nodes[node * width + 3] for node in order]
    for i in range(len(order) - 1, 0, -1):
        retained[idom[i]] += retained[i]
    of_node = {node: retained[i] for i, node in enumerate(order)}
    objects = read_csv(os.path.join(directory, "x.csv"))
    first = n - len(objects)
    checked = 0
    for row in objects:
        node = first + int(row["id"])
        name = doc["strings"][nodes[node * width + 1]]
        assert name == (row["type"] or "(untyped)"), (name, row)
        if row["state"] == "live":
            assert of_node[node] == int(row["retained"]), (row, of_node[node])
            checked += 1
        if row["state"] != "internal":
            assert node in of_node, row
    assert checked == live["objects"]["live"] > 1000
    return "%d retained sizes are the same, %d weak edges" % (checked, weak)


def check_tables(directory, live):
    objects = read_csv(os.path.join(directory, "x.csv"))
    assert sum(int(o["shallow"]) for o in objects if o["state"] == "live") == \
        live["bytes"]["live"]
    assert sum(int(o["shallow"]) for o in objects if o["state"] == "leak") == \
        live["bytes"]["leak"] + live["bytes"]["likely"]
    with open(os.path.join(directory, "x.ndjson"), encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    assert len(lines) == len(objects)
    for line, row in zip(lines, objects):
        assert list(line) == list(row)
        for key, value in line.items():
            assert row[key] == ("" if value is None else str(value)), (key, value, row)
    edges = read_csv(os.path.join(directory, "edges.csv"))
    roots = read_csv(os.path.join(directory, "roots.csv"))
    nodes = len(objects) + len(roots)
    assert all(int(e["source"]) < nodes and int(e["target"]) < len(objects) for e in edges)
    return "%d objects, %d edges" % (len(objects), len(edges))


def check_stacks(directory, live):
    folded = {}
    with open(os.path.join(directory, "x.folded"), encoding="utf-8") as f:
        for line in f:
            stack, _, n = line.rstrip("\n").rpartition(" ")
            assert all(stack.split(";")), line
            folded[stack] = folded.get(stack, 0) + int(n)
    assert sum(folded.values()) == live["bytes"]["live"]
    with open(os.path.join(directory, "x.speedscope"), encoding="utf-8") as f:
        doc = json.load(f)
    assert doc["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    profile, frames = doc["profiles"][0], doc["shared"]["frames"]
    assert (profile["type"], profile["unit"]) == ("sampled", "bytes")
    assert len(profile["samples"]) == len(profile["weights"])
    assert profile["endValue"] == sum(profile["weights"]) == live["bytes"]["live"]
    again = {}
    for sample, weight in zip(profile["samples"], profile["weights"]):
        stack = ";".join(frames[i]["name"].replace(";", ":") for i in sample)
        again[stack] = again.get(stack, 0) + weight
    assert again == folded
    # How the program refers to them stands before their types.
    assert any(re.search(r";(->|\.)[A-Za-z_]\w*: ", stack) for stack in folded), stack
    return "%d stacks" % len(folded)


def check_dot(directory, live):
    known, tree = set(), 0
    with open(os.path.join(directory, "x.dot"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    assert lines[0] == "digraph heap {" and lines[-1] == "}"
    for line in lines[3:-1]:
        label = re.fullmatch(r'(n\d+) \[label="((?:[^"\\]|\\.)+)\\n[^"\\]+"\];', line)
        edge = re.fullmatch(r"(n\d+) -> (n\d+);", line)
        assert label or edge, line
        if label:
            known.add(label.group(1))
        else:
            assert edge.group(1) in known and edge.group(2) in known, line
            tree += 1
    assert tree == len(known) - 1 > 5
    return "%d nodes" % len(known)


def check_prometheus(directory, live):
    """The text format, strictly: https://prometheus.io/docs/instrumenting/exposition_formats/
    HELP and TYPE before the samples, no sample twice, nothing that changes by itself."""
    samples, types, now = {}, {}, None
    label = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
    sample = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(%s(?:,%s)*)\})? (\d+)' % (
        label.replace("(", "(?:").replace("(?:?:", "(?:"),
        label.replace("(", "(?:").replace("(?:?:", "(?:")))
    with open(os.path.join(directory, "x.prometheus"), encoding="utf-8") as f:
        text = f.read()
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# TYPE "):
            now, kind = line[7:].split(" ")
            assert kind == "gauge" and now not in types
            types[now] = kind
            continue
        if line.startswith("# HELP "):
            continue
        found = sample.fullmatch(line)
        assert found, line
        labels = re.findall(label, found.group(2) or "")
        names = [name for name, _ in labels]
        assert len(set(names)) == len(names), line
        by_type = ["type", "module"] if now.startswith("heapinspect_type_") else []
        assert names == ["exe", "pid"] + by_type, line
        key = (found.group(1), tuple(labels))
        assert found.group(1) == now and key not in samples, line
        samples[key] = int(found.group(3))
    assert [n for (name, _), n in samples.items() if name == "heapinspect_live_bytes"] == \
        [live["bytes"]["live"]]
    assert sum(n for (name, _), n in samples.items()
               if name == "heapinspect_type_bytes") == live["bytes"]["live"]
    return "%d samples" % len(samples)


def check_sqlite(directory, live):
    """Python's own SQLite: whole, indexed, and the same sums."""
    db = sqlite3.connect(os.path.join(directory, "x.sqlite"))
    ask = lambda sql: db.execute(sql).fetchall()
    assert ask("PRAGMA integrity_check") == [("ok",)]
    for state, keys in (("live", ["live"]), ("leak", ["leak", "likely"])):
        assert ask("SELECT count(*), sum(shallow) FROM objects WHERE state = '%s'" % state) == \
            [(sum(live["objects"][k] for k in keys), sum(live["bytes"][k] for k in keys))]
    with open(os.path.join(directory, "tables.txt"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    # What `query` lists: a table at the margin, its columns below it.
    table, columns = None, {}
    for line in lines:
        if re.match(r"[a-z_]+  ", line):
            table = line.split()[0]
            columns[table] = []
        elif re.match(r"  [a-z_]+( |$)", line) and table:
            columns[table].append(line.split()[0])
    for name in ("objects", "edges", "types", "roots", "dominators", "ledger", "censuses"):
        here = [row[1] for row in ask("PRAGMA table_info(%s)" % name)]
        assert set(here) == set(columns[name]) and here, (name, here, columns[name])
    assert ask("SELECT count(*) FROM edges LEFT JOIN objects o ON o.id = edges.target "
               "WHERE o.id IS NULL") == [(0,)]
    assert ask("SELECT sum(retained) FROM dominators WHERE idom IS NULL") == \
        [(live["bytes"]["live"],)]
    for sql in ("SELECT * FROM edges WHERE target = 1", "SELECT * FROM edges WHERE source = 1",
                "SELECT * FROM objects WHERE address = 1",
                "SELECT * FROM dominators WHERE idom = 1"):
        plan = ask("EXPLAIN QUERY PLAN " + sql)[0][3]
        assert "USING INDEX" in plan, plan
    return "%d edges" % ask("SELECT count(*) FROM edges")[0]


def main():
    directory = sys.argv[1]
    with open(os.path.join(directory, "live.json"), encoding="utf-8") as f:
        live = json.load(f)
    for check in (check_heapsnapshot, check_tables, check_stacks, check_dot, check_sqlite,
                  check_prometheus):
        print(check.__name__, check(directory, live))


main()
