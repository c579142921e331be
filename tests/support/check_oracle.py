#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads the reports of `heapinspect check` as the systems that run builds do.

    check_oracle.py junit FILE      XML by the schema of Jenkins' JUnit plug-in
    check_oracle.py github FILE     annotations, by GitHub's escaping
    check_oracle.py markdown FILE   a table and lists of GitHub's Markdown

Prints what it read as JSON: a list of gates with name, state and text.
"""
import json
import re
import sys
import xml.etree.ElementTree

# Element: attributes, children; of jenkinsci/xunit-plugin, junit-10.xsd.
SCHEMA = {
    "testsuites": ("name time tests failures disabled errors", "testsuite"),
    "testsuite": ("name tests failures errors time disabled skipped timestamp hostname id package",
                  "properties testcase system-out system-err"),
    "testcase": ("name assertions time classname status",
                 "skipped error failure system-out system-err"),
    "failure": ("type message", ""),
    "skipped": ("message", ""),
    "system-out": ("", ""),
}
REQUIRED = {"testsuite": {"name", "tests"}, "testcase": {"name"}}


def check_element(element):
    attributes, children = SCHEMA[element.tag]
    assert set(element.attrib) <= set(attributes.split()), element.attrib
    assert REQUIRED.get(element.tag, set()) <= set(element.attrib), element.tag
    order = children.split()
    places = [order.index(child.tag) for child in element]
    assert places == sorted(places), f"order of elements in {element.tag}"
    for child in element:
        check_element(child)


def read_junit(data):
    root = xml.etree.ElementTree.fromstring(data)
    assert root.tag == "testsuites"
    check_element(root)
    gates = []
    for suite in root:
        cases = suite.findall("testcase")
        failed = [c for c in cases if c.find("failure") is not None]
        skipped = [c for c in cases if c.find("skipped") is not None]
        assert int(suite.get("tests")) == len(cases)
        assert int(suite.get("failures")) == len(failed)
        assert int(suite.get("skipped")) == len(skipped)
        for case in cases:
            failure = case.find("failure")
            state = "ok" if failure is None else "failed"
            gates.append({"name": case.get("name"), "state": state,
                          "text": "" if failure is None else failure.text,
                          "message": "" if failure is None else failure.get("message")})
    assert int(root.get("tests")) == len(gates)
    return gates


def unescape(text, names):
    """As the runner does (actions/toolkit, command.ts); the rest of a % stays."""
    assert not re.search("%(?!" + "|".join(names) + ")", text), text
    for name, char in names.items():
        if name != "25":
            text = text.replace("%" + name, char)
    return text.replace("%25", "%")


MESSAGE = {"0D": "\r", "0A": "\n", "25": "%"}
PROPERTY = dict(MESSAGE, **{"3A": ":", "2C": ","})


def read_github(data):
    gates = []
    for line in data.decode().splitlines():
        match = re.fullmatch(r"::(error|warning) ([^:]*)::(.*)", line)
        assert match, line
        properties = dict(p.split("=", 1) for p in match[2].split(","))
        assert set(properties) <= {"file", "line", "title"}, properties
        properties = {k: unescape(v, PROPERTY) for k, v in properties.items()}
        title = properties["title"]
        assert title.startswith("heapinspect: ")
        gates.append({"name": title[len("heapinspect: "):],
                      "state": "failed" if match[1] == "error" else "warning",
                      "text": unescape(match[3], MESSAGE),
                      "file": properties.get("file"), "line": properties.get("line")})
    return gates


CODE = r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)"


def code_of(text):
    match = re.search(CODE, text)
    assert match, text
    inner = match[2]
    if len(match[1]) > 1:
        assert inner[0] == inner[-1] == " "
        inner = inner[1:-1]
    return inner


def cells_of(line):
    """Bars split cells, also in code, unless they have a backslash."""
    parts = re.split(r"(?<!\\)\|", line)
    assert parts[0] == parts[-1] == "", line
    return [p.strip().replace("\\|", "|") for p in parts[1:-1]]


def read_markdown(data):
    lines = data.decode().splitlines()
    start = lines.index("|---|---|---|---|")
    assert cells_of(lines[start - 1]) == ["", "fails when", "here", "limit"]
    gates = []
    for line in lines[start + 1:]:
        if not line.startswith("|"):
            break
        state, gate, here, limit = cells_of(line)
        gates.append({"name": code_of(gate), "state": state.strip("*"), "text": here,
                      "limit": limit})
    last = None
    for line in lines[start + 1 + len(gates):]:
        if line.startswith("#### "):
            last = next(g for g in gates if g["name"] == code_of(line))
            last["items"] = []
        elif line.startswith("- "):
            last["items"].append(code_of(line))
        else:
            assert line == "", line
    return gates


def main():
    kind, path = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    read = {"junit": read_junit, "github": read_github, "markdown": read_markdown}[kind]
    json.dump(read(data), sys.stdout)


main()
