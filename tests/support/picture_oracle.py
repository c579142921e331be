# SPDX-License-Identifier: BSD-2-Clause
"""A picture of a heap, read as XML, against what it claims and what the summary says.

picture_oracle.py flame|treemap FILE.svg LIVE.json [NAME...]: the names must be in it,
byte for byte in the text of a title. Prints how many nodes there are.
"""
import json
import re
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
# What an XML 1.0 document may contain, and no other control characters.
GOOD = re.compile("[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def number(text):
    return float(text.rstrip("%"))


class Node:
    def __init__(self, e):
        self.parent, self.bytes = int(e.get("data-p")), int(e.get("data-b"))
        self.x, self.y = number(e.get("x")), number(e.get("y"))
        self.width, self.height = number(e.get("width")), number(e.get("height"))
        self.title = e.find(SVG + "title").text
        assert [c.tag for c in e][:2] == [SVG + "title", SVG + "rect"], list(e)
        assert e.get("class") in {"f k%d" % i for i in range(9)}

    def holds(self, other, edge):
        return other.x >= self.x - edge and other.y >= self.y - edge and \
            other.x + other.width <= self.x + self.width + edge


def check_nodes(nodes, shape, live):
    assert nodes[0].parent == -1 and all(0 <= n.parent < i for i, n in enumerate(nodes) if i)
    whole = live["bytes"]["live"] + live["bytes"]["leak"] + live["bytes"]["likely"]
    assert nodes[0].bytes == whole, (nodes[0].bytes, whole)
    children = [[] for _ in nodes]
    for node in nodes[1:]:
        children[node.parent].append(node)
    edge = 1e-9 if shape == "flame" else 0.021
    for at, below in zip(nodes, children):
        assert sum(n.bytes for n in below) <= at.bytes
        for n in below:
            assert at.holds(n, edge), (at.title, n.title)
        if shape == "flame":
            check_row(nodes[0], at, below)
        else:
            check_boxes(at, below)


def check_row(top, at, below):
    """Each as wide as its bytes, on the next row, from left to right."""
    assert abs(at.width - 100 * at.bytes / max(top.bytes, 1)) < 0.0002, at.title
    end = at.x
    for n in below:
        assert n.y == at.y + at.height and abs(n.x - end) < 1e-9, n.title
        end = n.x + n.width


def check_boxes(at, below):
    """Areas in proportion to bytes, and no two over each other."""
    large = [n for n in below if n.width > 30 and n.height > 30]
    factors = [n.width * n.height / n.bytes for n in large]
    assert not factors or max(factors) < 1.02 * min(factors), (at.title, factors)
    for i, a in enumerate(large):
        assert a.y + a.height <= at.y + at.height + 0.03
        for b in large[:i]:
            over_x = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
            over_y = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
            assert over_x < 0.03 or over_y < 0.03, (a.title, b.title)


def check_alone(raw, root):
    """Nothing is fetched, and the target has no part in the script."""
    assert len(root.findall(".//" + SVG + "script")) == 1
    script = root.find(SVG + "script").text
    names = set(re.findall(r"https?://[^\s'\"<)]*", raw))
    assert names == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}, names
    for word in ("href", "src=", "@import", "url(", "<image", "<use", "<iframe", "<!"):
        assert word not in raw.replace("<![CDATA[", "", 1), word
    for word in ("fetch", "XMLHttp", "import", "eval", "innerHTML", "Function", "open("):
        assert word not in script, word
    for e in root.iter():
        assert not [a for a in e.attrib if a.lower().startswith("on")], e.attrib


def main():
    shape, path, live = sys.argv[1:4]
    with open(path, encoding="utf-8", newline="") as f:
        raw = f.read()
    assert GOOD.fullmatch(raw), set(GOOD.sub("", raw))
    root = ElementTree.fromstring(raw)
    with open(live, encoding="utf-8") as f:
        live = json.load(f)
    plots = [e for e in root.iter(SVG + "svg") if shape in (e.get("class") or "").split()]
    assert len(plots) == 1
    nodes = [Node(e) for e in plots[0]]
    check_alone(raw, root)
    check_nodes(nodes, shape, live)
    for name in sys.argv[4:]:
        assert any(name in n.title for n in nodes), (name, [n.title for n in nodes][:50])
    assert len(nodes) <= 12016 and len(raw) < 8 << 20
    print(len(nodes), "nodes")


main()
