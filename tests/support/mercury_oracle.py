# SPDX-License-Identifier: BSD-2-Clause
"""Data of Mercury's deep profiler by a program that knows nothing of heapinspect, from the
description of the format alone.

mercury_oracle.py read FILE: checks a file and prints what is in it.
mercury_oracle.py write FILE N: N files one behind the other, as if programs had run, and
for each its size and what is in it.

What is in it: program, nodes, edges and cliques (of the folded graph), the sums of all
costs, and the own bytes of each procedure but the root's. Folding here is slow and naive:
classes of nodes, united until nothing changes.
"""
import random
import re
import sys

# Bits of a mask, in the order of their numbers.
BITS = [("calls", 1), ("exits", 2), ("fails", 4), ("redos", 0x40), ("exceptions", 0x80),
        ("quanta", 0x100), ("callseqs", 8), ("allocs", 0x10), ("words", 0x20)]
NORMAL, SPECIAL, HIGHER_ORDER, METHOD, CALLBACK = range(5)
GOAL_PATH = re.compile(rb"(?:(?:[cdo]\d+|s\d+-(?:na|\d+)|[?te~qr=a]|q!);)*")


class Data:
    """ps: id -> (name, file, line, exported, [css]); css: id -> (kind, callee ps, file,
    line, goal path); pd: id -> (ps, [[csd]]); csd: id -> (callee pd, {cost: n})."""

    def __init__(self):
        self.program, self.root, self.word = b"program", 0, 8
        self.ps, self.css, self.pd, self.csd = {}, {}, {}, {}

    def calls(self):
        for pd, (ps, slots) in self.pd.items():
            for css, slot in zip(self.ps[ps][4], slots):
                for csd in slot:
                    if self.csd[csd][0]:
                        yield pd, css, self.csd[csd][0], csd


# ---- the graph ----

def components(nodes, edges):
    """node -> the lowest node that it reaches and that reaches it."""
    reach = {n: {n} for n in nodes}
    for a, b in edges:
        reach[a].add(b)
    for k in nodes:
        for i in nodes:
            if k in reach[i]:
                reach[i] |= reach[k]
    return {n: min(m for m in reach[n] if n in reach[m]) for n in nodes}


def active_callers(data, calls):
    """Pairs of nodes of a procedure, the second of which is below the first for certain."""
    of = components(list(data.pd), [(a, b) for a, _, b, _ in calls])
    entry = {}
    for a, css, b, _ in calls:
        if of[a] != of[b]:
            assert entry.setdefault(of[b], (a, css, b)) == (a, css, b), "two entries"
    for node in data.pd:
        at = of[node]
        while at in entry:
            for above in (entry[at][0], entry[at][2]):
                if data.pd[above][0] == data.pd[node][0]:
                    yield above, node
            at = of[entry[at][0]]


def fold(data):
    """class of each node, edges, number of cliques."""
    calls = list(data.calls())
    reached = {data.root}
    while True:
        more = {b for a, _, b, _ in calls if a in reached} - reached
        if not more:
            break
        reached |= more
    assert reached == set(data.pd), "not reached"
    cls = {n: n for n in data.pd}

    def unite(a, b):
        x, y = sorted((cls[a], cls[b]))
        if x == y:
            return False
        for n in cls:
            if cls[n] == y:
                cls[n] = x
        return True

    for a, b in active_callers(data, calls):
        unite(a, b)
    changed = True
    while changed:
        changed = False
        same = {}
        for a, css, b, _ in calls:
            first = same.setdefault((cls[a], css, data.pd[b][0]), b)
            changed |= unite(first, b)
        of = components(sorted(set(cls.values())),
                        [(cls[a], cls[b]) for a, _, b, _ in calls])
        same = {}
        for n in data.pd:
            first = same.setdefault((of[cls[n]], data.pd[n][0]), n)
            changed |= unite(first, n)
    edges = {(cls[a], css, cls[b]) for a, css, b, _ in calls}
    return cls, edges, len(set(of.values()))


def print_data(data):
    cls, edges, cliques = fold(data)
    print(data.program.decode(), len(set(cls.values())), len(edges), cliques)
    totals, own = dict.fromkeys((name for name, _ in BITS), 0), dict.fromkeys(data.ps, 0)
    for callee, costs in data.csd.values():
        for name, n in costs.items():
            totals[name] += n
        if callee:
            own[data.pd[callee][0]] += costs.get("words", 0) * data.word
    totals["words"] *= data.word
    print(*totals.values())
    print(*[own[ps] for ps in sorted(data.ps) if ps != data.pd[data.root][0]])
    return len(set(cls.values()))


# ---- reading ----

class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def bytes(self, n):
        assert self.at + n <= len(self.data)
        self.at += n
        return self.data[self.at - n:self.at]

    def fixed(self):
        return int.from_bytes(self.bytes(8), "little")

    def num(self):
        value = 0
        while True:
            byte = self.byte()
            value = value << 7 | byte & 0x7f
            if not byte & 0x80:
                return value

    def string(self):
        return self.bytes(self.num())


def put_once(table, key, value):
    assert key not in table
    table[key] = value


def read_costs(r):
    mask = r.num()
    assert mask & 1 == 0, "explicit calls desynchronise Mercury's reader"
    costs = {name: r.num() for name, bit in BITS if mask & bit}
    assert all(costs.values()), "a cost of 0"
    costs["calls"] = (costs.get("exits", 0) + costs.get("fails", 0) +
                      costs.get("exceptions", 0) - costs.get("redos", 0))
    return costs


def read_slot(r):
    if r.byte() == NORMAL:
        return [csd for csd in [r.num()] if csd]
    csds = []
    while r.data[r.at]:
        csds.append(r.num())
    r.byte()
    return csds


def read_node(r, d, token):
    if token == 1:
        css, kind, callee = r.num(), r.byte(), 0
        if kind == NORMAL:
            callee = r.num()
            assert callee
            r.string()
        file, line, path = r.string(), r.num(), r.string()
        assert GOAL_PATH.fullmatch(path), path
        put_once(d.css, css, (kind, callee, file, line, path))
    elif token == 2:
        put_once(d.csd, r.num(), (r.num(), read_costs(r)))
    elif token == 3:
        ps, label = r.num(), r.byte()
        assert label in (0, 1, 2)
        name = [r.string() for _ in range(4 if label == 2 else 3)] + [r.num(), r.num()]
        if label == 2:
            assert name[3] in (b"__Unify__", b"__Compare__", b"__CompareRep__",
                               b"__Index__")
        file, line, exported = r.string(), r.num(), r.byte()
        put_once(d.ps, ps, (name, file, line, exported, [r.num() for _ in range(r.num())]))
    else:
        pd, ps, n = r.num(), r.num(), r.num()
        put_once(d.pd, pd, (ps, [read_slot(r) for _ in range(n)]))


def read_data(path):
    with open(path, "rb") as f:
        r = Reader(f.read())
    assert r.bytes(37) == b"Mercury deep profiler data version 9\n"
    d = Data()
    d.program = r.string()
    assert r.fixed() == 0x108
    counts = [r.fixed() for _ in range(4)]
    ticks, _, quanta, _, d.root = [r.num() for _ in range(5)]
    assert ticks and d.root == 1
    token = r.byte()
    while token:
        assert token <= 4
        read_node(r, d, token)
        token = r.byte()
    assert r.at == len(r.data)
    for table, count in zip((d.csd, d.css, d.pd, d.ps), counts):
        assert sorted(table) == list(range(1, count + 1))
    check_links(d)
    assert sum(costs.get("quanta", 0) for _, costs in d.csd.values()) == quanta
    return d


def check_links(d):
    assert sorted(css for ps in d.ps.values() for css in ps[4]) == sorted(d.css)
    assert sorted(c for _, slots in d.pd.values() for s in slots for c in s) == sorted(d.csd)
    root = d.ps[d.pd[d.root][0]]
    assert root[0][:3] == [b"Mercury runtime"] * 3
    assert [d.css[css][0] for css in root[4]] == [CALLBACK]
    for ps, slots in d.pd.values():
        assert len(slots) == len(d.ps[ps][4])
        for css, slot in zip(d.ps[ps][4], slots):
            kind, callee = d.css[css][:2]
            assert kind != NORMAL or len(slot) <= 1
            for csd in slot:
                assert not callee or d.pd[d.csd[csd][0]][0] == callee


# ---- programs ----

class Program:
    """Runs at random and counts as Mercury's runtime does: a call site keeps the node
    that it led to; else the active node of the callee is taken, but not by a closure or
    a method; else it is a new one."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.data, self.steps = Data(), self.random.randint(0, 60)
        self.active = {}
        self.make_procedures(self.random.randint(1, 6))
        self.ids = {name: self.shuffled(2000) for name in ("pd", "csd")}
        root = self.new_node(self.root_ps)
        self.data.root = root
        self.run(root, 0)

    def shuffled(self, n):
        return self.random.sample(range(1, n + 1), n)

    def make_procedures(self, n):
        d, pick = self.data, self.random.choice
        ids, sites = self.shuffled(n + 1), [1] + [self.random.randint(0, 3)
                                                  for _ in range(n)]
        css_ids = self.shuffled(sum(sites))
        self.root_ps, self.others = ids[0], ids[1:]
        for ps, k in zip(ids, sites):
            own = [css_ids.pop() for _ in range(k)]
            d.ps[ps] = (b"p%d" % ps, b"p%d.m" % ps, ps, ps % 2, own)
            for css in own:
                kind = CALLBACK if ps == self.root_ps else pick(
                    [NORMAL, NORMAL, NORMAL, SPECIAL, HIGHER_ORDER, METHOD])
                d.css[css] = (kind, pick(self.others) if kind == NORMAL else 0,
                              b"p%d.m" % ps, css, b"c%d;s2-na;" % css)

    def new_node(self, ps):
        pd = self.ids["pd"].pop()
        self.data.pd[pd] = (ps, [[] for _ in self.data.ps[ps][4]])
        return pd

    def add_costs(self, csd):
        costs, r = self.data.csd[csd][1], self.random

        def add(name, n):
            if n:
                costs[name] = costs.get(name, 0) + n

        redos, end = r.choice([0, 0, 0, 2]), r.choice(["exits", "fails", "exceptions"])
        add("exits", redos)
        add("redos", redos)
        add(end, 1)
        add("calls", 1)
        add("callseqs", r.randint(0, 300))
        add("allocs", r.choice([0, 1, 200]))
        add("words", r.choice([0, 3, 70000]))
        add("quanta", r.choice([0, 0, 1]))

    def need_call(self, pd, slot, callee):
        """The CSD of this call."""
        d = self.data
        kind = d.css[d.ps[d.pd[pd][0]][4][slot]][0]
        for csd in d.pd[pd][1][slot]:
            if not d.csd[csd][0] or d.pd[d.csd[csd][0]][0] == callee:
                break
        else:
            csd = self.ids["csd"].pop()
            d.pd[pd][1][slot].append(csd)
            d.csd[csd] = (0, {})
            if self.random.random() < 0.1:
                return csd  # prepared, and never made
        if not d.csd[csd][0]:
            known = None if kind in (HIGHER_ORDER, METHOD) else self.active.get(callee)
            d.csd[csd] = (known or self.new_node(callee), d.csd[csd][1])
        return csd

    def run(self, pd, depth):
        d = self.data
        ps, slots = d.pd[pd]
        before, self.active[ps] = self.active.get(ps), pd
        for _ in range(self.random.randint(1, 5)):
            if not slots or self.steps <= 0 or depth > 12:
                break
            slot = self.random.randrange(len(slots))
            callee = d.css[d.ps[ps][4][slot]][1] or self.random.choice(self.others)
            csd = self.need_call(pd, slot, callee)
            self.steps -= 1
            if d.csd[csd][0]:
                self.add_costs(csd)
                self.run(d.csd[csd][0], depth + 1)
        self.active[ps] = before

    def renumber(self):
        """Ids without gaps."""
        d = self.data
        pd = {old: i + 1 for i, old in enumerate(sorted(d.pd))}
        csd = {old: i + 1 for i, old in enumerate(sorted(d.csd))}
        pd[0] = 0
        d.root = pd[d.root]
        d.csd = {csd[k]: (pd[v[0]], v[1]) for k, v in d.csd.items()}
        d.pd = {pd[k]: (ps, [[csd[c] for c in s] for s in slots])
                for k, (ps, slots) in d.pd.items()}


# ---- writing ----

def num(n):
    out = bytes([n & 0x7f])
    while n > 0x7f:
        n >>= 7
        out = bytes([n & 0x7f | 0x80]) + out
    return out


def nums(*numbers):
    return b"".join(num(n) for n in numbers)


def string(text):
    return num(len(text)) + text


def fixed(n):
    return n.to_bytes(8, "little")


def write_points(rng, coverage):
    points = [(b"c%d;" % i, rng.randrange(5), rng.randrange(1000))
              for i in range(rng.randrange(3))]
    return num(len(points)) + b"".join(
        string(path) + (nums(kind, count) if coverage == 1 else num(kind))
        for path, kind, count in points)


def write_ps(d, ps, version, coverage, rng):
    name, file, line, exported, sites = d.ps[ps]
    if ps == d.pd[d.root][0]:
        label = b"\0" + string(b"Mercury runtime") * 3 + nums(0, 0)
    elif ps % 3 == 2:
        label = b"\2" + string(name) + string(b"types") + string(b"module") + \
            string(b"__Compare__") + nums(1, 0)
    else:
        label = bytes([ps % 3]) + string(b"decl") + string(b"def") + string(name) + \
            nums(ps, 1)
    out = b"\3" + num(ps) + label + string(file) + num(line) + bytes([exported]) + \
        nums(len(sites), *sites)
    if coverage:
        out += write_points(rng, coverage)
    return out


def write_css(d, css, version):
    kind, callee, file, line, path = d.css[css]
    out = b"\1" + num(css) + bytes([kind])
    if kind == NORMAL:
        out += num(callee) + string(b"T -> int")
    if version == 9:
        out += string(file)
    return out + num(line) + string(path)


def write_pd(d, pd, coverage, rng):
    ps, slots = d.pd[pd]
    out = b"\4" + nums(pd, ps, len(slots))
    if coverage == 2:
        counts = [rng.randrange(1000) for _ in range(rng.randrange(3))]
        out += nums(len(counts), *counts)
    for css, slot in zip(d.ps[ps][4], slots):
        kind = d.css[css][0]
        out += bytes([kind])
        out += nums(*(slot or [0])) if kind == NORMAL else nums(*slot) + b"\0"
    return out


def write_csd(d, csd, explicit):
    callee, costs = d.csd[csd]
    costs = {name: costs.get(name, 0) for name, _ in BITS if name != "calls" or explicit}
    mask = sum(bit for name, bit in BITS if costs.get(name))
    return b"\2" + nums(csd, callee, mask, *[n for n in costs.values() if n])


def write_data(d, rng):
    version, coverage, explicit = rng.choice([8, 9]), rng.randrange(3), rng.random() < 0.2
    d.word = rng.choice([4, 8])
    nodes = [write_ps(d, ps, version, coverage, rng) for ps in d.ps] + \
        [write_css(d, css, version) for css in d.css] + \
        [write_pd(d, pd, coverage, rng) for pd in d.pd] + \
        [write_csd(d, csd, explicit) for csd in d.csd]
    rng.shuffle(nodes)
    quanta = sum(costs.get("quanta", 0) for _, costs in d.csd.values())
    return b"Mercury deep profiler data version %d\n" % version + string(d.program) + \
        fixed(d.word | rng.choice([0, 0x100]) | coverage << 12) + \
        b"".join(fixed(len(t)) for t in (d.csd, d.css, d.pd, d.ps)) + \
        nums(100, 3, quanta, 1234567, d.root) + b"".join(nodes) + rng.choice([b"", b"\0"])


def main():
    if sys.argv[1] == "read":
        data = read_data(sys.argv[2])
        assert print_data(data) == len(data.pd), "not folded"
        return
    programs = []
    with open(sys.argv[2], "wb") as f:
        for seed in range(int(sys.argv[3])):
            program = Program(seed)
            program.renumber()
            out = write_data(program.data, random.Random(seed))
            f.write(out)
            programs.append((program, len(out)))
    # A reader of what follows finds the file.
    for program, size in programs:
        print(size)
        print_data(program.data)


main()
