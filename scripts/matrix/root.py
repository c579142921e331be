# SPDX-License-Identifier: BSD-2-Clause
"""The root of a distribution: programs that run in it as an ordinary user, and the
two ways to look at them."""
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time

from cells import Absent, Wrong, check

USER = 1999
PLACE = "/tmp/m"  # of sockets and files, in the root
PATIENCE = 120  # seconds for anything


class Root:
    def __init__(self, path):
        self.path = path
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": PLACE,
            "LC_ALL": "C.UTF-8",
        }
        os.makedirs(path + PLACE, exist_ok=True)
        os.chown(path + PLACE, USER, USER)

    def outside(self, path):
        return self.path + path

    def command(self, *argv):
        return ["chroot", f"--userspec={USER}:{USER}", "--groups=", self.path, *argv]

    def find(self, program):
        """Its path in the root; None: not there."""
        for folder in ("/usr/bin", "/usr/sbin", "/bin"):
            if os.path.lexists(self.outside(f"{folder}/{program}")):
                return f"{folder}/{program}"
        return None

    def need(self, program):
        path = self.find(program)
        if path is None:
            raise Absent(program)
        return path

    def run(self, *argv):
        """Its output."""
        done = subprocess.run(
            self.command(*argv), env=self.env, capture_output=True, text=True, timeout=PATIENCE
        )
        check(done.returncode == 0, f"{argv[0]} exits with {done.returncode}", done.stdout + done.stderr)
        return done.stdout

    def write(self, name, text):
        """A file in PLACE; returns its path in the root."""
        with open(self.outside(f"{PLACE}/{name}"), "w", encoding="utf-8") as file:
            file.write(text)
        return f"{PLACE}/{name}"

    @contextlib.contextmanager
    def running(self, *argv):
        program = Program(self, argv)
        try:
            yield program
        finally:
            program.end()


class Program:
    """Lines go in and come out."""

    def __init__(self, root, argv):
        self.name = os.path.basename(argv[0])
        self.process = subprocess.Popen(
            root.command(*argv),
            env=root.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.pid = self.process.pid  # chroot execs
        self.rest = b""
        self.lines = []

    def line(self):
        until = time.monotonic() + PATIENCE
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            readable = left > 0 and select.select([self.process.stdout], [], [], left)[0]
            more = os.read(self.process.stdout.fileno(), 65536) if readable else b""
            check(more, f"{self.name} says nothing more", "\n".join(self.lines))
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        self.lines.append(line.decode(errors="replace"))
        return self.lines[-1]

    def until(self, word):
        """The lines before the one with that word."""
        lines = []
        while word not in (line := self.line()):
            lines.append(line)
        return lines

    def say(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def pong(self):
        self.say("ping")
        answer = self.line()
        check("pong" in answer, f"{self.name} answers {answer!r} afterwards")

    def end(self):
        """It and its children; a session of its own."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=10)
                break
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.stdout.close()


class Line:
    """A client of a service: its socket in the root."""

    def __init__(self, root, name):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket.connect(root.outside(f"{PLACE}/{name}"))
                return
            except (FileNotFoundError, ConnectionRefusedError):
                check(time.monotonic() < until, f"nobody listens at {name}")
                time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, text, end):
        """What comes until that end."""
        self.socket.sendall(text.encode())
        answer = b""
        while end.encode() not in answer:
            more = self.socket.recv(1 << 20)
            check(more, f"the service hangs up after {text[:40]!r}", answer.decode(errors="replace"))
            answer += more
        return answer.decode(errors="replace")


class Look:
    """heapinspect in one place."""

    def __init__(self, section, command, env=None):
        self.section = section
        self.prefix = command
        self.env = env

    def text(self, *arguments):
        done = subprocess.run(
            [*self.prefix, *arguments, "--max-pause=30s"],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=10 * PATIENCE,
        )
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no word"])[-1]
            raise Wrong(f"{arguments[0]} exits with {done.returncode}: {last[:200]}", done.stderr)
        return done.stdout

    def summary(self, pid):
        return json.loads(self.text("--pid", str(pid), "--json", "--all"))

    def number(self, pid, sql):
        """The one number that an SQL query gives."""
        document = json.loads(self.text("query", "--pid", str(pid), sql, "--json"))
        return next(iter(document["rows"][0].values()))
