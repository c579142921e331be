# SPDX-License-Identifier: BSD-2-Clause
"""Interpreters: Python, whose objects are decoded; Lua, which is plain C on malloc;
Ruby, Node and Java, whose heaps are not decoded, and named as such."""
import re
import subprocess

from cells import Wrong, check
from root import PATIENCE
from summaries import (
    check_counts,
    check_glibc,
    check_known,
    check_ledger,
    check_partly_known,
    rows_of_leaks,
)

PYTHON_COUNTS = "python3: counts by type, as the program knows them"
PYTHON_GARBAGE = "python3: planted cycles that no collector has freed"
PYTHON_VERSION = "python3: the version, all of its heap"
PYTHON_ALIVE = "python3: it answers afterwards"
PYTHON_TESTS = "python3: a zoo of all kinds of objects equals the interpreter's own dump"
LUA_BYTES = "lua: live bytes hold what `collectgarbage` counts, and no leaks"
LUA_ALIVE = "lua: it answers afterwards"
RUBY = ("ruby: its heap is named as not decoded, its leaks as unknown", "ruby: it answers afterwards")
NODE = ("node: its heap is named as not decoded, its leaks as unknown", "node: it answers afterwards")
JAVA = ("java: its heap is named as not decoded, its leaks as unknown", "java: it answers afterwards")

PYTHON = """
import gc, platform, sys
gc.disable()
class Item: pass
class Slotted: __slots__ = ("one", "two")
class Row(list): pass
class Table(dict): pass
class Pair(tuple): pass
class Bag(set): pass
class Lost: pass
keep = [[kind() for i in range(n)] for kind, n in
	((Item, 3000), (Slotted, 2000), (Row, 700), (Table, 600), (Pair, 500), (Bag, 400))]
for item in keep[0]:
	item.name = "n" * 20
	item.owner = keep
for i in range(250):
	a, b = Lost(), Lost()
	a.other, b.other = b, a
del a, b
print("version", platform.python_version())
for objects in keep:
	print("live", len(objects), type(objects[0]).__name__)
print("ready", flush=True)
for line in sys.stdin:
	print("pong", flush=True)
"""


def check_python_garbage(document):
    """Rings of two, none of which is freed."""
    rows = [r for r in rows_of_leaks(document) if "Lost" in r["type"]]
    count = sum(r["count"] for r in rows)
    check(count == 250, f"250 rings of Lost, {count} are reported")
    fates = {r.get("fate") for r in rows}
    check(fates == {"garbage"}, f"they are reported as {fates}")


def ask_python(root, looks, cells):
    questions = (PYTHON_VERSION, PYTHON_COUNTS, PYTHON_GARBAGE, PYTHON_ALIVE)
    with cells.asking([look.section for look in looks], questions):
        python = root.need("python3")
        with root.running(python, root.write("zoo.py", PYTHON)) as program:
            said = [line.split() for line in program.until("ready")]
            version = said[0][1].rstrip("+")
            truth = {f"__main__.{w[2]}": int(w[1]) for w in said if w[0] == "live"}
            for look in looks:
                with cells.asking([look.section], questions):
                    document = look.summary(program.pid)
                    with cells.asking([look.section], [PYTHON_VERSION]):
                        seen = document.get("runtime") or {"version": "no CPython"}
                        check(version == seen["version"], f"{version} is reported as {seen['version']}",
                              look.text("--pid", str(program.pid)))
                        check_known(document)
                        check_ledger(document)
                    with cells.asking([look.section], [PYTHON_COUNTS]):
                        check_counts(document, truth)
                    with cells.asking([look.section], [PYTHON_GARBAGE]):
                        check_python_garbage(document)
                    with cells.asking([look.section], [PYTHON_ALIVE]):
                        program.pong()


def failures_in(output):
    """What tests say of their failures; without one, all."""
    lines = output.splitlines()
    said = [i for i, line in enumerate(lines) if line.endswith(": Failure")]
    return "\n".join("\n".join(lines[i : i + 4]) for i in said[:5]) or output


def ask_python_tests(root, look, cells):
    """The tests of CPython, on the root's interpreter. They mount what they need in the
    root: in a mount namespace of their own."""
    with cells.asking([look.section], [PYTHON_TESTS]):
        root.need("python3")
        done = subprocess.run(
            ["env", "-u", "HI_OWN_MOUNTS", "scripts/test-pythons", "--root", root.path, "python3"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=20 * PATIENCE,
            check=False,
        )
        failed = sorted(set(re.findall(r"\[  FAILED  \] (\w+\.\w+)", done.stdout)))
        passed = re.findall(r"\[  PASSED  \] (\d+) test", done.stdout)
        if done.returncode != 0 or len(passed) < 2:
            words = f"{len(failed)} tests fail: {', '.join(failed[:3])}"
            raise Wrong(words if failed else "the tests do not run", failures_in(done.stdout))


LUA = """
local keep = {}
for i = 1, 20000 do keep[i] = { name = "number " .. i, next = keep[i - 1] } end
collectgarbage()
print("bytes", math.floor(collectgarbage("count") * 1024))
print("ready")
io.stdout:flush()
for line in io.lines() do print("pong") io.stdout:flush() end
"""


def ask_lua(root, looks, cells, version):
    questions = (LUA_BYTES, LUA_ALIVE)
    with cells.asking([look.section for look in looks], questions):
        lua = root.need("lua5.4")
        with root.running(lua, root.write("heap.lua", LUA)) as program:
            counted = int(program.until("ready")[0].split()[1])
            for look in looks:
                with cells.asking([look.section], questions):
                    document = look.summary(program.pid)
                    with cells.asking([look.section], [LUA_BYTES]):
                        check_glibc(document, version)
                        check_known(document)
                        check_ledger(document)
                        live, leaked = document["bytes"]["live"], document["bytes"]["leak"]
                        # A block of malloc is up to 24 bytes larger than what was asked for.
                        check(counted <= live <= counted * 1.5, f"Lua counts {counted}, live are {live}")
                        check(leaked == 0, f"{leaked} bytes are reported as leaked",
                              look.text("leaks", "--pid", str(program.pid)))
                    with cells.asking([look.section], [LUA_ALIVE]):
                        program.pong()


RUBY_CODE = """
keep = (1..20000).map { |i| [i, "text number #{i} that is too long to be embedded"] }
puts "ready"
STDOUT.flush
STDIN.each_line { puts "pong"; STDOUT.flush }
"""

NODE_CODE = """
const keep = [];
for (let i = 0; i < 20000; i++) keep.push({ i, text: "text number " + i });
console.log("ready");
process.stdin.on("data", () => console.log("pong"));
"""

JAVA_CODE = """
public class Heap {
	static Object[] keep = new Object[20000];
	public static void main(String[] arguments) throws Exception {
		for (int i = 0; i < keep.length; i++) keep[i] = "text number " + i;
		System.out.println("ready");
		var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
		while (in.readLine() != null) System.out.println("pong");
	}
}
"""


def ask_not_decoded(root, looks, cells, version, questions, word, argv):
    with cells.asking([look.section for look in looks], questions):
        program = root.need(argv[0])
        with root.running(program, *argv[1:]) as target:
            target.until("ready")
            for look in looks:
                with cells.asking([look.section], questions):
                    document = look.summary(target.pid)
                    with cells.asking([look.section], questions[:1]):
                        text = look.text("--pid", str(target.pid), "--width", "200")
                        check_glibc(document, version)
                        check_partly_known(document, word, text)
                        check_ledger(document)
                    with cells.asking([look.section], questions[1:]):
                        target.pong()


def ask(root, looks, cells, version):
    ask_python(root, looks, cells)
    ask_python_tests(root, looks[0], cells)
    ask_lua(root, looks, cells, version)
    for questions, word, argv in (
        (RUBY, "ruby", ("ruby", root.write("heap.rb", RUBY_CODE))),
        (NODE, "v8", ("node", root.write("heap.js", NODE_CODE))),
        (JAVA, "java", ("java", "-Xmx256m", root.write("Heap.java", JAVA_CODE))),
    ):
        ask_not_decoded(root, looks, cells, version, questions, word, argv)
