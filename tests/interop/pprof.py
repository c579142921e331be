# SPDX-License-Identifier: BSD-2-Clause
"""A profile as protoc and Go's pprof read it, against what the commands say.

pprof.py DIRECTORY PPROF: x.pb.gz, live.json (the summary), census.json (all types).
Prints how many samples there were.
"""
import gzip
import json
import os
import re
import subprocess
import sys

PROTO = "/usr/share/gocode/src/github.com/google/pprof/proto"


def decode(path):
    """The messages as protoc prints them, as nested lists of (name, value)."""
    with gzip.open(path) as f:
        raw = f.read()
    text = subprocess.run(
        ["protoc", "--decode", "perftools.profiles.Profile", "-I", PROTO, "profile.proto"],
        input=raw, stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    top, stack = [], []
    at = top
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            stack.append(at)
            at.append((line[:-2], []))
            at = at[-1][1]
        elif line == "}":
            at = stack.pop()
        else:
            name, _, value = line.partition(": ")
            at.append((name, value))
    assert not stack
    return top


def unquote(text):
    """protoc writes bytes that are not ASCII in octal."""
    inner = text[1:-1].encode("ascii").decode("unicode_escape")
    return inner.encode("latin-1").decode("utf-8")


def number(message, name, default=0):
    return int(dict(message).get(name, default))


def numbers(message, name):
    return [int(value) for key, value in message if key == name]


class Profile:
    def __init__(self, messages):
        self.top = messages
        self.strings = [unquote(v) for k, v in messages if k == "string_table"]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        self.mappings = {number(m, "id"): m for m in self.all("mapping")}
        functions = {number(m, "id"): m for m in self.all("function")}
        self.names, self.types = {}, {}
        for location in self.all("location"):
            (line,) = [v for k, v in location if k == "line"]
            assert number(location, "mapping_id") in {0, *self.mappings}
            function = functions[number(line, "function_id")]
            self.names[number(location, "id")] = self.text(function, "name")
            self.types[number(location, "id")] = self.text(function, "system_name") \
                or self.names[number(location, "id")]
        self.samples = []
        for sample in self.all("sample"):
            stack = [self.names[i] for i in numbers(sample, "location_id")]
            labels = {self.text(v, "key"): self.text(v, "str")
                      for k, v in sample if k == "label"}
            types = [self.types[i] for i in numbers(sample, "location_id")]
            self.samples.append((stack, numbers(sample, "value"), labels, types))
        assert len(self.names) == len(self.all("location")) == len(functions)

    def all(self, name):
        return [value for key, value in self.top if key == name]

    def text(self, message, name):
        return self.strings[number(message, name)]


def check_values(profile, live, census):
    types = [(profile.text(t, "type"), profile.text(t, "unit"))
             for t in profile.all("sample_type")]
    assert types == [("inuse_objects", "count"), ("inuse_space", "bytes"),
                     ("retained_space", "bytes")], types
    assert profile.text(profile.top, "default_sample_type") == "inuse_space"
    assert int(profile.all("time_nanos")[0]) == live["snapshot"]["time_ns"]
    leaked = [s for s in profile.samples if s[0][-1] == "(leaked)"]
    alive = [s for s in profile.samples if s[0][-1] != "(leaked)"]
    # Leaks of both verdicts.
    for names, samples in ((["live"], alive), (["leak", "likely"], leaked)):
        assert sum(s[1][0] for s in samples) == \
            sum(live["objects"][name] for name in names), names
        assert sum(s[1][1] for s in samples) == \
            sum(live["bytes"][name] for name in names), names
    # Of each type what the census has: own bytes, and those that its objects retain.
    own, retained = {}, {}
    for stack, values, labels, types in alive:
        # "->next: struct node"; a type may be shortened, but not its label.
        assert labels in ({}, {"type": types[0]}), labels
        assert bool(labels) == bool(values[0]), (stack, values)
        # What a name retains counts once for each name, also further in.
        assert values[2] == 0 or stack[0] not in stack[1:], stack
        if labels:
            own[types[0]] = own.get(types[0], 0) + values[1]
        if labels and types[0] not in types[1:]:
            retained[types[0]] = retained.get(types[0], 0) + values[2]
    expected, held = {}, {}
    for row in census["rows"]:
        name = row["type"] or "(untyped)"
        expected[name] = expected.get(name, 0) + row["shallow"]
        held.setdefault(name, []).append(row["retained"])
    assert own == expected
    # A variable may have the name of a type, and types that of another one.
    variables = {types[0] for _, _, labels, types in alive if not labels}
    for name, bytes_ in retained.items():
        if len(held[name]) == 1 and name not in variables:
            assert bytes_ == held[name][0], (name, bytes_, held[name])
    assert sum(s[1][2] for s in leaked if len(s[0]) == 1) == \
        live["bytes"]["leak"] + live["bytes"]["likely"]


def check_mappings(profile, live):
    first = profile.mappings[1]
    assert profile.text(first, "build_id") == live["target"]["build_id"]
    path = profile.text(first, "filename")
    assert path == live["target"]["exe"]
    for mapping in profile.mappings.values():
        assert number(mapping, "memory_start") < number(mapping, "memory_limit")
        file, wanted = profile.text(mapping, "filename"), profile.text(mapping, "build_id")
        if not wanted or not os.path.exists(file):
            continue
        notes = subprocess.run(["readelf", "-n", file], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL).stdout.decode()
        assert "Build ID: " + wanted in notes, file


def go(pprof, path, *options):
    run = subprocess.run([pprof, *options, path], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=dict(os.environ, HOME="/nonexistent"))
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.decode("utf-8")


def check_go(profile, pprof, path):
    raw = go(pprof, path, "-raw")
    samples = re.findall(r"^ +(\d+) +(\d+) +(\d+): ", raw, re.M)
    assert [list(map(int, s)) for s in samples] == \
        [values for _, values, _, _ in profile.samples]
    for index, name in enumerate(("inuse_objects", "inuse_space", "retained_space")):
        top = go(pprof, path, "-top", "-nodecount=0", "-nodefraction=0", "-unit=B",
                 "-sample_index=" + name)
        flat = {}
        for line in top.split("cum%\n")[1].splitlines():
            cells = line.split(None, 5)
            flat[cells[5]] = flat.get(cells[5], 0) + int(cells[0].rstrip("B"))
        ours = {}
        for stack, values, _, _ in profile.samples:
            ours[stack[0]] = ours.get(stack[0], 0) + values[index]
        ours = {shown(name): 0 for name in ours} | sums(ours)
        differ = {k: (v, ours.get(k, 0)) for k, v in flat.items()
                  if v != ours.get(k, 0)}
        assert not differ and not set(ours) - set(flat), (name, differ, set(ours) - set(flat))
    return len(samples)


def shown(name):
    """What -top prints has no blanks at the end."""
    return name.strip()


def sums(values):
    ret = {}
    for name, value in values.items():
        ret[shown(name)] = ret.get(shown(name), 0) + value
    return ret


def main():
    directory, pprof = sys.argv[1:]
    documents = []
    for name in ("live", "census"):
        with open(os.path.join(directory, name + ".json"), encoding="utf-8") as f:
            documents.append(json.load(f))
    path = os.path.join(directory, "x.pb.gz")
    profile = Profile(decode(path))
    check_values(profile, *documents)
    check_mappings(profile, documents[0])
    print(check_go(profile, pprof, path), "samples")


main()
