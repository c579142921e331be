# SPDX-License-Identifier: BSD-2-Clause
"""redis, memcached, nginx and PostgreSQL as the distribution ships them, without debug
information. They listen at sockets in the root."""
import os
import re

from cells import Absent, check
from root import PLACE, USER, Line
from summaries import check_glibc, check_known, check_ledger, ledger_bytes

REDIS_HEAP = "redis: the allocator that it names, all of its heap"
REDIS_BYTES = "redis: bytes of 100,000 keys, within 1 % of what its allocator counts"
REDIS_BINS = "redis: objects of each size, as jemalloc counts them (or thread caches hold them)"
REDIS_ALIVE = "redis: it answers afterwards"
MEMCACHED_HEAP = "memcached: glibc's version, all of its heap"
MEMCACHED_PAGES = "memcached: pages of slabs, as `stats slabs` counts them"
MEMCACHED_ALIVE = "memcached: it answers afterwards"
NGINX_HEAP = "nginx: glibc's version, all of a worker's heap"
NGINX_ALIVE = "nginx: it answers afterwards"
POSTGRES_HEAP = "PostgreSQL: glibc's version, all of a backend's heap"
POSTGRES_BYTES = "PostgreSQL: live bytes hold its memory contexts"
POSTGRES_ALIVE = "PostgreSQL: it answers afterwards"


def check_plain(document, version):
    """A service on glibc's malloc."""
    check_glibc(document, version)
    check_known(document)
    check_ledger(document)


# ---- redis ----


KEYS = 100_000


def fill_redis(client):
    for start in range(0, KEYS, 1000):
        text = "".join(f"SET key:{i} value-number-{i}\r\n" for i in range(start, start + 1000))
        client.ask(text + "ECHO all\r\n", "$3\r\nall\r\n")
    client.ask("DBSIZE\r\n", f":{KEYS}\r\n")


def redis_allocator(client):
    said = client.ask("INFO memory\r\n", "lazyfree_pending_objects")
    return re.search(r"mem_allocator:(\w+)-?([\d.]*)", said).groups()


def redis_allocated(client, allocator):
    """Bytes, and what they are called."""
    if allocator != "jemalloc":
        said = client.ask("INFO memory\r\n", "lazyfree_pending_objects")
        return int(re.search(r"used_memory:(\d+)", said).group(1)), "used_memory"
    said = client.ask("MEMORY MALLOC-STATS\r\n", "End jemalloc statistics")
    return int(re.search(r"Allocated: (\d+)", said).group(1)), "jemalloc's stats.allocated"


def check_redis_heap(document, allocator, release, version):
    if allocator == "libc":
        return check_plain(document, version)
    names = {a["name"]: a for a in document["allocators"]}
    check(allocator in names, f"it says {allocator}; {list(names)} are reported")
    seen = names[allocator]
    check(seen["refused"] is None, f"{allocator}'s heap is refused: {seen['refused']}")
    check(seen["version"].startswith(release), f"{allocator} {release} is reported as {seen['version']}")
    check_known(document)
    check_ledger(document)


def check_redis_bytes(document, allocator, counted, what):
    """Its own clients' buffers come and go between the two counts. jemalloc counts
    what is in thread caches, and these, too; redis does not."""
    seen = ledger_bytes(document, "live") + ledger_bytes(document, "leak")
    if allocator == "jemalloc":
        seen += ledger_bytes(document, "free_tcache")
        seen += ledger_bytes(document, "allocator") - ledger_bytes(document, "metadata")
    low, high = min(counted) * 0.99, max(counted) * 1.01
    check(low <= seen <= high, f"{counted[0]} to {counted[1]} bytes by {what}, {seen} are reported")


def redis_bins(client):
    """Regions in use by size, of all arenas; of sizes that the keys use."""
    said = client.ask("MEMORY MALLOC-STATS\r\n", "End jemalloc statistics").splitlines()
    start = next(i for i, line in enumerate(said) if line.startswith("bins:"))
    column = said[start].split().index("curregs") - 1
    bins = {}
    for line in said[start + 1 :]:
        words = line.split()
        if not words or not words[0].isdigit():
            if words and words[0] != "---":
                break
            continue
        bins[int(words[0])] = int(words[column])
    return {size: count for size, count in bins.items() if count > KEYS / 2}


def check_redis_bins(look, pid, bins):
    check(bins, "jemalloc counts no objects of any size")
    for size, count in bins.items():
        seen = look.number(pid, f"select count(*) from objects where shallow = {size}")
        # A thread's cache holds up to 200.
        check(count - 1000 <= seen <= count, f"{count} objects of {size} bytes, {seen} are reported")


def ask_redis(root, looks, cells, version):
    questions = (REDIS_HEAP, REDIS_BYTES, REDIS_BINS, REDIS_ALIVE)
    with cells.asking([look.section for look in looks], questions):
        server = root.need("redis-server")
        options = ["--port", "0", "--unixsocket", f"{PLACE}/redis", "--save", "", "--appendonly", "no"]
        with root.running(server, *options, "--dir", PLACE) as service, Line(root, "redis") as client:
            fill_redis(client)
            allocator, release = redis_allocator(client)
            for look in looks:
                with cells.asking([look.section], questions):
                    before, what = redis_allocated(client, allocator)
                    document = look.summary(service.pid)
                    after, _ = redis_allocated(client, allocator)
                    with cells.asking([look.section], [REDIS_HEAP]):
                        check_redis_heap(document, allocator, release, version)
                    with cells.asking([look.section], [REDIS_BYTES]):
                        check_redis_bytes(document, allocator, (before, after), what)
                    with cells.asking([look.section], [REDIS_BINS]):
                        if allocator != "jemalloc":
                            raise Absent("jemalloc")
                        check_redis_bins(look, service.pid, redis_bins(client))
                    with cells.asking([look.section], [REDIS_ALIVE]):
                        client.ask("PING\r\n", "+PONG\r\n")


# ---- memcached ----


def ask_memcached(root, looks, cells, version):
    questions = (MEMCACHED_HEAP, MEMCACHED_PAGES, MEMCACHED_ALIVE)
    with cells.asking([look.section for look in looks], questions):
        server = root.need("memcached")
        with root.running(server, "-s", f"{PLACE}/memcached", "-m", "64") as service, Line(
            root, "memcached"
        ) as client:
            for i in range(30000):
                client.ask(f"set key-{i} 0 0 100\r\n{'v' * 100}\r\n", "STORED\r\n")
            said = client.ask("stats\r\n", "END\r\n")
            check("STAT curr_items 30000\r\n" in said, "it has other items", said)
            pages = sum(map(int, re.findall(r":total_pages (\d+)", client.ask("stats slabs\r\n", "END\r\n"))))
            for look in looks:
                with cells.asking([look.section], questions):
                    document = look.summary(service.pid)
                    with cells.asking([look.section], [MEMCACHED_HEAP]):
                        check_plain(document, version)
                    with cells.asking([look.section], [MEMCACHED_PAGES]):
                        seen = look.number(service.pid, "select count(*) from objects where shallow between 1048576 and 1060863")
                        check(seen == pages, f"{pages} pages, {seen} blocks of 1 MiB are reported")
                    with cells.asking([look.section], [MEMCACHED_ALIVE]):
                        client.ask("get key-77\r\n", "VALUE key-77 0 100\r\n")


# ---- nginx ----

NGINX = """daemon off;
master_process on;
worker_processes 1;
pid /tmp/m/nginx.pid;
error_log /tmp/m/nginx.log;
events {}
http {
	access_log off;
	client_body_temp_path /tmp/m/body;
	proxy_temp_path /tmp/m/proxy;
	fastcgi_temp_path /tmp/m/fastcgi;
	uwsgi_temp_path /tmp/m/uwsgi;
	scgi_temp_path /tmp/m/scgi;
	server {
		listen unix:/tmp/m/nginx;
		location / { return 200 "hello"; }
	}
}
"""


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        children = file.read().split()
    check(children, "it has no worker")
    return int(children[0])


def get_hello(root):
    with Line(root, "nginx") as client:
        client.ask("GET / HTTP/1.0\r\n\r\n", "\r\n\r\nhello")


def ask_nginx(root, looks, cells, version):
    questions = (NGINX_HEAP, NGINX_ALIVE)
    with cells.asking([look.section for look in looks], questions):
        server = root.need("nginx")
        configuration = root.write("nginx.conf", NGINX)
        with root.running(server, "-c", configuration) as service:
            get_hello(root)
            worker = child_of(service.pid)
            for look in looks:
                with cells.asking([look.section], questions):
                    document = look.summary(worker)
                    with cells.asking([look.section], [NGINX_HEAP]):
                        check_plain(document, version)
                    with cells.asking([look.section], [NGINX_ALIVE]):
                        get_hello(root)
                        check(child_of(service.pid) == worker, "the worker has been replaced")


# ---- PostgreSQL ----


def find_postgres(root):
    folder = root.outside("/usr/lib/postgresql")
    releases = sorted(os.listdir(folder), key=int) if os.path.isdir(folder) else []
    return f"/usr/lib/postgresql/{releases[-1]}/bin" if releases else root.need("postgres")


class Psql:
    def __init__(self, program):
        self.program = program

    def value(self, sql):
        self.program.say(sql)
        self.program.say("\\echo done")
        return self.program.until("done")[-1]


def check_contexts(document, held):
    """Contexts are blocks of malloc; what is not in one is less than half of them."""
    live = document["bytes"]["live"]
    check(held <= live <= held * 1.5, f"contexts hold {held} bytes, live are {live}")


def ask_postgres(root, looks, cells, version):
    questions = (POSTGRES_HEAP, POSTGRES_BYTES, POSTGRES_ALIVE)
    with cells.asking([look.section for look in looks], questions):
        bin_ = find_postgres(root)
        root.run(f"{bin_}/initdb", "-D", f"{PLACE}/data", "-U", "visitor", "-A", "trust", "--no-sync")
        with root.running(f"{bin_}/postgres", "-D", f"{PLACE}/data", "-k", PLACE,
                          "-c", "listen_addresses=") as service:
            Line(root, ".s.PGSQL.5432").socket.close()
            service.until("ready to accept")
            with root.running(f"{bin_}/psql", "-h", PLACE, "-U", "visitor", "-AtqX", "postgres") as program:
                psql = Psql(program)
                release = int(psql.value("show server_version_num;")) // 10000
                backend = int(psql.value("select pg_backend_pid();"))
                for look in looks:
                    with cells.asking([look.section], questions):
                        document = look.summary(backend)
                        with cells.asking([look.section], [POSTGRES_HEAP]):
                            check_plain(document, version)
                        with cells.asking([look.section], [POSTGRES_BYTES]):
                            if release < 14:
                                raise Absent("pg_backend_memory_contexts (14)")
                            held = psql.value("select sum(total_bytes) from pg_backend_memory_contexts;")
                            check_contexts(document, int(held))
                        with cells.asking([look.section], [POSTGRES_ALIVE]):
                            check(psql.value("select 6 * 7;") == "42", "no 42")


def ask(root, looks, cells, version):
    with open(root.outside("/etc/passwd"), "a", encoding="utf-8") as file:
        file.write(f"visitor:x:{USER}:{USER}::{PLACE}:/bin/sh\n")
    ask_redis(root, looks, cells, version)
    ask_memcached(root, looks, cells, version)
    ask_nginx(root, looks, cells, version)
    ask_postgres(root, looks, cells, version)
