# hopcast.py - the files and the commands of hopcast in Python.
#
# SPDX-License-Identifier: Apache-2.0
"""Reads what hopcast writes, and calls the program.

    run, command            call the program; its JSON as a dict, its CSV as a table
    open_store              the store of a study: runs, bytes of links, times of ranks, places
    read_npz                what `hopcast study export -o FILE.npz` writes
    read_table              any CSV of hopcast: --links, --ranks, machine links, exports
    read_timeline           what `hopcast simulate --timeline FILE.json` writes
    read_model              a model of `hopcast train`: predictions in NumPy
    read_base_model         a performance model of `hopcast correct`: its formula in NumPy

A table is a pandas.DataFrame, or without pandas a dict of NumPy arrays by column.  An unknown number
is NaN.  Wrong files raise FormatError, with the path; failures of the program raise HopcastError.
Needs Python 3.9 and NumPy.  The handbook's page is python.md.
"""

import base64
import csv
import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
import zlib

import numpy as np

try:
    import pandas
except ImportError:
    pandas = None


class HopcastError(Exception):
    """The program failed.  The text is the program's message.

    status: the exit status, 1 failed, 2 wrong usage, 3 some runs of a study failed, -n ended by signal n;
    command: list of the words that were run; output: what was printed before, such as the JSON of
    `validate` or `machine check`, which print a result and fail."""

    def __init__(self, message, status, command, output=""):
        super().__init__(message)
        self.status, self.command, self.output = status, command, output


class FormatError(ValueError):
    """A file is not what its reader expects; the text begins with the path."""


# --- Tables ---


def _table(names, columns):
    if pandas is not None:
        return pandas.DataFrame(dict(zip(names, columns)))
    return dict(zip(names, columns))


def _numbers(cells):
    """int64, uint64 or float64 (an empty cell: NaN); None where a cell is a text."""
    if all(re.fullmatch(r"-?[0-9]+", cell) for cell in cells):
        whole = [int(cell) for cell in cells]
        if not whole or -(2**63) <= min(whole) and max(whole) < 2**63:
            return np.array(whole, np.int64)
        if min(whole) >= 0 and max(whole) < 2**64:
            return np.array(whole, np.uint64)
    try:
        return np.array([float(cell) if cell != "" else np.nan for cell in cells], float)
    except ValueError:
        return None


def _column(cells):
    numbers = _numbers(cells) if any(cells) or not cells else None
    return np.array(cells, object) if numbers is None else numbers


def _open_text(path):
    if os.fspath(path).endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return open(path, encoding="utf-8", newline="")


def _parse_table(source, path):
    rows = list(csv.reader(source, strict=True))
    if not rows:
        raise FormatError(f"{path}: no line of column names")
    names = rows[0]
    if len(set(names)) < len(names):
        raise FormatError(f"{path}:1: two columns have one name")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise FormatError(f"{path}: row {number} has {len(row)} cells instead of {len(names)}")
    cells = list(zip(*rows[1:])) if len(rows) > 1 else [()] * len(names)
    return _table(names, [_column(list(one)) for one in cells])


def read_table(path):
    """The table of a CSV file, which may be packed by gzip.

    A column of numbers is int64, uint64 or, with empty cells or decimals, float64; others are texts."""
    with _open_text(path) as source:
        try:
            return _parse_table(source, path)
        except (csv.Error, UnicodeDecodeError, EOFError, gzip.BadGzipFile) as problem:
            raise FormatError(f"{path}: {problem}") from problem


# --- The program ---


def _program(program):
    found = program or os.environ.get("HOPCAST") or shutil.which("hopcast")
    if not found:
        raise FileNotFoundError("no hopcast: give program=PATH, set HOPCAST or put it into PATH")
    return os.fspath(found)


def _words(options):
    """ranks_per_node=16 is --ranks-per-node=16, quiet=True is --quiet; None and False are left out.
    A list repeats the option, a dict repeats it as KEY=VALUE."""
    words = []
    for name, value in options.items():
        name = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(name)
        elif isinstance(value, dict):
            words += [f"{name}={key}={one}" for key, one in value.items()]
        elif isinstance(value, (list, tuple)):
            words += [f"{name}={one}" for one in value]
        else:
            words.append(f"{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


def command(name, *arguments, program=None, format="json", **options):
    """What `hopcast NAME ARGUMENTS... --OPTIONS` prints.

    name: one or two words, such as "rank" or "machine check".  format: "json" returns the parsed JSON,
    "csv" a table, None the text of a command that has no --format.  program: the path of hopcast,
    else that of the variable HOPCAST, else the one in PATH.  HopcastError when the program fails,
    FormatError when it prints something else, OSError when it cannot be started."""
    if format is not None:
        options["format"] = format
    words = [_program(program), *name.split(), *map(os.fspath, arguments), *_words(options)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                          errors="replace", check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("hopcast: ")]
        message = lines[-1][len("hopcast: "):] if lines else f"exit status {done.returncode}"
        raise HopcastError(message, done.returncode, words, done.stdout)
    if format == "json":
        try:
            return json.loads(done.stdout)
        except ValueError as problem:
            raise FormatError(f"{' '.join(words[:2])}: printed no JSON: {problem}") from problem
    if format == "csv":
        return _parse_table(io.StringIO(done.stdout, newline=""), name)
    return done.stdout


class Run(dict):
    """The run record of `hopcast simulate` (schema hopcast.run/1).  links, ranks: the tables of --links
    and --ranks; timeline: the Timeline of --timeline; None where they were not asked for."""

    links = ranks = timeline = None


def run(trace, machine, *, links=False, ranks=False, timeline=False, program=None, **options):
    """Simulates a trace, or a pattern such as "gen:ring:ranks=8", on a machine.

    options are those of `hopcast simulate`: mapping="TABCDE", ranks_per_node=16, network="flow",
    set={"link.hop_latency": "50ns"}.  Returns a Run; warnings are in its "warnings"."""
    options.setdefault("quiet", True)
    with tempfile.TemporaryDirectory(prefix="hopcast-") as folder:
        files = {"links": (links, "links.csv", read_table), "ranks": (ranks, "ranks.csv", read_table),
                 "timeline": (timeline, "timeline.json", read_timeline)}
        for name, (is_wanted, file, _) in files.items():
            if is_wanted:
                options[name] = os.path.join(folder, file)
        record = Run(command("simulate", trace, machine=machine, program=program, **options))
        for name, (is_wanted, _, read) in files.items():
            if is_wanted:
                setattr(record, name, read(options[name]))
    return record


# --- Stores ---

_STORE_APPLICATION = 0x686F7063
_STORE_VERSION = 4
_EDGE = np.dtype([("source", "<u4"), ("destination", "<u4"), ("messages", "<u8"), ("bytes", "<u8")])


class Store:
    """A study's store, open for reading.  Use as `with open_store(path) as store`, or close it."""

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"{self.path}: no such store")
        name = os.path.abspath(self.path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        self._db = sqlite3.connect(f"file:{name}?mode=ro", uri=True)
        try:
            application, self.version = (self._db.execute(f"PRAGMA {what}").fetchone()[0]
                                         for what in ("application_id", "user_version"))
        except sqlite3.DatabaseError as problem:
            self.close()
            raise FormatError(f"{self.path}: {problem}") from problem
        if application != _STORE_APPLICATION or not 1 <= self.version <= _STORE_VERSION:
            self.close()
            raise FormatError(f"{self.path}: no hopcast store of version 1 to {_STORE_VERSION}")

    def close(self):
        self._db.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def select(self, sql, parameters=()):
        """The rows of a question in SQL, as a table.  NULL is NaN in columns with a number, else None."""
        cursor = self._db.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        columns = list(zip(*cursor.fetchall())) or [()] * len(names)
        return _table(names, [self._values(column) for column in columns])

    @staticmethod
    def _values(values):
        known = [value for value in values if value is not None]
        if not known or not all(isinstance(value, (int, float)) for value in known):
            return np.array(values, object)
        if len(known) < len(values):
            return np.array([np.nan if value is None else value for value in values], float)
        return np.array(values)

    def runs(self):
        """The table `results`: a row per run of the study, in its order, with all metrics."""
        return self.select("SELECT * FROM results ORDER BY place")

    def _blob(self, kind, question, parameters):
        row = self._db.execute(question, parameters).fetchone()
        if row is None or row[0] is None:
            return None
        try:
            return np.frombuffer(zlib.decompress(row[0]), kind)
        except (zlib.error, ValueError) as problem:
            raise FormatError(f"{self.path}: {parameters[0]}: {problem}") from problem

    def link_bytes(self, key):
        """uint64 per link, of the run with this key; None: not kept (keep-links in the study)."""
        return self._blob("<u8", "SELECT link_bytes FROM blobs WHERE key = ?", (key,))

    def rank_times(self, key):
        """float64 [ranks, 3], end, compute and wait in seconds; None: not kept (keep-ranks)."""
        times = self._blob("<f8", "SELECT rank_times FROM blobs WHERE key = ?", (key,))
        return None if times is None else times.reshape(-1, 3)

    def places(self, mapping_hash):
        """uint32 [ranks, 2], node and slot of each rank, of a run's mapping_hash."""
        places = self._blob("<u4", "SELECT places FROM placements WHERE hash = ?", (mapping_hash,))
        return None if places is None else places.reshape(-1, 2)

    def edges(self, trace_hash):
        """Records source, destination, messages, bytes of a run's trace_hash; None: not kept."""
        return self._blob(_EDGE, "SELECT data FROM edges WHERE trace_hash = ?", (trace_hash,))

    def machine(self, machine_hash):
        """The complete machine file of a run's machine_hash; None: unknown."""
        row = self._db.execute("SELECT text FROM machines WHERE hash = ?", (machine_hash,)).fetchone()
        return row and row[0]


def open_store(path):
    """The Store of that path.  FormatError when it is none, or a newer one."""
    return Store(path)


class Export:
    """The arrays of an .npz export.  runs: a table, a row per run, with the metrics as columns."""

    def __init__(self, arrays):
        self.arrays = arrays
        n = len(arrays["key"])
        names = [name for name, array in arrays.items() if array.shape == (n,) and name != "feature_names"
                 and not name.endswith("_runs")]
        columns = [arrays[name] for name in names]
        self.runs = _table(names + [str(name) for name in arrays["feature_names"]],
                           columns + list(arrays["features"].T))

    def _of_run(self, kind, run_number):
        """The row of a run in the array `kind`, or in one of `kind`_SIZE, which other sizes have."""
        for name, array in self.arrays.items():
            if re.fullmatch(rf"{kind}(_[0-9]+)?", name):
                at = np.flatnonzero(self.arrays[name + "_runs"] == run_number)
                if len(at) > 0:
                    return array[at[0]]
        return None

    def link_bytes(self, run_number):
        """uint64 per link of the run in that row of `runs`; None: not kept."""
        return self._of_run("link_bytes", run_number)

    def rank_times(self, run_number):
        """float64 [ranks, 3], end, compute and wait in seconds; None: not kept."""
        return self._of_run("rank_times", run_number)


def read_npz(path):
    """The Export of that path.  FormatError for other files."""
    try:
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        return Export(arrays)
    # np.load() takes a file that is no archive for a pickle or a single array.
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zlib.error, zipfile.BadZipFile) as problem:
        raise FormatError(f"{path}: no export of hopcast: {problem}") from problem


# --- Timelines ---


class Timeline:
    """about: what was simulated (program, trace, machine, mapping, network).
    intervals: a table with rank, lane (its name: a rank of a GOAL trace has one for each processor), name,
    category, begin_s, end_s; `waiting` lies within its call.
    messages: a table with source, destination, bytes, begin_s, delivered_s."""

    def __init__(self, about, intervals, messages):
        self.about, self.intervals, self.messages = about, intervals, messages


_RANK = re.compile(r"rank ([0-9]+)")


def read_timeline(path):
    """The Timeline of a file that `simulate --timeline FILE.json` wrote.  FormatError for other files."""
    try:
        with open(path, encoding="utf-8") as source:
            whole = json.load(source)
        return _timeline(whole["traceEvents"], whole["otherData"])
    except (ValueError, KeyError, TypeError) as problem:
        raise FormatError(f"{path}: no timeline of hopcast: {problem}") from problem


def _timeline(events, about):
    lanes = {event["tid"]: event["args"]["name"] for event in events
             if event["ph"] == "M" and event["name"] == "thread_name"}
    ranks = {lane: int(_RANK.match(name)[1]) for lane, name in lanes.items() if _RANK.match(name)}
    spans = [event for event in events if event["ph"] == "X"]
    tails = [event for event in events if event["ph"] == "s"]
    us = 1e-6

    # A rank that --timeline-ranks leaves out has no name: without processors of its own its lane is its number.
    def rank_of(lane):
        return ranks.get(lane, lane)

    def of(group, read, kind):
        return np.array([read(event) for event in group], kind)

    intervals = _table(
        ["rank", "lane", "name", "category", "begin_s", "end_s"],
        [of(spans, lambda event: rank_of(event["tid"]), np.int64),
         of(spans, lambda event: lanes.get(event["tid"], ""), object),
         of(spans, lambda event: event["name"], object),
         of(spans, lambda event: event.get("cat", ""), object),
         of(spans, lambda event: event["ts"] * us, float),
         of(spans, lambda event: (event["ts"] + event["dur"]) * us, float)])
    messages = _table(
        ["source", "destination", "bytes", "begin_s", "delivered_s"],
        [of(tails, lambda event: rank_of(event["args"]["from"]), np.int64),
         of(tails, lambda event: rank_of(event["args"]["to"]), np.int64),
         of(tails, lambda event: event["args"]["bytes"], np.int64),
         of(tails, lambda event: event["ts"] * us, float),
         of(tails, lambda event: event["args"]["delivered_us"] * us, float)])
    return Timeline(about, intervals, messages)


# --- Models of hopcast train ---


def _packed(part, name, kind):
    return np.frombuffer(base64.b64decode(part[name]), kind)


def _standardised(part, x):
    means, sds = np.array(part["means"]), np.array(part["sds"])
    return np.where(sds > 0, (x - means) / np.where(sds > 0, sds, 1), 0)


class Model:
    """A trained model.  method, target: texts; features, sets: lists of columns; log_target: bool;
    importances: dict by feature, empty without trees; whole: the parsed file."""

    def __init__(self, whole, path="model"):
        self.whole, self.path, self._learned = whole, path, whole["learned"]
        self.method, self.target = self._learned["method"], whole["target"]["name"]
        self.log_target, self.sets = whole["target"]["log"], whole["target"].get("sets", [])
        self.features = [feature["name"] for feature in whole["features"]]
        self.importances = {feature["name"]: feature["importance"] for feature in whole["features"]
                            if feature.get("importance") is not None}

    def _inputs(self, table):
        lacking = [name for name in self.features + self.sets if name not in table]
        if lacking:
            raise KeyError(f"{self.path}: the table lacks {', '.join(lacking)}")
        x = np.column_stack([np.asarray(table[name], float) for name in self.features]).astype("f4")
        if self.sets:
            sets = list(zip(*(map(str, table[name]) for name in self.sets)))
            for one in set(sets):
                rows = [at for at, name in enumerate(sets) if name == one]
                means = x[rows].astype("f8").mean(axis=0)
                x[rows] = x[rows] / np.where(means == 0, 1, means)
        may_miss = self._learned.get("boosting", {}).get("missing", [])
        for at, name in enumerate(self.features):
            if at not in may_miss and not np.isfinite(x[:, at]).all():
                raise ValueError(f"{self.path}: feature {name} has unknown values")
        return x

    def _trees(self, x):
        """The running mean over the trees, whose rounding is that of the program."""
        forest = self._learned["forest"]
        feature, right = _packed(forest, "feature", "<i4"), _packed(forest, "right", "<u4")
        cut, value = _packed(forest, "cut", "<f4"), _packed(forest, "value", "<f8")
        rows, mean, first = np.arange(len(x)), np.zeros(len(x)), 0
        for number, n_nodes in enumerate(forest["nodes_of_trees"], 1):
            node = np.zeros(len(x), int)
            while (is_inner := feature[first + node] >= 0).any():
                is_left = x[rows, feature[first + node]] <= cut[first + node]
                node = np.where(is_inner, np.where(is_left, node + 1, right[first + node]), node)
            mean += (value[first + node] - mean) / number
            first += n_nodes
        return mean

    def predict(self, table):
        """float64 per row of a table that has the features, with their names as columns.

        The same bits as `hopcast predict`; of svr and logarithmic targets the last digits may differ.  With `sets` the unit is the unknown mean of the row's set."""
        x, learned = self._inputs(table), self._learned
        if "boosting" in learned:
            part = learned["boosting"]
            twins = x[:, part["missing"]]
            x = np.hstack([x, np.where(np.isnan(twins), np.float32("-inf"), twins)])
            y = part["constant"] + len(learned["forest"]["nodes_of_trees"]) * self._trees(x)
        elif "forest" in learned:
            y = self._trees(x)
        elif "linear" in learned:
            part, y = learned["linear"], np.full(len(x), learned["linear"]["constant"])
            for at, (mean, coefficient) in enumerate(zip(part["means"], part["coefficients"])):
                y += coefficient * (x[:, at].astype(float) - mean)
        elif "svr" in learned:
            part = learned["svr"]
            z = _standardised(part, x)
            vectors = _standardised(part, _packed(part, "vectors", "<f4").reshape(-1, x.shape[1]))
            distances = ((z[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
            sums = np.exp(-part["gamma"] * distances) @ _packed(part, "coefficients", "<f8")
            y = part["target_mean"] + part["target_sd"] * (sums + part["bias"])
        else:
            y = np.full(len(x), learned["mean"])
        return np.exp(y) if self.log_target else y


def read_model(path):
    """The Model of a file that `hopcast train -o` wrote.  FormatError for other files and versions."""
    try:
        with open(path, encoding="utf-8") as source:
            whole = json.load(source)
    except ValueError as problem:
        raise FormatError(f"{path}: {problem}") from problem
    schema = whole.get("schema") if isinstance(whole, dict) else None
    if schema != "hopcast.model/1":
        raise FormatError(f"{path}: no hopcast.model/1 but {schema}")
    try:
        return Model(whole, os.fspath(path))
    except (KeyError, TypeError) as problem:
        raise FormatError(f"{path}: no whole model: {problem}") from problem


# --- Performance models of hopcast correct ---

_TOKEN = re.compile(r"\s*(?:([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
                    r"|([A-Za-z_][A-Za-z0-9_]*)|(\*\*|[-+*/^(),]))")
_FUNCTIONS = {"log": np.log, "log2": np.log2, "exp": np.exp, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
              "abs": np.abs, "ceil": np.ceil, "floor": np.floor, "min": np.minimum, "max": np.maximum}
_MOST_MULTIPLIED = 64
_MOST_ANGLE = 2.0**20


class _Formula:
    """A formula becomes a function of a dict of arrays by name."""

    def __init__(self, text, where):
        self.where, self.tokens, at = where, [], 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise FormatError(f"{where}: unexpected {text[at:].strip()[:20]!r}")
            self.tokens.append(match.groups())
            at = match.end()
        self.at = 0
        self.value = self._sum()
        if self.at < len(self.tokens):
            raise FormatError(f"{where}: unexpected {self._next()!r}")

    def _next(self):
        return next((part for part in self.tokens[self.at] if part), None) if self.at < len(self.tokens) else None

    def _take(self, *wanted):
        found = self._next()
        if found in wanted:
            self.at += 1
            return found
        return None

    def _expect(self, wanted):
        if not self._take(wanted):
            raise FormatError(f"{self.where}: {wanted!r} expected, found {self._next()!r}")

    def _chain(self, part, operators):
        left = part()
        while sign := self._take(*operators):
            left = (lambda apply, a, b: lambda names: apply(a(names), b(names)))(operators[sign], left, part())
        return left

    def _sum(self):
        return self._chain(self._product, {"+": np.add, "-": np.subtract})

    def _product(self):
        return self._chain(self._sign, {"*": np.multiply, "/": np.divide})

    def _sign(self):
        if self._take("-"):
            inner = self._sign()
            return lambda names: -inner(names)
        return self._power()

    def _power(self):
        base = self._operand()
        if not self._take("^", "**"):
            return base
        start = self.at
        exponent = self._sign()
        digits = "".join(next(part for part in token if part) for token in self.tokens[start:self.at])
        if re.fullmatch(r"-?[0-9]+", digits) and abs(int(digits)) <= _MOST_MULTIPLIED:
            return lambda names: np.power(base(names), float(digits))
        return lambda names: self._real_power(base(names), exponent(names))

    @staticmethod
    def _real_power(base, exponent):
        """exp (b log a): undefined where a < 0, and of 0 unless b > 0."""
        bad = (np.asarray(base) < 0) | (np.asarray(base) == 0) & (np.asarray(exponent) <= 0)
        return np.where(bad, np.nan, np.power(np.where(bad, 1.0, base), exponent))

    def _operand(self):
        if self._take("("):
            inner = self._sum()
            self._expect(")")
            return inner
        number, name, _ = self.tokens[self.at] if self.at < len(self.tokens) else (None, None, None)
        if number is None and name is None:
            raise FormatError(f"{self.where}: a number or a name expected, found {self._next()!r}")
        self.at += 1
        if number is not None:
            constant = np.float64(number)
            return lambda names: constant
        if name in _FUNCTIONS:
            return self._call(name)
        return lambda names: names[name]

    def _call(self, name):
        function, operands = _FUNCTIONS[name], []
        self._expect("(")
        for _ in range(function.nin):
            if operands:
                self._expect(",")
            operands.append(self._sum())
        self._expect(")")
        if name in ("sin", "cos"):
            angle = operands[0]
            return lambda names: function(np.where(np.abs(angle(names)) > _MOST_ANGLE, np.nan, angle(names)))
        return lambda names: function(*(operand(names) for operand in operands))

    def __call__(self, names):
        """NaN where any part of the formula is not finite, as in 1/(1/0)."""
        with np.errstate(divide="raise", over="raise", invalid="raise", under="ignore"):
            try:
                return np.asarray(self.value(names), float)
            except FloatingPointError:
                pass
            # Some row is undefined: each by itself.
            n_rows = max(np.size(values) for values in names.values())
            result = np.full(n_rows, np.nan)
            for row in range(n_rows):
                one = {name: values if np.ndim(values) == 0 else values[row] for name, values in names.items()}
                if all(np.isfinite(value) for value in one.values()):
                    try:
                        result[row] = self.value(one)
                    except FloatingPointError:
                        continue
            return result


_DECLARATION = re.compile(r"(variable|constant|parameter)\s+(.*)")
_PARAMETER = re.compile(r"([A-Za-z_]\w*)\s+(\S+)\s*(?:\[\s*([^],\s]+)\s*,\s*([^],\s]+)\s*\])?\s*(log)?$")


class BaseModel:
    """A performance model.  variables: list of columns; constants, parameters: dicts of values;
    bounds: dict of (low, high) by parameter."""

    def __init__(self, text, path="model"):
        self.path, self.variables = path, []
        self.constants, self.parameters, self.bounds, self._formulas = {}, {}, {}, []
        for number, line in enumerate(text.splitlines(), 1):
            line, where = line.split("#", 1)[0].strip(), f"{path}:{number}"
            if line:
                self._line(line, where)
        if not self._formulas or self._formulas[-1][0] != "time":
            raise FormatError(f"{path}: the last line is no formula of time")

    def _line(self, line, where):
        match = _DECLARATION.fullmatch(line)
        if match is None and "=" in line:
            name, formula = line.split("=", 1)
            self._formulas.append((name.strip(), _Formula(formula, where)))
            return
        kind, rest = match.groups() if match else ("parameter", line)
        rest = re.split(r"\s+in\s+", rest)[0].strip()
        if kind == "variable":
            self.variables += [name.strip() for name in rest.split(",")]
            return
        match = _PARAMETER.fullmatch(rest)
        try:
            name, value, low, high, _ = match.groups()
            (self.constants if kind == "constant" else self.parameters)[name] = float(value)
            if low is not None:
                self.bounds[name] = (float(low), float(high))
        except (AttributeError, ValueError) as problem:
            raise FormatError(f"{where}: a name and a number expected, found {rest!r}") from problem

    def predict(self, table, **parameters):
        """Seconds per row of a table with the variables as columns; NaN where the formula is undefined.
        parameters replace the file's values.  Equals `hopcast predict` up to the last digits."""
        unknown = set(parameters) - set(self.parameters)
        lacking = [name for name in self.variables if name not in table]
        if unknown or lacking:
            raise KeyError(f"{self.path}: " + (f"no parameter {', '.join(sorted(unknown))}" if unknown
                                               else f"the table lacks {', '.join(lacking)}"))
        columns = {name: np.asarray(table[name], float) for name in self.variables}
        names = {"pi": np.float64(np.pi), **{name: np.float64(value) for name, value in
                 {**self.constants, **self.parameters, **parameters}.items()}, **columns}
        for name, formula in self._formulas:
            names[name] = formula(names)
        n_rows = len(next(iter(columns.values()))) if columns else 1
        return np.array(np.broadcast_to(names["time"], (n_rows,)))


def read_base_model(path):
    """The BaseModel of a model file; units are not checked here, `hopcast predict` does."""
    try:
        with open(path, encoding="utf-8") as source:
            text = source.read()
    except UnicodeDecodeError as problem:
        raise FormatError(f"{path}: {problem}") from problem
    return BaseModel(text, os.fspath(path))
