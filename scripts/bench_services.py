# SPDX-License-Identifier: BSD-2-Clause
# Services under a load that does not end, and what a recording of them costs: for
# scripts/bench-record, whose head has how they are called and what is printed.

import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("HEAPINSPECT_BUILD", TOP + "/build/dev")
PROGRAM, FIXTURES, SOURCES = BUILD + "/heapinspect", BUILD + "/fixtures", TOP + "/fixtures"
READY_S, SETTLE_S = 60, 0.4
KEYS = 100000
PIPELINE = int(os.environ.get("REDIS_PIPELINE", "4"))
KINDS = {"bare": None, "windows": ["--sample", "windows"], "default": [],
         "samples": ["--sample", "512KiB"]}


class Missing(Exception):
    """A program that is not there, and the package or script that has it."""


def await_line(process, pattern):
    """Its output so far, once that has it; else None."""
    end, text = time.monotonic() + READY_S, b""
    os.set_blocking(process.stdout.fileno(), False)
    while time.monotonic() < end and process.poll() is None:
        text += process.stdout.read() or b""
        if re.search(pattern, text):
            return text.decode(errors="replace")
        time.sleep(0.02)
    return None


def start(words, core, **how):
    return subprocess.Popen(["taskset", "-c", str(core), *words], **how)


def end(process):
    if process and process.poll() is None:
        process.kill()
    if process:
        process.wait()


def find_program(name, package, *more):
    for path in (*more, shutil.which(name)):
        if path and os.path.exists(path):
            return path
    raise Missing(f"no {name}: install the package {package}")


def find_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_port(port):
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise OSError(f"nothing listens at port {port}")


class Counter:
    """A program that answers lines with a number of what it has done."""

    def __init__(self, words, core):
        self.process = start(words, core, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True)
        said = self.process.stdout.readline()
        if said != "ready\n":
            end(self.process)
            raise OSError(said.strip() or f"{words[0]} did not begin")

    def ask(self):
        self.process.stdin.write("count\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline().split()[1])


# ---- services: pid (recorded), pids (the service's), load_pids, count(), prepare(), end() ----


class Redis:
    def __init__(self, test, folder, cores):
        program = find_program("redis-server", "redis-server",
                               TOP + "/build/targets/redis-server")
        benchmark = find_program("redis-benchmark", "redis-tools")
        self.path, self.test, self.load = folder + "/socket", test, None
        self.server = start([program, "--port", "0", "--unixsocket", self.path, "--save", "",
                             "--appendonly", "no"], cores[0], stdout=subprocess.DEVNULL)
        until = time.monotonic() + READY_S
        while not os.path.exists(self.path) and time.monotonic() < until:
            time.sleep(0.05)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(self.path)
        words = [benchmark, "-s", self.path, "-r", str(KEYS), "-d", "100", "-q", "-P", str(PIPELINE), "-t"]
        subprocess.run([*words, "set", "-n", str(3 * KEYS)], check=True,
                       stdout=subprocess.DEVNULL)
        self.load = start([*words, test, "-n", "2000000000"], cores[1],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid, self.pids = self.server.pid, [self.server.pid]
        self.load_pids = [self.load.pid]

    def ask(self, command):
        self.socket.sendall(command.encode() + b"\r\n")
        return self.socket.recv(65536).decode()

    def count(self):
        return int(re.search(r"total_commands_processed:(\d+)", self.ask("INFO stats"))[1])

    def prepare(self):
        """The list would grow without an end."""
        if self.test == "lpush":
            self.ask("DEL mylist")

    def end(self):
        end(self.load)
        end(self.server)


class Client:
    """A service with a port, under bench_client."""

    def begin(self, words, cores, protocol, connections, depth, **how):
        self.client = None
        self.server = start(words, cores[0], **how)
        await_port(self.port)
        self.client = Counter([FIXTURES + "/bench_client", protocol, str(self.port),
                               str(connections), str(depth)], cores[1])
        self.pid, self.pids = self.server.pid, [self.server.pid]
        self.load_pids = [self.client.process.pid]

    def count(self):
        return self.client.ask()

    def prepare(self):
        pass

    def end(self):
        if self.client:
            end(self.client.process)
        self.server.terminate()
        self.server.wait()


class Memcached(Client):
    def __init__(self, _folder, cores):
        program = find_program("memcached", "memcached", TOP + "/build/targets/memcached")
        self.port = find_port()
        self.begin([program, "-u", "root", "-l", "127.0.0.1", "-p", str(self.port), "-U", "0",
                    "-t", "1", "-m", "256"], cores, "memcached", 32, 8)


class Nginx(Client):
    CONFIGURATION = """
daemon off; master_process on; worker_processes 1; user root; pid {0}/pid;
error_log {0}/error crit;
events {{ worker_connections 512; }}
http {{
  access_log off; keepalive_requests 2000000000; keepalive_timeout 3600; sendfile on;
  client_body_temp_path {0}/1; proxy_temp_path {0}/2; fastcgi_temp_path {0}/3;
  uwsgi_temp_path {0}/4; scgi_temp_path {0}/5;
  server {{ listen 127.0.0.1:{1}; root {0}; location / {{ try_files /page.html =404; }} }}
}}
"""

    def __init__(self, folder, cores):
        program = find_program("nginx", "nginx-light", TOP + "/build/targets/nginx",
                               "/usr/sbin/nginx")
        self.port = find_port()
        with open(folder + "/page.html", "w", encoding="ascii") as file:
            file.write("<p>" + "page " * 200 + "</p>\n")
        with open(folder + "/configuration", "w", encoding="ascii") as file:
            file.write(self.CONFIGURATION.format(folder, self.port))
        self.begin([program, "-p", folder, "-c", folder + "/configuration", "-e",
                    folder + "/error"], cores, "http", 32, 2)
        self.pids = children_of(self.server.pid)
        self.pid = self.pids[0]


class Python(Client):
    def __init__(self, _folder, cores):
        self.port = find_port()
        self.begin([find_program("python3", "python3"), SOURCES + "/bench_service.py",
                    str(self.port)], cores, "http", 16, 2, stdout=subprocess.DEVNULL)


class Cxx:
    """Its load is made in it."""

    def __init__(self, _folder, cores):
        self.counter, self.done = Counter([FIXTURES + "/bench_orders"], cores[0]), 0
        self.pid, self.load_pids = self.counter.process.pid, []
        self.pids = [self.pid]

    def count(self):
        self.done += self.counter.ask()
        return self.done

    def prepare(self):
        pass

    def end(self):
        end(self.counter.process)


SERVICES = {"redis-set": lambda *a: Redis("set", *a), "redis-get": lambda *a: Redis("get", *a),
            "redis-lpush": lambda *a: Redis("lpush", *a), "memcached": Memcached,
            "nginx": Nginx, "python": Python, "cxx": Cxx}


# ---- CPU time ----


def parents():
    """By process."""
    ret = {}
    for name in os.listdir("/proc"):
        try:
            if name.isdigit():
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    ret[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
    return ret


def children_of(pid):
    return sorted(child for child, parent in parents().items() if parent == pid)


def tree_of(pid):
    """It and what descends from it."""
    table, ret = parents(), [pid]
    for one in ret:
        ret += [child for child, parent in table.items() if parent == one]
    return ret


def cpu_ns(pids):
    """Of all threads that they have."""
    ns = 0
    for pid in pids:
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            try:
                with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                    ns += int(file.read().split()[0])
            except OSError:
                continue
    return ns


# ---- measuring ----


class Tool:
    """heapinspect record beside a service, until the with block ends."""

    def __init__(self, pid, words, core):
        self.words = [PROGRAM, "record", "--pid", str(pid), *words]
        self.core = core

    def __enter__(self):
        self.process = start(self.words, self.core, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if await_line(self.process, rb"recording pid") is None:
            end(self.process)
            raise OSError("heapinspect did not begin")
        return self

    def __exit__(self, *_):
        os.set_blocking(self.process.stdout.fileno(), True)
        self.process.send_signal(2)
        try:
            self.process.communicate(timeout=READY_S)
        except subprocess.TimeoutExpired:
            end(self.process)


def read_counters(service, tool_pids):
    return (service.count(), time.monotonic_ns(), cpu_ns(service.pids), cpu_ns(service.load_pids),
            cpu_ns(tool_pids))


def measure_steady(service, seconds, tool_pid):
    """Figures of so many seconds, none of a recording's begin or end in them."""
    tool_pids = tree_of(tool_pid) if tool_pid else []
    time.sleep(SETTLE_S)
    before = read_counters(service, tool_pids)
    time.sleep(seconds)
    done, ns, cpu, load, tool = (b - a for a, b in
                                 zip(before, read_counters(service, tool_pids)))
    return {"per_s": done * 1e9 / ns, "per_cpu_s": done * 1e9 / cpu, "target_cpu": cpu / ns,
            "load_cpu": load / ns, "tool_cpu": tool / ns}


def measure_kind(service, kind, seconds, cores):
    """The same, and the throughput with the recording's begin and end."""
    service.prepare()
    if KINDS[kind] is None:
        row = measure_steady(service, seconds, None)
        return {**row, "whole_per_s": row["per_s"]}
    done, ns = service.count(), time.monotonic_ns()
    with Tool(service.pid, KINDS[kind], cores[-1]) as tool:
        row = measure_steady(service, seconds, tool.process.pid)
    return {**row, "whole_per_s": (service.count() - done) * 1e9 / (time.monotonic_ns() - ns)}


def measure_service(name, kinds, rounds, seconds, cores):
    """By kind, a row a round. Each kind is at each place of a round as often."""
    rows = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        service = SERVICES[name](folder, cores)
        try:
            measure_kind(service, kinds[-1], min(seconds, 1), cores)
            for i in range(rounds):
                at = i % len(kinds)
                for kind in kinds[at:] + kinds[:at]:
                    rows[kind].append(measure_kind(service, kind, seconds, cores))
        finally:
            service.end()
    return rows


# ---- what is printed ----


def quartiles(values):
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def compare(rows, kind, figure):
    """Quartiles of its ratio to the bare run of the same round."""
    return quartiles([a[figure] / b[figure] for a, b in zip(rows[kind], rows["bare"])])


def median(rows, kind, figure):
    return statistics.median(row[figure] for row in rows[kind])


def print_head():
    print(f"{'program':<12} {'kind':<8} {'bare a s':>9} {'a second':>9}   "
          f"{'share, quartiles':<22} {'a CPU second':<22} {'whole':>6}  "
          f"{'target':>6} {'load':>6} {'heapinspect':>11}", flush=True)


def format_share(three):
    return f"{three[1]:>6.1%} {three[0]:>6.1%}-{three[2]:.1%}"


def print_rows(name, rows):
    for kind in list(rows)[1:]:
        print(f"{name:<12} {kind:<8} {median(rows, 'bare', 'per_s'):>9.0f} "
              f"{median(rows, kind, 'per_s'):>9.0f}   "
              f"{format_share(compare(rows, kind, 'per_s')):<22} "
              f"{format_share(compare(rows, kind, 'per_cpu_s')):<22} "
              f"{compare(rows, kind, 'whole_per_s')[1]:>6.1%}  "
              f"{median(rows, kind, 'target_cpu'):>6.1%} {median(rows, kind, 'load_cpu'):>6.1%} "
              f"{median(rows, kind, 'tool_cpu'):>11.2%}", flush=True)


def write_rows(file, name, rows):
    """A line of JSON: medians and quartiles of each kind, and its rounds."""
    figures = list(rows["bare"][0])
    document = {"program": name, "time": int(time.time()), "load_average": os.getloadavg()[0],
                "kinds": {kind: {
                    "median": {figure: median(rows, kind, figure) for figure in figures},
                    "share": {figure: dict(zip(("q1", "median", "q3"), compare(rows, kind, figure)))
                              for figure in ("per_s", "per_cpu_s", "whole_per_s")},
                    "rounds": rows[kind]} for kind in rows}}
    file.write(json.dumps(document) + "\n")
    file.flush()


def bench_services(names, kinds, rounds, seconds, cores, file):
    """False: one of them could not be measured."""
    ok = True
    print_head()
    for name in names:
        try:
            rows = measure_service(name, kinds, rounds, seconds, cores)
        except (Missing, OSError) as error:
            print(f"{name:<12} {error}", flush=True)
            ok = False
            continue
        print_rows(name, rows)
        if file:
            write_rows(file, name, rows)
    return ok
