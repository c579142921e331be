# SPDX-License-Identifier: BSD-2-Clause
"""Reads a file of `heapinspect report` with the XML parser of Python, and unpacks its pages
with its zlib: it is well-formed, its links lead to its sections, it loads nothing, and its scripts are its own. Prints how
many pages and links there are, the navigation, and the page about the file."""
import base64
import re
import sys
import zlib
import xml.etree.ElementTree as ET

LOADING = {"src", "href", "action", "srcset", "data", "poster", "background", "formaction",
           "{http://www.w3.org/1999/xlink}href"}


def fail(text):
    sys.exit(f"{sys.argv[1]}: {text}")


def unpack(match):
    text = zlib.decompress(base64.b64decode(match[2], validate=True), -15).decode("utf-8")
    if re.findall('<section id="([^"]*)"', text) != match[1].split():
        fail(f"a packed page is not where {match[1]!r} tells")
    return text


def main():
    data = open(sys.argv[1], "rb").read()
    if not data.startswith(b"<!DOCTYPE html>"):
        fail("no document type")
    text = re.sub(r'<template class="packed" data-ids="([^"]*)">([^<]*)</template>', unpack,
                  data.decode("utf-8"))
    wrong = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e"
                      "\u2066-\u2069\ufeff]", text)
    if wrong:
        fail(f"character {wrong.group()!r} at {wrong.start()}: {text[wrong.start() - 60:][:90]!r}")
    root = ET.fromstring(text.split("\n", 1)[1])
    ids, links, sections = set(), 0, 0
    for element in root.iter():
        tag = element.tag.split("}")[-1]
        if element.get("id"):
            if element.get("id") in ids:
                fail(f"two elements are {element.get('id')}")
            ids.add(element.get("id"))
        sections += tag == "section" and bool(element.get("id"))
        if tag in ("form", "iframe", "object", "embed", "base", "img", "link"):
            fail(f"<{tag}>")
        if tag == "script" and "__pwned" in (element.text or ""):
            fail("a name is in a script")
        for name in element.attrib:
            if name.lower().startswith("on"):
                fail(f"{name} of <{tag}>")
    for element in root.iter():
        for name, value in element.attrib.items():
            if name not in LOADING:
                continue
            links += 1
            if not value.startswith("#") or value[1:] not in ids:
                fail(f"<{element.tag} {name}={value!r}> leads nowhere")
    if re.search(r"url\(\s*['\"]?(?!#|data:)", "".join(
            e.text or "" for e in root.iter() if e.tag.split("}")[-1] == "style")):
        fail("a style loads something")
    first = [e for e in root.iter() if e.tag.split("}")[-1] == "section" and e.get("id")][0]
    at_nav = [e for n in root.iter() if n.tag.split("}")[-1] == "nav"
              for e in n.iter() if e.get("href")]
    if at_nav[0].get("href") != "#" + first.get("id"):
        fail("the navigation does not begin with the first page")
    about = [e for e in root.iter() if e.get("id") == "about"]
    nav = [" ".join(e.itertext()) for e in root.iter() if e.tag.split("}")[-1] == "nav"]
    print(f"pages={sections} links={links}")
    print(" ".join(" ".join(nav).split()))
    print(" ".join(" ".join(" ".join(e.itertext()) for e in about).split()))


main()
