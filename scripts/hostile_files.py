# SPDX-License-Identifier: BSD-2-Clause
# Hostile variants of files: cut, flipped, and well-formed ones whose checksums hold but whose
# numbers are extreme, whose sections are bombs, cycles, repeated or missing.

import array
import ctypes
import struct
import zlib

XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
ZSTD = ctypes.CDLL("libzstd.so.1")
for name in ("ZSTD_compressBound", "ZSTD_compress", "ZSTD_decompress"):
    getattr(ZSTD, name).restype = ctypes.c_size_t
ZSTD.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
                               ctypes.c_int]
ZSTD.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                 ctypes.c_size_t]
SNAPSHOT, SERIES, PART = b"\x89HISNAP\n", b"\x89HISERS\n", b"\x89HIPART\n"
EXTREME = [0, 1, 2, 7, 63, 64, 0x7F, 0xFF, 0x100, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000,
           0xFFFFFFFE, 0xFFFFFFFF, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 16,
           (1 << 64) - 1]
MEBIBYTE = 1 << 20


def hash_of(data):
    return XXHASH.XXH3_64bits(bytes(data), len(data))


def pack(data, level=3):
    room = ZSTD.ZSTD_compressBound(len(data))
    buffer = ctypes.create_string_buffer(room)
    n = ZSTD.ZSTD_compress(buffer, room, bytes(data), len(data), level)
    return buffer.raw[:n]


def unpack(data, size):
    buffer = ctypes.create_string_buffer(size or 1)
    assert ZSTD.ZSTD_decompress(buffer, size, bytes(data), len(data)) == size
    return buffer.raw[:size]


# ---- any file ----

def cut(data, rng):
    return data[:rng.choice([rng.randrange(len(data) + 1), max(0, len(data) - rng.randrange(1, 99)),
                             rng.randrange(min(len(data), 4096) + 1)])]


def flip(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def overwrite(data, rng):
    """A number of 2, 4 or 8 bytes is extreme."""
    size = rng.choice((2, 4, 8))
    at = rng.randrange(max(1, len(data) - size)) & -rng.choice((1, size))
    return data[:at] + (extreme(rng) % (1 << 8 * size)).to_bytes(size, "little") + data[at + size:]


def splice(data, rng):
    """A part comes twice, or elsewhere, or not at all."""
    size = rng.choice((1, 8, 64, 512, 4096))
    a, b = (rng.randrange(len(data) + 1) for _ in range(2))
    piece = data[b:b + size]
    return data[:a] + piece * rng.choice((0, 1, 2, 50)) + data[a + rng.choice((0, len(piece), size)):]


ANY = [cut, flip, flip, overwrite, overwrite, splice]


def extreme(rng):
    return rng.choice(EXTREME) if rng.random() < .8 else rng.getrandbits(rng.randrange(1, 65))


def damage(data, rng):
    data = bytes(data)
    return bytes(rng.choice(ANY)(data, rng)) if data else b"\0"


# ---- texts ----

def change_text(data, rng):
    """Words and numbers of lines are swapped, repeated, nested and made extreme."""
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 3, 10))):
        i = rng.randrange(len(lines))
        words = lines[i].split(b" ")
        k = rng.randrange(len(words))
        words[k] = rng.choice((
            b"", b"-1", b"0", b"18446744073709551615", b"99999999999999999999999", b"1e308", b"nan",
            b"9" * 400, b"\0", b"\xff\xfe", b"(" * 5000, b"[" * 300 + b"]" * 300, b"%n%s", b"->" * 3000,
            b"x" * 100000, words[k] * 50, words[rng.randrange(len(words))],
            str(extreme(rng)).encode()))
        lines[i] = b" ".join(words)
        if rng.random() < .2:
            lines[i:i + 1] = [lines[i]] * rng.choice((0, 2, 1000))
    return b"\n".join(lines)


# ---- snapshot files ----

class Section:
    def __init__(self, name, flags, item, data, size=None):
        self.name, self.flags, self.item, self.data = name, flags, item, data
        self.size = len(data) if size is None else size

    def items(self):
        return unpack(self.data, self.size) if self.flags & 1 else self.data

    def put(self, data, packed=None):
        packed = self.flags & 1 if packed is None else packed
        self.flags, self.size = int(packed), len(data)
        self.data = pack(data) if packed else bytes(data)


class Snapshot:
    def __init__(self, data):
        assert data[:8] == SNAPSHOT
        self.version = data[8:16]
        self.sections = []
        for i in range(struct.unpack_from("<I", data, 24)[0]):
            name, flags, item, at, stored, size, _, _ = struct.unpack_from("<16sIIQQQQQ", data,
                                                                           64 + 64 * i)
            self.sections.append(Section(name, flags, item, data[at:at + stored], size))

    def find(self, name):
        return next((s for s in self.sections if s.name.rstrip(b"\0") == name), None)

    def build(self, rng=None):
        """The file. With rng, a number of the directory or the header is extreme."""
        out, entries = bytearray(4096), []
        for s in self.sections[:63]:
            out += bytes(-len(out) % 64)
            entries.append([s.name, s.flags, s.item, len(out), len(s.data), s.size,
                            hash_of(s.data), 0])
            out += s.data
        n, size = len(entries), len(out)
        if rng and rng.random() < .9:
            entry, field = rng.choice(entries), rng.choice((1, 2, 3, 4, 5, 5, 5))
            entry[field] = extreme(rng) % (1 << (32 if field < 3 else 64))
            if field in (3, 5) and rng.random() < .5:
                entry[field] &= -64
        elif rng:
            n, size = rng.choice(((extreme(rng) % (1 << 32), size), (n, extreme(rng))))
        directory = b"".join(struct.pack("<16sIIQQQQQ", *entry) for entry in entries)
        head = SNAPSHOT + self.version + struct.pack("<QIIQ16x", size, n, 0,
                                                     hash_of(directory[:64 * n]))
        out[:64 + len(directory)] = head + struct.pack("<Q", hash_of(head)) + directory
        return bytes(out)


def change_items(s, rng):
    """Words of a section are extreme, the same, ascending, or those of another item."""
    data = bytearray(s.items())
    word = rng.choice((1, 4, 8)) if s.item % 8 == 0 else rng.choice((1, 4)) if s.item % 4 == 0 else 1
    if len(data) < word:
        return
    n = len(data) // word
    how = rng.randrange(5)
    if how == 0:  # one field of all items
        value, at = extreme(rng), rng.randrange(max(1, s.item // word))
        for i in range(at, min(n, 1 << 16), max(1, s.item // word)):
            data[i * word:(i + 1) * word] = (value % (1 << 8 * word)).to_bytes(word, "little")
    elif how == 1:  # a permutation
        for _ in range(min(n, 64)):
            a, b = (rng.randrange(n) * word for _ in range(2))
            data[a:a + word], data[b:b + word] = data[b:b + word], data[a:a + word]
    else:
        for _ in range(rng.choice((1, 1, 2, 20))):
            i = rng.randrange(n)
            value = rng.choice((extreme(rng), n, n - 1, n + 1, i, i - 1, i + 1, rng.randrange(n)))
            data[i * word:(i + 1) * word] = (value % (1 << 8 * word)).to_bytes(word, "little")
    s.put(data)


def change_count(s, rng):
    """Fewer items, or more: zeros, or the same again."""
    data = s.items()
    size = rng.choice((0, s.item, len(data) // 2 // s.item * s.item, len(data) - s.item,
                       len(data) + s.item, 2 * len(data)))
    fill = rng.choice((b"\0", b"\xff", data[-s.item:] or b"\0", data or b"\0"))
    s.put((data + fill * (size // len(fill) + 1))[:max(0, size)])


BOMBS = {}


def bomb_of(fill, size):
    """Packed bytes, in frames of at most 16 MiB, which are kept."""
    def frame(n):
        if (fill, n) not in BOMBS:
            BOMBS[fill, n] = pack((fill * (n // len(fill) + 1))[:n], 1)
        return BOMBS[fill, n]
    whole = 16 * MEBIBYTE // len(fill) * len(fill)
    return frame(whole) * (size // whole) + (frame(size % whole) if size % whole else b"")


# Their number of items is no other section's.
ANY_LENGTH = {b"strings", b"properties", b"types", b"roots", b"windows", b"large", b"fates", b"frames",
              b"contexts", b"events", b"lives", b"lives.groups", b"space.names", b"space.steps",
              b"waste.blocks", b"waste.texts", b"waste.used", b"modules", b"conflicts", b"census",
              b"retained.tree", b"suspects", b"owners", b"leaks.groups", b"births.threads", b"marks",
              b"reach.internal", b"dom.order", b"live.functions", b"windows.sites", b"fields", b"extents"}


def make_bomb(s, rng, mebibytes):
    fill = rng.choice((b"\0", b"\xff", b"a", b"\1\0\0\0", (s.items()[:s.item] or b"\0")))
    size = rng.choice(mebibytes) * MEBIBYTE // s.item * s.item
    s.flags, s.size, s.data = 1, size, bomb_of(fill, size)


COLUMNS = {b"objects.usable": b"\x18\0\0\0", b"objects.type": b"\1\0\0\0",
           b"waste.equal": b"\xff", b"births.context": b"\xff"}


def claim_objects(snapshot, rng):
    """As many objects as a small file can have, in an array, with equal or consecutive targets."""
    n, edges = rng.choice((1 << 16, 1 << 18, 1 << 20)), rng.choice((0, 1, 1, 4))
    chunks = -(-n // 65536)
    roots = snapshot.find(b"roots")
    nodes = n + 7 + (len(roots.items()) // 40 if roots else 0)
    counts = {b"edges.to": n * edges, b"edges.grade": n * edges, b"edges.name": n * edges,
              b"dom.idom": nodes, b"dom.retained": nodes, b"reach.any": -(-nodes // 64),
              b"reach.exact": -(-nodes // 64), b"reach.likely": -(-nodes // 64)}
    for name in (b"objects.usable", b"objects.type", b"objects.flags", b"objects.used", b"waste.equal",
                 b"births.context", b"births.thread", b"births.time", b"births.size"):
        counts[name] = n
    if rng.random() < .8:  # they are computed
        snapshot.sections = [s for s in snapshot.sections
                             if not s.name.startswith((b"dom.", b"census", b"retained.tree", b"owners"))]
    starts_chain = rng.random() < .7
    for s in snapshot.sections:
        name = s.name.rstrip(b"\0")
        if name == b"objects.address" and rng.random() < .9:
            s.flags, s.size, s.data = 1, 4 * n, ascending(n, 32)
        elif name == b"edges.row":
            row = rows_of_chunk(edges)
            s.flags, s.size, s.data = 1, len(row) * chunks, pack(row, 1) * chunks
        elif name == b"edges.to" and edges == 1 and starts_chain:
            s.flags, s.size, s.data = 1, 4 * n, ascending(n, 1)
        elif name == b"objects.address" or name in counts:
            size = counts.get(name, n) * s.item
            s.flags, s.size, s.data = 1, size, bomb_of(COLUMNS.get(name, b"\0"), size)


def rows_of_chunk(edges):
    return array.array("I", (i * edges for i in range(65537))).tobytes()


def ascending(n, step):
    if (ascending, n, step) not in BOMBS:
        BOMBS[ascending, n, step] = pack(array.array("I", range(0, step * n, step)).tobytes(), 1)
    return BOMBS[ascending, n, step]


def make_long_texts(snapshot, rng):
    """All texts of many rows are ends of one long text."""
    strings = snapshot.find(b"strings")
    tables = [s for s in snapshot.sections if s.name.rstrip(b"\0") in TABLES_OF_TEXTS and s.size]
    if not strings or not tables:
        return
    texts, size = strings.items(), rng.choice((1 << 12, 1 << 16, 1 << 20, 1 << 23))
    strings.put(texts + b"a" * size + b"\0", True)
    for s in tables if rng.random() < .5 else [rng.choice(tables)]:
        rows = rng.choice((1, 1 << 10, 1 << 16, 1 << 20))
        data = bytearray(s.items()[-s.item:] * rows) if rows > 1 else bytearray(s.items())
        for at in range(0, len(data) if len(data) <= 1 << 22 else 0, s.item):
            struct.pack_into("<I", data, at + 4 * rng.randrange(TABLES_OF_TEXTS[s.name.rstrip(b"\0")]),
                             len(texts) + rng.randrange(min(size, 1000)))
        s.put(data, True)


TABLES_OF_TEXTS = {b"types": 4, b"roots": 4, b"frames": 3, b"edges.name": 1, b"roots.name": 1,
                   b"modules": 2, b"conflicts": 2, b"lives.groups": 6, b"space.names": 1, b"ledger": 2,
                   b"fields": 2, b"live.functions": 3, b"windows.sites": 3, b"properties": 1, b"waste.slabs": 1, b"marks": 1}


def link_cycle(s, rng):
    """Items that lead to each other, where they are numbers of items."""
    data = bytearray(s.items())
    n = len(data) // s.item
    if s.item % 4 or not n:
        return
    at = rng.randrange(s.item // 4) * 4
    for i in range(n):
        struct.pack_into("<I", data, i * s.item + at, rng.choice((i, (i + 1) % n, (i - 1) % n, n - 1 - i)))
    s.put(data)


def change_snapshot(data, rng, mebibytes):
    snapshot = Snapshot(data)
    choice = rng.random()
    s = rng.choice(snapshot.sections)
    if choice < .35:
        for _ in range(rng.choice((1, 1, 2, 5))):
            change_items(rng.choice(snapshot.sections), rng)
    elif choice < .5:
        change_count(s, rng)
    elif choice < .6:
        free = [s for s in snapshot.sections if s.name.rstrip(b"\0") in ANY_LENGTH]
        n = rng.choice((1, 1, 4, 60))
        for s in rng.sample(free, min(len(free), n)) if rng.random() < .7 else \
                rng.sample(snapshot.sections, min(len(snapshot.sections), n)):
            make_bomb(s, rng, mebibytes)
    elif choice < .65:
        claim_objects(snapshot, rng)
    elif choice < .69:
        make_long_texts(snapshot, rng)
    elif choice < .75:
        link_cycle(s, rng)
    elif choice < .8:
        snapshot.sections.remove(s)
    elif choice < .85:
        snapshot.sections += [s] * rng.choice((1, 40))
        rng.shuffle(snapshot.sections)
    elif choice < .9:
        return snapshot.build(rng)
    else:
        return damage(data, rng)
    return snapshot.build()


# ---- files of many censuses ----

class Series:
    def __init__(self, data):
        assert data[:8] == SERIES
        self.header, self.parts, at = bytearray(data[:4096]), [], 4096
        while at + 64 <= len(data) and data[at:at + 8] == SNAPSHOT:
            size = struct.unpack_from("<Q", data, at + 16)[0]
            record = at + size + -size % 64
            self.parts.append([data[at:at + size], bytearray(data[record:record + 128])])
            at = record + 128
            at += -at % 4096
        self.end = bytearray(data[at:at + 128])

    def build(self):
        out, parts = bytearray(self.header), []
        for part, record in self.parts:
            out += bytes(-len(out) % 4096)
            record = bytearray(record)
            struct.pack_into("<QQQ", record, 16, len(parts), len(out), len(part))
            record[56:64] = part[56:64]
            parts.append(out)
            out += part
            out += bytes(-len(out) % 64)
            struct.pack_into("<Q", record, 120, hash_of(record[:120]))
            out += record
        out += bytes(-len(out) % 4096)
        end = bytearray(self.end)
        if len(end) == 128:
            struct.pack_into("<QQ", end, 16, len(parts), len(out))
            struct.pack_into("<Q", end, 120, hash_of(end[:120]))
        return bytes(out + end)


def change_series(data, rng, mebibytes):
    series = Series(data)
    choice = rng.random()
    i = rng.randrange(len(series.parts))
    if choice < .4:
        series.parts[i][0] = change_snapshot(series.parts[i][0], rng, mebibytes)
    elif choice < .6:  # of the record: number, times, counts
        at, size = rng.choice(((8, 4), (12, 4), (64, 8), (72, 8), (80, 8), (88, 8), (96, 8), (104, 8),
                               (112, 8)))
        series.parts[i][1][at:at + size] = (extreme(rng) % (1 << 8 * size)).to_bytes(size, "little")
    elif choice < .7:  # many censuses
        number, parts = 0, []
        for part, record in (series.parts * rng.choice((10, 300)))[:600]:
            number += 1
            record = bytearray(record)
            struct.pack_into("<I", record, 12, number)
            parts.append([part, record])
        series.parts = parts
    elif choice < .8:
        rng.shuffle(series.parts)
    elif choice < .85:
        del series.parts[i]
        series.parts = series.parts or [[b"", bytearray(128)]]
    else:
        return damage(data, rng)
    return series.build()


# ---- ELF files ----

def elf_sections(data):
    """(name, offset of its header, offset, size) of each."""
    if len(data) < 64 or data[:5] != b"\x7fELF\2":
        return []
    shoff, = struct.unpack_from("<Q", data, 40)
    n, names = struct.unpack_from("<HH", data, 60)
    if not shoff or shoff + 64 * n > len(data) or names >= n:
        return []
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * i) for i in range(n)]
    texts = heads[names][4]
    return [(data[texts + h[0]:data.index(b"\0", texts + h[0])], shoff + 64 * i, h[4],
             0 if h[1] == 8 else h[5]) for i, h in enumerate(heads)]


def change_elf(data, rng, prefer=(b".debug", b".zdebug", b".eh_frame", b".symtab", b".gnu_debug")):
    """Bytes of one section, or a header of it; a compressed one claims another size."""
    sections = [s for s in elf_sections(data) if s[3]]
    own = [s for s in sections if s[0].startswith(prefer)]
    if not sections or rng.random() < .1:
        return damage(data, rng)
    name, head, at, size = rng.choice(own if own and rng.random() < .9 else sections)
    out = bytearray(data)
    choice = rng.random()
    if choice < .2:
        field, width = rng.choice(((4, 4), (8, 8), (24, 8), (32, 8), (40, 4), (56, 8)))
        out[head + field:head + field + width] = (extreme(rng) % (1 << 8 * width)).to_bytes(width,
                                                                                            "little")
    elif choice < .3 and struct.unpack_from("<Q", data, head + 8)[0] & 0x800:
        struct.pack_into("<Q", out, at + 8, extreme(rng))
    elif choice < .35 and name.startswith(b".zdebug"):
        struct.pack_into(">Q", out, at + 4, extreme(rng))
    else:
        piece = damage(data[at:at + size], rng)[:size]
        out[at:at + size] = piece + bytes(size - len(piece))
    return bytes(out)


def bomb_elf(data, rng, mebibytes):
    """Its debug sections are zeros, compressed by zlib."""
    sections = [s for s in elf_sections(data) if s[3] and s[0].startswith(b".debug")]
    if not sections:
        return damage(data, rng)
    out = bytearray(data)
    for name, head, _, _ in rng.sample(sections, rng.choice((1, len(sections)))):
        size = rng.choice(mebibytes) * MEBIBYTE
        key = b"zlib", size
        if key not in BOMBS:
            packer = zlib.compressobj(9)
            BOMBS[key] = b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(size // MEBIBYTE)) + \
                packer.flush()
        body = struct.pack("<IIQQ", 1, 0, size, 1) + BOMBS[key]
        out += bytes(-len(out) % 8)
        flags, = struct.unpack_from("<Q", out, head + 8)
        struct.pack_into("<Q", out, head + 8, flags | 0x800)
        struct.pack_into("<QQ", out, head + 24, len(out), len(body))
        out += body
    return bytes(out)


# ---- cores ----

def change_core(data, rng):
    """Words of the memory in it become other pointers, sizes and loops; or its headers."""
    if rng.random() < .2 or data[:4] != b"\x7fELF":
        return damage(data[:4096], rng)[:4096] + data[4096:] if rng.random() < .7 else damage(data, rng)
    phoff, = struct.unpack_from("<Q", data, 32)
    n, = struct.unpack_from("<H", data, 56)
    loads = []
    for i in range(n):
        kind, flags, at, addr, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i)
        if size and (kind == 4 or flags & 2):
            loads.append((at, addr, size))
    out = bytearray(data)

    def place():
        """A word that is not zero, if a few are looked at."""
        for _ in range(20):
            at, addr, size = rng.choice(loads)
            i = rng.randrange(max(1, size // 8)) * 8
            if any(data[at + i:at + i + 8]):
                break
        return at + i, addr + i

    for _ in range(rng.choice((1, 4, 30, 300))):
        (at, addr), other = place(), place()
        value = rng.choice((addr, addr + 16, other[1], other[1] - 16, extreme(rng),
                            int.from_bytes(data[at:at + 8], "little") ^
                            (1 << rng.randrange(64))))
        out[at:at + 8] = (value % (1 << 64)).to_bytes(8, "little")
    return bytes(out)
