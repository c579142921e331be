# SPDX-License-Identifier: BSD-2-Clause
"""What must hold of any page, by other people's readers of XML and SHA-256:
	html_check.py FILE...
Prints a line for each file: its sections, its scripts, and the bytes of a file around
its sections.
"""
import base64
import hashlib
import re
import sys
import zlib
import xml.etree.ElementTree as tree

XML_NAMES = re.compile(r"^[a-z][a-z0-9-]*$")


def name(e):
    return e.tag.split("}")[-1]


def check_inert(e):
    assert name(e) not in ("img", "iframe", "object", "embed", "base"), name(e)
    for key, value in e.attrib.items():
        assert key != "style" and not key.startswith("on"), (name(e), key)
        assert "javascript:" not in value.lower(), value
    for text in (e.text or "", e.tail or "", *e.attrib.values()):
        # Controls and marks that turn text are shown as escapes.
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0e-\x1f]", text), text


def check_hashes(text, policy):
    for element, number in (("style", 2), ("script", 1)):
        found = re.findall(rf"<{element}>(.*?)</{element}>", text, re.S)
        digests = [base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in found]
        sources = " ".join(f"'sha256-{digest}'" for digest in digests)
        assert len(found) == number and f"{element}-src {sources};" in policy, (sources, policy)


def check_policy(root, text):
    policies = [e.get("content") for e in root.iter("meta")
                if e.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1, policies
    policy = policies[0]
    assert "unsafe" not in policy and "default-src 'none'" in policy, policy
    for closed in ("object-src", "base-uri", "form-action"):
        assert f"{closed} 'none'" in policy, policy
    check_hashes(text, policy)


def check_tables(root):
    for th in root.iter("th"):
        assert th.get("scope") == "col" and "".join(th.itertext()).strip()
    for table in root.iter("table"):
        assert table.get("aria-label") or table.find("caption") is not None
        width = len(table.find("thead/tr"))
        assert all(len(row) == width for row in table.iter("tr"))
    for part in [root, *root.iter("section")]:
        if name(part) == "html" and part.find(".//section") is not None:
            continue
        assert len(list(part.iter("h1"))) == 1
        labels = [e.get("aria-label") for e in part.iter() if e.get("role") == "region"]
        assert len(labels) == len(set(labels)) and all(labels), labels


def unpack(match):
    return zlib.decompress(base64.b64decode(match[1], validate=True), -15).decode()


def check(path):
    text = re.sub(r'<template class="packed" data-ids="[^"]*">([^<]*)</template>', unpack,
                  open(path, encoding="utf-8").read())
    root = tree.fromstring(text.replace("<!DOCTYPE html>", ""))
    assert root.get("lang") == "en" and root.find("head/title").text.strip()
    for e in root.iter():
        assert XML_NAMES.match(name(e)) or name(e) == "clipPath", name(e)
        check_inert(e)
    check_tables(root)
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids)), ids
    for a in root.iter("a"):
        href = a.get("href")
        assert href[0] != "#" or href[1:] in ids, href
    assert sum(e.get("aria-current") == "page" for e in root.iter("a")) <= 1
    sections = list(root.iter("section"))
    if sections:
        check_policy(root, text)
    shell = len(re.sub("<section.*</section>", "", text, flags=re.S).encode())
    print(len(sections), len(list(root.iter("script"))), shell < 60 * 1024)


for path in sys.argv[1:]:
    check(path)
