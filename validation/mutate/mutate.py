# mutate.py - runs hopcast on mutated inputs of every kind and checks how it ends.
#
# SPDX-License-Identifier: Apache-2.0
#
# usage: mutate.py BUILD [options]; --help lists them.
#
# BUILD is a build folder, best one of configure --enable-sanitizers.  Input N of seed S is always
# the same: a command of mutate_cases.py, of whose files one or two are mutated.  The program is
# started as from a shell, and must end by itself, in time, within its memory, and
#   - with exit status 0, 1 or 2 (3: a study with failed runs) and no report of a sanitizer;
#   - on failure with one error line on standard error, which names an input, and without output files;
#   - on success with the output files that were asked for; JSON must parse;
#   - without control characters on standard error and without files left in TMPDIR.
# Everything else is a finding.  Its folder in --findings has the input, what the program printed,
# and `again`, a script that runs it once more.

import argparse
import base64
import binascii
import collections
import gzip
import json
import multiprocessing
import os
import random
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import mutate_cases

CPU_SECONDS = 20
WALL_SECONDS = 120  # the machine may have other work
SANITIZER_STATUS = 86
MEMORY_MB = 2000
LONGEST_MESSAGE = 2000  # characters

# --- Mutations of bytes and texts ---

NUMBERS = ["0", "-1", "1", "2", "7", "255", "256", "65535", "65536", "2147483647", "2147483648",
           "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
           "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1e308", "-1e308",
           "1e309", "1e-320", "0.5", "nan", "inf", "-inf", "0x10", "1e9", "100000", "9" * 400, "",
           "-0", "1.", ".5", "1,5", "١"]
WORDS = [b"\x00", b"\xff\xfe", b"\xc3\x28", b"\x1b[31m", b"\x1b]0;t\x07", b"\r", b"\n\n", b"\t", b"\"",
         b"'", b",", b";", b":", b"=", b"[", b"]", b"{", b"}", b"(", b")", b"<", b">", b"&#0;", b"#",
         b"\\", b"%s%n", b"../", b"/dev/zero", b"\xef\xbb\xbf", b"\xc2\x9b", b"\xe2\x80\xae", b"-"]
NUMBER = re.compile(rb"[-+]?(?:0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?)")
TOKEN = re.compile(rb"[A-Za-z_]\w*|\d+|[^\sA-Za-z_\d]|\s+")
LARGEST = 1 << 20  # no mutation of a text makes it larger


def some_span(r, n, longest=None):
    """The ends of a nonempty span of n places; short spans are likelier."""
    start = r.randrange(n)
    longest = min(longest or n, n - start)
    return start, start + max(1, int(longest ** r.random()))


def extreme_word(r):
    """Bytes of a binary number at the edge of its range."""
    size = r.choice([1, 2, 4, 8])
    value = r.choice([0, 1, 2, (1 << 8 * size - 1) - 1, 1 << 8 * size - 1, (1 << 8 * size) - 1,
                      r.getrandbits(8 * size), 1 << r.randrange(8 * size)])
    return value.to_bytes(size, r.choice(["little", "big"]))


def flip_bit(r, data, other):
    at = r.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << r.randrange(8)]) + data[at + 1:]


def set_byte(r, data, other):
    at = r.randrange(len(data))
    return data[:at] + bytes([r.choice([0, 1, 0x7f, 0x80, 0xff, r.randrange(256)])]) + data[at + 1:]


def set_word(r, data, other):
    word = extreme_word(r)
    at = r.randrange(len(data))
    return data[:at] + word + data[at + len(word):]


def truncate(r, data, other):
    return data[:r.randrange(len(data))]


def delete_chunk(r, data, other):
    start, end = some_span(r, len(data))
    return data[:start] + data[end:]


def repeat_chunk(r, data, other):
    start, end = some_span(r, len(data))
    return data[:end] + data[start:end] * r.choice([1, 1, 2, 20]) + data[end:]


def swap_chunks(r, data, other):
    a, b = some_span(r, len(data))
    c, d = some_span(r, len(data))
    if c < b:
        return data
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def insert_word(r, data, other):
    at = r.randrange(len(data) + 1)
    return data[:at] + r.choice(WORDS) * r.choice([1, 1, 1, 50]) + data[at:]


def splice(r, data, other):
    """Its beginning, and the end of another seed."""
    return data[:r.randrange(len(data) + 1)] + other[r.randrange(len(other) + 1):]


def append_other(r, data, other):
    return data + other


def set_number(r, data, other):
    found = list(NUMBER.finditer(data))
    if not found:
        return set_word(r, data, other)
    match = r.choice(found)
    return data[:match.start()] + r.choice(NUMBERS).encode() + data[match.end():]


def change_number(r, data, other):
    """By a little, or to a number that stands elsewhere."""
    found = list(NUMBER.finditer(data))
    if not found:
        return flip_bit(r, data, other)
    match = r.choice(found)
    number = r.choice(found).group()
    if match.group().isdigit() and r.random() < 0.6:
        number = str(int(match.group()) + r.choice([-1, 1, 2, 10])).encode()
    return data[:match.start()] + number + data[match.end():]


def change_tokens(r, data, other):
    found = [match.group() for match in TOKEN.finditer(data)]
    if len(found) < 2:
        return insert_word(r, data, other)
    at, with_ = r.randrange(len(found)), r.randrange(len(found))
    how = r.randrange(5)
    if how == 0:
        del found[at]
    elif how == 1:
        found.insert(at, found[with_])
    elif how == 2:
        found[at], found[with_] = found[with_], found[at]
    elif how == 3:
        found[at] = r.choice(NUMBERS).encode()
    else:
        found[at] = found[with_]
    return b"".join(found)


def change_lines(r, data, other):
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return change_tokens(r, data, other)
    start, end = some_span(r, len(lines), longest=5)
    to = r.randrange(len(lines))
    how = r.randrange(5)
    if how == 0:
        del lines[start:end]
    elif how == 1:
        lines[to:to] = lines[start:end] * r.choice([1, 1, 30])
    elif how == 2:
        lines[start], lines[to] = lines[to], lines[start]
    elif how == 3:
        lines[start] = lines[start].rstrip(b"\n")
    else:
        others = other.splitlines(keepends=True)
        lines[to:to] = others[:5] if others else []
    return b"".join(lines)


def change_cells(r, data, other):
    """Of a table of CSV."""
    lines = data.split(b"\n")
    at = r.randrange(len(lines))
    cells = lines[at].split(b",")
    cell = r.randrange(len(cells))
    how = r.randrange(6)
    if how == 0:
        del cells[cell]
    elif how == 1:
        cells.insert(cell, cells[r.randrange(len(cells))])
    elif how == 2:
        cells[cell] = r.choice(NUMBERS).encode()
    elif how == 3:
        cells[cell] = r.choice([b"", b"\"", b"\"a,b\"", b"a\nb", b"=1+1", b"text"] + WORDS)
    elif how == 4:
        cells[cell] = r.choice(r.choice(lines).split(b","))
    else:  # a whole column
        for row, line in enumerate(lines):
            parts = line.split(b",")
            if cell < len(parts) and row > 0:
                parts[cell] = r.choice([b"0", b"", b"1e308", b"nan", parts[0]])
                lines[row] = b",".join(parts)
        return b"\n".join(lines)
    lines[at] = b",".join(cells)
    return b"\n".join(lines)


def long_line(r, data, other):
    at = r.randrange(len(data) + 1)
    return data[:at] + r.choice([b"a", b"1", b" ", b"(", b",", b"9,"]) * r.choice([300, 5000, 200000]) + data[at:]


BYTES = [flip_bit, set_byte, set_word, set_word, truncate, delete_chunk, repeat_chunk, swap_chunks,
         insert_word, splice]
TEXTS = [set_number, set_number, change_number, change_tokens, change_tokens, change_lines, change_lines,
         insert_word, truncate, delete_chunk, repeat_chunk, flip_bit, set_byte, splice, append_other,
         long_line]


def mutate_by(functions, few=4):
    """Applies one to `few` of these functions."""
    def mutate(r, data, other):
        for _ in range(1 + int(r.random() ** 2 * few)):
            if not data:
                return data
            changed = r.choice(functions)(r, data, other)
            if len(changed) <= max(LARGEST, 2 * len(data)):
                data = changed
        return data
    return mutate


# --- Mutations that know the structure ---

ATTRIBUTE = re.compile(rb"(\w+)=\"([^\"]*)\"")
SETS = [b"", b"0x0", b"0x00000001", b"0xffffffff", b"0xf...f", b"0x1,,0x1", b",0x1", b"0x1,", b"1-3", b"-1",
        b"0x" + b"f" * 200, b"0x1," + b"0x0," * 400 + b"0x0", b"zebra"]


def xml_attribute(r, data, other):
    found = list(ATTRIBUTE.finditer(data))
    if not found:
        return set_number(r, data, other)
    match, with_ = r.choice(found), r.choice(found)
    how = r.randrange(5)
    text = match.group()
    if how == 0:
        text = b""
    elif how == 1:
        text = match.group(1) + b"=\"" + r.choice(NUMBERS).encode() + b"\""
    elif how == 2:
        text = match.group(1) + b"=\"" + with_.group(2) + b"\""
    elif how == 3:
        text = match.group(1) + b"=\"" + r.choice(SETS) + b"\""
    else:
        text = with_.group() + b" " + text
    return data[:match.start()] + text + data[match.end():]


def json_value(r, value):
    return r.choice([None, True, False, 0, -1, 1, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 32, 2 ** 63, 2 ** 64,
                     10 ** 400, "", "text", "\x1b[31m", "\x00", "nan", [], {}, [value], {"a": value},
                     [value] * 100, float("nan"), float("inf")])


def json_places(value, places):
    """Every (container, key) of a document."""
    for key in (value if isinstance(value, dict) else range(len(value))):
        places.append((value, key))
        if isinstance(value[key], (dict, list)):
            json_places(value[key], places)
    return places


def json_member(r, data, other):
    try:
        document = json.loads(data)
        places = json_places(document, [])
    except (ValueError, TypeError, RecursionError):
        return set_number(r, data, other)
    if not places:
        return data
    container, key = r.choice(places)
    how = r.randrange(6)
    if how == 0:
        del container[key]
    elif how == 1 and isinstance(container, list):
        container.insert(key, container[r.randrange(len(container))])
    elif how == 2:
        with_, at = r.choice(places)
        container[key] = json.loads(json.dumps(with_[at]))
    elif how == 3 and isinstance(container[key], str):
        container[key] = json_text(r, container[key])
    else:
        container[key] = json_value(r, container[key])
    return json.dumps(document, indent=1).encode()


def json_text(r, text):
    """Mutates a string; one of base64 inside of the bytes that it stands for."""
    try:
        inside = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        inside = b""
    if inside and len(text) > 16:
        return base64.b64encode(mutate_by([set_word, flip_bit, truncate, delete_chunk])(r, inside, inside)).decode()
    return mutate_by(TEXTS)(r, text.encode(), b"").decode("utf-8", "replace")


def mutate_gzip(mutate):
    """Inside of what is packed, or the packed bytes."""
    def packed(r, data, other):
        if r.random() < 0.15:
            return mutate_by(BYTES)(r, data, other)
        inside = mutate(r, gzip.decompress(data), gzip.decompress(other))
        if r.random() < 0.02:
            inside += inside[-4096:] * (1 << 14)  # far more than its size lets expect
        return gzip.compress(inside, 1, mtime=0)
    return packed


# Number in groups of seven bits: its value and the place behind it.
def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def as_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def hct_open(data):
    """The index around its list of blocks, and the blocks, all unpacked; see format-hct.md."""
    place, stored, size = struct.unpack("<QQQ", data[-48:-24])
    index = data[place:place + stored]
    index = zlib.decompress(index) if stored != size else index

    def skip_strings(at, n):
        for _ in range(n):
            length, at = varint(index, at)
            at += max(0, length - 1)
        return at

    at = skip_strings(varint(index, 0)[1], 2)
    for strings, plain in ((1, 0), (1, 0), (0, 2), (2, 0), (1, 0)):
        n = 1
        if strings:
            n, at = varint(index, at)
        at = skip_strings(at, strings * n)
        for _ in range(plain):
            at = varint(index, at)[1]
    before = index[:at]
    n, at = varint(index, at)
    columns = []
    for _ in range(4 * n):
        value, at = varint(index, at)
        columns.append(value)
    blocks, place = [], 32
    for block in range(n):
        kind, raw, packed = columns[block], columns[n + block], columns[2 * n + block]
        bytes_ = data[place:place + packed]
        blocks.append((kind, zlib.decompress(bytes_) if raw != packed else bytes_))
        place += packed
    return before, blocks, index[at:]


def hct_close(head, before, blocks, after):
    columns = [[kind for kind, _ in blocks], [len(block) for _, block in blocks],
               [len(block) for _, block in blocks], [zlib.crc32(block) for _, block in blocks]]
    index = before + as_varint(len(blocks)) + b"".join(as_varint(v) for column in columns for v in column) + after
    body = head + b"".join(block for _, block in blocks)
    trailer = struct.pack("<QQQIIQ", len(body), len(index), len(index), zlib.crc32(index), 0,
                          len(body) + len(index) + 48)
    return body + index + trailer + struct.pack("<I", zlib.crc32(trailer)) + b"TCH\n"


def mutate_hct(r, data, other):
    """The blocks or the index, under right checksums; now and then the bytes of the file."""
    if r.random() < 0.15:
        return mutate_by(BYTES)(r, data, other)
    before, blocks, after = hct_open(data)
    functions = mutate_by([flip_bit, set_byte, set_word, delete_chunk, repeat_chunk, swap_chunks])
    which = r.randrange(len(blocks) + 2)
    if which < len(blocks):
        blocks[which] = (blocks[which][0], functions(r, blocks[which][1], b""))
    elif which == len(blocks):
        before = functions(r, before, b"")
    else:
        after = functions(r, after, b"")
    return hct_close(data[:32], before, blocks, after)


def recording_close(blocks):
    out = b"hopcast\x01"
    for payload, sources, n in blocks:
        head = struct.pack("<III", len(payload), len(sources), n)
        out += head + struct.pack("<II", zlib.crc32(payload + sources, zlib.crc32(head)), 0x6b6c6268)
        out += payload + sources
    return out


def mutate_recording(r, data, other):
    """A block of the file of a rank, under a right checksum; see traces/recorder/recording.h."""
    if r.random() < 0.15:
        return mutate_by(BYTES)(r, data, other)
    blocks, at = [], 8
    while at < len(data):
        n_payload, n_sources, n = struct.unpack("<III", data[at:at + 12])
        at += 20
        blocks.append([data[at:at + n_payload], data[at + n_payload:at + n_payload + n_sources], n])
        at += n_payload + n_sources
    block = r.choice(blocks)
    part = r.randrange(8)
    if part == 0:
        block[2] = r.choice([0, 1, 2 ** 31, 2 ** 32 - 1])
    elif part == 1 and block[1]:
        block[1] = mutate_by([flip_bit, set_byte, truncate])(r, block[1], b"")
    else:
        functions = TEXTS if block is blocks[0] else BYTES
        block[0] = mutate_by(functions)(r, block[0], b"\xff\xff\xff\xff\x0f")
    return recording_close(blocks)


STORE_SQL = ["DROP TABLE {t}", "DELETE FROM {t}", "ALTER TABLE {t} ADD COLUMN more TEXT DEFAULT 'x'",
             "ALTER TABLE {t} DROP COLUMN \"{c}\"", "ALTER TABLE {t} RENAME COLUMN \"{c}\" TO \"{c}2\"",
             "CREATE TRIGGER odd AFTER UPDATE ON {t} BEGIN DELETE FROM {t}; END",
             "CREATE TRIGGER odd AFTER INSERT ON {t} BEGIN SELECT zeroblob(500000000); END",
             "DROP VIEW results", "PRAGMA user_version = 2147483647", "PRAGMA user_version = 0",
             "PRAGMA application_id = 1", "ALTER TABLE {t} RENAME TO odd",
             "ALTER TABLE {t} RENAME TO odd; CREATE VIEW {t} AS SELECT * FROM odd",
             "ALTER TABLE {t} RENAME TO odd; CREATE VIEW {t} AS SELECT * FROM {t}",
             "INSERT OR IGNORE INTO {t} SELECT * FROM {t}", "CREATE TABLE {t}2 AS SELECT * FROM {t}"]
STORE_VALUES = [None, 0, 1, -1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 63 - 1, -2 ** 63, 1e308, -1e308,
                float("inf"), 1e-320, 0.5, "", "text", "\x1b[31mred", "a\nb", "x" * 100000, b"", b"\x00\xff" * 9,
                "fabric:/dev/zero", "bgq:1000000000", "torus:4294967295", "../../etc/passwd",
                "gen:ring:ranks=4294967295"]


# Sizes, places and what rows are found by: readers compute with these.
STORE_COLUMNS = {"nodes", "links", "ranks", "ranks_per_node", "edges", "data", "places", "link_bytes", "rank_times",
                 "key", "hash", "trace_hash", "machine_hash", "mapping_hash", "text", "status", "place", "file"}


def store_blob(r, value):
    """Bytes of a packed blob, or what is packed in it."""
    try:
        inside = zlib.decompress(value)
    except zlib.error:
        return mutate_by(BYTES)(r, value, value) if value else b"\x00"
    if r.random() < 0.2:
        return mutate_by(BYTES)(r, value, value)
    if r.random() < 0.05:
        return zlib.compress(bytes(100_000_000), 1)
    if not inside:
        return zlib.compress(bytes(r.randrange(64)))
    functions = [set_word, set_word, flip_bit, truncate, delete_chunk, repeat_chunk]
    return zlib.compress(mutate_by(functions)(r, inside, inside))


def store_cell(r, db):
    tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = "runs" if "runs" in tables and r.random() < 0.3 else r.choice(tables)
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    rows = [row for row, in db.execute(f"SELECT rowid FROM {table}")]
    column = r.choice(columns)
    if r.random() < 0.6:
        column = r.choice([name for name in columns if name in STORE_COLUMNS] or columns)
    if not rows or r.random() < 0.12:
        db.executescript(r.choice(STORE_SQL).format(t=table, c=column))
        return
    row = r.choice(rows)
    value = db.execute(f"SELECT \"{column}\" FROM {table} WHERE rowid = ?", (row,)).fetchone()[0]
    if isinstance(value, bytes) and r.random() < 0.8:
        value = store_blob(r, value)
    elif isinstance(value, str) and r.random() < 0.5:
        value = mutate_by(TEXTS)(r, value.encode(), value.encode()).decode("utf-8", "replace")
    elif isinstance(value, int) and r.random() < 0.6:
        value = r.choice([value - 1, value + 1, value + 100, 0, 1, 2, 3, 2 ** 31, 2 ** 32 - 1, 2 ** 63 - 1])
    elif r.random() < 0.2:
        value = db.execute(f"SELECT \"{r.choice(columns)}\" FROM {table} WHERE rowid = ?",
                           (r.choice(rows),)).fetchone()[0]
    else:
        value = r.choice(STORE_VALUES)
    where = "" if r.random() < 0.5 else " WHERE rowid = ?"
    if r.random() < 0.1:
        db.execute(f"DELETE FROM {table}{where}", (row,) if where else ())
    else:
        db.execute(f"UPDATE OR IGNORE {table} SET \"{column}\" = ?{where}", (value, row) if where else (value,))


def mutate_store(r, data, other):
    """Cells and tables of an SQLite database; now and then the bytes of the file."""
    if r.random() < 0.15:
        return mutate_by(BYTES)(r, data, other)
    with tempfile.NamedTemporaryFile(prefix="mutate-store-") as file:
        file.write(data)
        file.flush()
        db = sqlite3.connect(file.name, isolation_level=None)
        db.execute("PRAGMA journal_mode = MEMORY")
        db.text_factory = lambda text: text.decode("utf-8", "replace")
        for _ in range(1 + int(r.random() ** 2 * 4)):
            try:
                store_cell(r, db)
            except sqlite3.Error:
                pass  # this mutation would not be a database; the next one may
        db.close()
        with open(file.name, "rb") as again:
            return again.read()


MUTATORS = {
    "bytes": mutate_by(BYTES),
    "text": mutate_by(TEXTS),
    "csv": mutate_by(TEXTS + [change_cells] * 8),
    "xml": mutate_by(TEXTS + [xml_attribute] * 16),
    "json": mutate_by([json_member] * 8 + TEXTS[:10]),
    "hct": mutate_hct,
    "recording": mutate_recording,
    "store": mutate_store,
}
MUTATORS["csv.gz"] = mutate_gzip(MUTATORS["csv"])
MUTATORS["text.gz"] = mutate_gzip(MUTATORS["text"])


# --- One input ---

Input = collections.namedtuple("Input", "case command files")


def mutated_argument(r, argument):
    """NULs cannot be handed over, and what begins with a minus sign is an option."""
    functions = [function for function in TEXTS if function not in (long_line, repeat_chunk)]
    text = mutate_by(functions, 3)(r, argument.encode(), argument.encode())
    text = text.replace(b"\0", b"").replace(b"\n", b" ").decode("utf-8", "surrogateescape")
    return text.lstrip("-") if not argument.startswith("-") else text


def make_input(cases, seed, number):
    """Input `number` of a seed: always the same."""
    r = random.Random(f"{seed}:{number}")
    case = cases[number % len(cases)]
    command = shlex.split(r.choice(case.commands))
    files = dict(case.files)
    if case.arguments:
        argument = mutated_argument(r, r.choice(case.arguments))
        return Input(case, [word.replace("{}", argument) for word in command], files)
    names = sorted(case.mutated)
    for name in r.sample(names, min(len(names), 1 if r.random() < 0.85 else 2)):
        data = files[name]
        siblings = [case.files[other] for other in names if case.mutated[other] == case.mutated[name]]
        what = r.random()
        if what < 0.01:
            files[name] = b""
        elif what < 0.02:
            files[name] = None  # there is no such file
        elif what < 0.03:
            files[name] = "folder"
        elif what < 0.04:
            other = r.choice(cases)
            files[name] = next((d for d in other.files.values() if isinstance(d, bytes)), b"")
        else:
            files[name] = MUTATORS[case.mutated[name]](r, data, r.choice(siblings))
    return Input(case, command, files)


def write_input(folder, files):
    for name, data in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if data == "folder":
            os.makedirs(path, exist_ok=True)
        elif data is not None:
            with open(path, "wb") as file:
                file.write(data)


# --- Running it ---

def environment(folder, sanitized):
    env = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": folder,
        "TMPDIR": os.path.join(folder, "tmp"),
        "LC_ALL": "C.UTF-8",
        "G_DEBUG": "fatal-warnings",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if sanitized:
        env["ASAN_OPTIONS"] = (f"exitcode={SANITIZER_STATUS}:max_allocation_size_mb={MEMORY_MB}:"
                               f"hard_rss_limit_mb={MEMORY_MB}:symbolize=1:detect_leaks=1:"
                               "quarantine_size_mb=16:intercept_strstr=0:intercept_tls_get_addr=0")
        env["LSAN_OPTIONS"] = f"suppressions={os.path.join(folder, 'leaks')}:print_suppressions=0"
        with open(os.path.join(folder, "leaks"), "w") as file:
            # Of files that they refuse; Scotch's parser of its own strategies.
            file.write("leak:libhwloc.so\nleak:libopen-trace-format2.so\nleak:scotchyyparse\n")
        env["UBSAN_OPTIONS"] = f"print_stacktrace=1:exitcode={SANITIZER_STATUS}"
    return env


def set_limits(sanitized):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        if not sanitized:  # whose shadow memory needs the whole address space
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB << 20, MEMORY_MB << 20))
    return limit


Ending = collections.namedtuple("Ending", "status out err seconds")


def run(program, command, folder, sanitized):
    """Runs the command in the folder, in a group of processes of its own."""
    begun = time.monotonic()
    with open(os.path.join(folder, ".out"), "w+b") as out, open(os.path.join(folder, ".err"), "w+b") as err:
        process = subprocess.Popen([os.fsencode(word) for word in [program] + command],
                                   cwd=os.path.join(folder, "work"), env=environment(folder, sanitized),
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True, preexec_fn=set_limits(sanitized))
        try:
            status = process.wait(WALL_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        out.seek(0)
        err.seek(0)
        return Ending(status, out.read(1 << 24), err.read(1 << 20), time.monotonic() - begun)


# --- What must hold ---

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
FRAME = re.compile(rb"#\d+ 0x\w+ in (\w+) \S*?/(?:[^/\s]+/)?"
                   rb"((?:base|cli|study|sim|predictors|traces|topology|routing|validation)/\S+?:\d+)")


def sanitizer_report(err):
    """What a sanitizer found, in a line, or None."""
    error = re.search(rb"runtime error: (.*)|ERROR: \w+Sanitizer: ([^\n]*)|(hard rss limit exhausted)", err)
    if not error:
        return None
    what = next(group for group in error.groups() if group).decode("utf-8", "replace")
    frame = FRAME.search(err)
    what = re.sub(r"0x[0-9a-f]{6,}", "0x...", what).split(" (pc ")[0]
    return f"{what[:100]} in {frame.group(1).decode()} {frame.group(2).decode()}" if frame else what[:160]


def signature(line):
    """An error line without what differs from input to input."""
    return re.sub(r"\d+", "N", re.sub(r"\"[^\"]*\"|'[^']*'|\S+/\S+", "X", line))[:110]


def json_fault(text):
    def refuse(constant):
        raise ValueError(constant)
    try:
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as fault:
        return f"output is not JSON: {fault}"
    return None


def names(input):
    """What a message may blame: the input files and the arguments."""
    for path in input.files:
        yield from path.split("/")
        yield os.path.splitext(path)[0] + "-"  # a trace's other files
    for word in input.command[1:]:
        yield from (part for part in [word, *re.split("[:=,]", word)] if len(part) > 1)


def stderr_faults(input, ending, text, lines):
    if CONTROL.search(text):
        yield "control character on stderr: " + input.case.reader
    if ending.status not in (1, 2) or ending.status == 1 and input.command[0] == "validate":
        return
    if not lines:
        yield f"status {ending.status} without a message"
        return
    if not text.endswith("\n"):
        yield "the message has no end of line: " + signature(lines[-1])
    if not lines[-1].startswith("hopcast: ") or len(lines[-1]) < 12:
        yield "the last line is no message: " + signature(lines[-1])
    elif any(not line.startswith("hopcast: ") and not (line.startswith("  ") and input.command[0] == "study")
             for line in lines):
        yield "more than a line: " + signature(" / ".join(lines[-2:]))
    elif ending.status == 1 and not input.case.arguments and not any(name in text for name in names(input)):
        yield "no file is named: " + signature(lines[-1])
    if len(lines[-1]) > LONGEST_MESSAGE:
        yield "a message of thousands of characters: " + signature(lines[-1])


def output_faults(input, ending, folder):
    """Output files have names that begin with "out"; `-o out` alone is the beginning of several."""
    present = set(os.listdir(os.path.join(folder, "work")))
    tmp = os.listdir(os.path.join(folder, "tmp"))
    command = " ".join(input.command[:2])
    if tmp:
        yield "left in TMPDIR: " + signature(" ".join(sorted(tmp)))
    strange = [name for name in sorted(present - {name.split("/")[0] for name in input.files})
               if not name.startswith(("out", *input.case.leaves)) or ".tmp-" in name]
    if strange:
        yield f"left in the folder: {command}: " + signature(" ".join(strange))
    failed = 2 if input.command[0] == "validate" else 1  # a claim that differs is a result
    if failed <= (ending.status or 0) <= 2 and any(name.startswith("out") for name in present):
        yield "partial output: " + command
    if ending.status != 0:
        return
    for name in input.command:
        if re.match(r"out[\w-]*\.", name) and name not in present:
            yield f"no output: {command}: {name}"
        elif name.startswith("out") and name.endswith(".json"):
            with open(os.path.join(folder, "work", name), "rb") as file:
                fault = json_fault(file.read())
            if fault:
                yield f"{command}: {name}: {fault}"


def faults(input, ending, folder):
    """Everything that is wrong with the ending of a run, a line each."""
    text = ending.err.decode("utf-8", "replace")
    lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    report = sanitizer_report(ending.err)
    if report:
        yield "sanitizer: " + report
    elif ending.status is None or ending.status in (-signal.SIGXCPU, -signal.SIGKILL):
        # A large message or a long program takes its time, and says how far it is.
        if re.search(r"^hopcast: \d+ % done", text, re.MULTILINE):
            return
        yield "not ended in time: " + " ".join(input.command[:2])
    elif ending.status < 0:
        yield f"signal {-ending.status}: " + signature(lines[-1] if lines else "")
    elif ending.status not in (0, 1, 2, 3) or ending.status == 3 and input.command[:2] != ["study", "run"]:
        yield f"exit status {ending.status}: " + signature(lines[-1] if lines else "")
    else:
        yield from stderr_faults(input, ending, text, lines)
    yield from output_faults(input, ending, folder)
    if ending.status == 0 and "json" in input.command and not report:
        fault = json_fault(ending.out)
        if fault and "-" not in input.command:
            yield " ".join(input.command[:2]) + ": " + fault


# --- Findings ---

def again_script(program, command):
    words = " ".join(shlex.quote(word) for word in command)
    return ("#!/bin/sh\n# Runs it once more, on a copy of the input; $1 is another program to run.\n"
            "here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1\n"
            "cp -r \"$here/input\" \"${copy:=$(mktemp -d)}/input\" && cd \"$copy/input\" || exit 1\n"
            f"G_DEBUG=fatal-warnings ASAN_OPTIONS=max_allocation_size_mb={MEMORY_MB}:hard_rss_limit_mb={MEMORY_MB} "
            f"UBSAN_OPTIONS=print_stacktrace=1 \"${{1:-{program}}}\" {words}\n"
            "echo \"status $?, folder $copy\" >&2\n")


def keep(findings, program, number, input, ending, found):
    folder = os.path.join(findings, f"{number:06d}-{input.case.name}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "input"))
    write_input(os.path.join(folder, "input"), input.files)
    what = ("\n".join(found) + "\n").encode("utf-8", "replace")
    again = os.fsencode(again_script(program, input.command))
    for name, data in (("out", ending.out), ("err", ending.err), ("what", what), ("again", again)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    os.chmod(os.path.join(folder, "again"), 0o755)


def check(job):
    """Runs an input; returns its number, reader, faults and seconds."""
    number, = job
    input = make_input(STATE.cases, STATE.seed, number)
    folder = tempfile.mkdtemp(prefix="mutate-", dir=STATE.scratch)
    os.makedirs(os.path.join(folder, "work"))
    os.makedirs(os.path.join(folder, "tmp"))
    try:
        write_input(os.path.join(folder, "work"), input.files)
        ending = run(STATE.program, input.command, folder, STATE.sanitized)
        found = list(faults(input, ending, folder))
        if found:
            keep(STATE.findings, STATE.program, number, input, ending, found)
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    return number, input.case.reader, found, ending.status, ending.seconds


# --- The program ---

def is_sanitized(build):
    """Whether sanitizers look for what only harms by chance."""
    with open(os.path.join(build, "config.h")) as file:
        return "#define WITH_SANITIZERS 1" in file.read()


def parse_arguments():
    parser = argparse.ArgumentParser(description="Runs hopcast on mutated inputs of every kind.")
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--inputs", type=int, default=20000, metavar="N", help="how many (20000)")
    parser.add_argument("--from", type=int, default=0, metavar="N", dest="first", help="number of the first (0)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of all that is random (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="at a time (one per core)")
    parser.add_argument("--only", metavar="TEXT", help="cases with this text in their name or reader")
    parser.add_argument("--data", metavar="FOLDER", help="shared data; more seeds come from it")
    parser.add_argument("--findings", default="mutate-findings", metavar="FOLDER", help="where findings are kept")
    parser.add_argument("--list", action="store_true", help="list the cases and end")
    return parser.parse_args()


class STATE:
    """What the worker processes inherit."""


def check_seeds(cases):
    """The inputs as they are, unmutated, must be sound: else the mutations would reach nothing."""
    bad = 0
    for case in cases:
        for command in case.commands:
            if "{}" in command:
                continue
            folder = tempfile.mkdtemp(prefix="mutate-", dir=STATE.scratch)
            for name in ("work", "tmp"):
                os.makedirs(os.path.join(folder, name))
            write_input(os.path.join(folder, "work"), case.files)
            ending = run(STATE.program, shlex.split(command), folder, STATE.sanitized)
            if ending.status != 0 and case.name != "store":
                bad += 1
                print(f"{case.name}: {command}: status {ending.status}: {ending.err.decode('utf-8', 'replace')[-300:]}")
            shutil.rmtree(folder)
    return bad


def wanted(case, text):
    return not text or text in case.name or text in case.reader


def numbers_of(arguments):
    """Of the inputs to run; the numbers of a reader are the same with --only and without."""
    number, n = arguments.first, 0
    while n < arguments.inputs:
        if wanted(STATE.cases[number % len(STATE.cases)], arguments.only):
            yield (number,)
            n += 1
        number += 1


def tell(number, found, counts):
    for fault in found:
        counts[fault] += 1
        if counts[fault] == 1:
            print(f"{number}: {fault}".encode("ascii", "backslashreplace").decode(), flush=True)


def run_all(arguments):
    passed = failed = 0
    faults_seen, readers, slow = collections.Counter(), collections.Counter(), []
    begun = told = time.monotonic()
    statuses = collections.Counter()
    with multiprocessing.Pool(arguments.jobs) as pool:
        for number, reader, found, status, seconds in pool.imap_unordered(check, numbers_of(arguments), 4):
            statuses[status] += 1
            slow = sorted(slow + [(round(seconds, 1), number)])[-5:]
            if found:
                failed += 1
                readers[reader] += 1
                tell(number, found, faults_seen)
            else:
                passed += 1
            if time.monotonic() - told > 30:
                told = time.monotonic()
                rate = (passed + failed) / (told - begun)
                print(f"# {passed + failed} of {arguments.inputs}, {failed} failed, {rate:.1f} a second", flush=True)
    print("# exit statuses: " + ", ".join(f"{status}: {n}" for status, n in sorted(statuses.items(), key=str)))
    print("# slowest: " + ", ".join(f"input {number} {seconds} s" for seconds, number in reversed(slow)))
    for fault, n in faults_seen.most_common():
        print(f"# {n} x {fault}".encode("ascii", "backslashreplace").decode())
    for reader, n in readers.most_common():
        print(f"# {reader}: {n} failed")
    print(f"{passed} passed, {failed} failed")
    return failed == 0


def main():
    arguments = parse_arguments()
    STATE.program = os.path.abspath(os.path.join(arguments.build, "hopcast"))
    STATE.sanitized = is_sanitized(arguments.build)
    STATE.seed = arguments.seed
    STATE.findings = os.path.abspath(arguments.findings)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    STATE.scratch = tempfile.mkdtemp(prefix="hopcast-mutate-", dir=memory)
    try:
        STATE.cases = mutate_cases.make_cases(os.path.abspath(arguments.build), arguments.data, STATE.scratch)
        if arguments.list:
            cases = {case.name: case for case in STATE.cases if wanted(case, arguments.only)}
            for case in cases.values():
                print(f"{case.reader}: {case.name}: {len(case.commands)} commands")
            return check_seeds(cases.values()) == 0
        return run_all(arguments)
    finally:
        shutil.rmtree(STATE.scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
