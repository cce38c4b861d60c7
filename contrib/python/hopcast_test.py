# hopcast_test.py - the Python module against the program and its CSV; prints TAP.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: hopcast_test.py SOURCE-TREE, in an empty folder; HOPCAST is the program.
import json
import os
import sys

if os.environ.get("WITHOUT_PANDAS"):
    sys.modules["pandas"] = None
import numpy as np

source = sys.argv[1]
sys.path.insert(0, os.path.join(source, "contrib/python"))
import hopcast

TRACE = "gen:halo2d:ranks=32,bytes=16K,iterations=2"
STUDY = """[traces]
trace = gen:halo2d:ranks=32,bytes={bytes},iterations=2
[machines]
machine = bgq:32;torus:4x2
ranks-per-node = 4
[mappings]
mapping = default;random(1);random(2)
[runs]
network = packet;load
keep-links = true
keep-ranks = true
[bytes]
values = 1K;16K
"""
tests = []


def test(function):
    tests.append(function)
    return function


def same(one, other):
    """Two columns hold the same, unknown values alike."""
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind in "iuf" and other.dtype.kind in "iuf":
        assert np.array_equal(one.astype(float), other.astype(float), equal_nan=True), (one, other)
    else:
        plain = [["" if value is None or value != value else str(value) for value in column] for column in (one, other)]
        assert plain[0] == plain[1], plain


def raises(kind, text, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as problem:
        assert text in str(problem), problem
        return problem
    raise AssertionError(f"no {kind.__name__}: {text}")


def n_rows(table):
    return len(table[list(table)[0]])


@test
def a_run_and_its_tables():
    run = hopcast.run(TRACE, "bgq:32", links=True, ranks=True, timeline=True, mapping="TABCDE")
    # A halo of a torus of ranks: four messages of each in each iteration.
    assert run["schema"] == "hopcast.run/1" and run["messages"] == 32 * 4 * 2
    assert run["message_bytes"] == 32 * 4 * 2 * 16384
    assert np.asarray(run.links["payload_bytes"]).sum() == run["features"]["hop_bytes"]
    assert np.asarray(run.ranks["end_s"]).max() == run["time_s"]
    intervals, messages = run.timeline.intervals, run.timeline.messages
    assert np.asarray(messages["bytes"]).sum() == run["message_bytes"]
    for rank in range(32):
        own = np.asarray(intervals["rank"]) == rank
        waits = own & (np.asarray(intervals["name"]) == "waiting")
        lasting = np.asarray(intervals["end_s"]) - np.asarray(intervals["begin_s"])
        assert abs(lasting[waits].sum() - run.ranks["wait_s"][rank]) < 1e-12
        assert abs(np.asarray(intervals["end_s"])[own].max() - run.ranks["end_s"][rank]) < 1e-12
    assert run.timeline.about["trace"] == TRACE


@test
def a_timeline_with_several_processors_of_a_rank():
    with open("two.goal", "w", encoding="utf-8") as out:
        out.write("num_ranks 2\nrank 0 {\nl1: calc 1000 cpu 0\nl2: calc 2000 cpu 1\nl3: send 10b to 1 tag 1 cpu 1\n"
                  "l3 requires l2\n}\nrank 1 {\nl1: recv 10b from 0 tag 1\n}\n")
    timeline = hopcast.run("two.goal", "systemg:2", timeline=True).timeline
    messages = timeline.messages
    assert [list(messages[name]) for name in ("source", "destination", "bytes")] == [[0], [1], [10]]
    assert set(zip(timeline.intervals["rank"], timeline.intervals["lane"])) == {
        (0, "rank 0"), (0, "rank 0 cpu 1"), (1, "rank 1")}


@test
def options_of_every_kind():
    run = hopcast.run(TRACE, "bgq:32", network="load", set={"link.hop_latency": "50ns"}, ranks_per_node=2, threads=None,
                      iterations=False)
    assert run["network"] == "load" and run["nodes"] == 32 and run.links is None
    text = hopcast.command("machine show", "bgq:32", format=None, set=["link.hop_latency=51ns"])
    assert "hop_latency = 51 ns" in text
    scores = hopcast.command("score", os.path.join(source, "doc/examples/test.csv"), format="csv", observed="T",
                             predicted="np")
    assert scores["n"][0] == 16


@test
def failures_of_the_program():
    problem = raises(hopcast.HopcastError, 'no pattern "nope"', hopcast.run, "gen:nope", "bgq:32")
    assert problem.status == 2 and problem.command[1] == "simulate" and problem.output == ""
    problem = raises(hopcast.HopcastError, "absent.hct", hopcast.run, "absent.hct", "bgq:32")
    assert problem.status == 1
    raises(FileNotFoundError, "absent", hopcast.run, TRACE, "bgq:32", program="./absent")
    raises(PermissionError, "s.study", hopcast.run, TRACE, "bgq:32", program="./s.study")
    raises(hopcast.FormatError, "true simulate: printed no JSON", hopcast.run, TRACE, "bgq:32", program="/bin/true")


@test
def a_study_without_a_finished_run():
    with open("failed.study", "w", encoding="utf-8") as out:
        out.write(STUDY.replace("default;random(1);random(2)", "absent.map"))
    assert raises(hopcast.HopcastError, "", hopcast.command, "study run", "failed.study", format=None, quiet=True).status == 3
    hopcast.command("study export", "failed.store", format=None, output="failed.npz")
    npz = hopcast.read_npz("failed.npz")
    assert set(npz.runs["status"]) == {"failed"} and np.isnan(np.asarray(npz.runs["time_s"], float)).all()
    assert npz.link_bytes(0) is None and npz.rank_times(0) is None


@test
def a_store_and_its_export():
    csv, npz = hopcast.read_table("s.csv"), hopcast.read_npz("s.npz")
    links, ranks, places = (hopcast.read_table(f"{what}.csv") for what in ("links", "ranks", "placements"))
    with hopcast.open_store("s.store") as store:
        runs = store.runs()
        assert n_rows(runs) == n_rows(csv) == n_rows(npz.runs) == 24
        for name in csv:
            same(runs[name], csv[name])
            same(npz.runs[name], csv[name])
        for number, key in enumerate(csv["key"]):
            same(store.link_bytes(key), np.asarray(links["bytes"])[np.asarray(links["run"]) == number])
            same(npz.link_bytes(number), store.link_bytes(key))
            mine = np.asarray(ranks["run"]) == number
            times = store.rank_times(key)
            assert (times is None) == (csv["network"][number] == "load")
            if times is not None:
                same(npz.rank_times(number), times)
                same(times[:, 0], np.asarray(ranks["end_s"])[mine])
                same(times[:, 2], np.asarray(ranks["wait_s"])[mine])
            mine = np.asarray(places["run"]) == number
            same(store.places(csv["mapping_hash"][number])[:, 0], np.asarray(places["node"])[mine])
            edges = store.edges(csv["trace_hash"][number])
            assert edges["messages"].sum() == csv["messages"][number]
            assert edges["bytes"].sum() == csv["message_bytes"][number]
            assert store.machine(csv["machine_hash"][number]).startswith("#")
        assert store.link_bytes("none") is None and store.machine("none") is None


@test
def predictions_of_every_method():
    features = "a,b,c"
    cases = [(method, {}) for method in ("extra-trees", "forest", "boosting", "tree", "linear", "svr", "mean")]
    cases += [("extra-trees", {"log_target": True}), ("extra-trees", {"normalize": "set", "sets": "kind"}),
              ("boosting", {"min_samples_leaf": 2})]
    for method, options in cases:
        train, rows = ("gaps.csv", "gaps2.csv") if "min_samples_leaf" in options else ("train.csv", "rows.csv")
        hopcast.command("train", train, target="y", features=features, method=method, validate="none", quiet=True,
                        output="model.json", **options)
        hopcast.command("predict", "model.json", rows, format=None, quiet=True, output="out.csv")
        wanted = np.asarray(hopcast.read_table("out.csv")["predicted"], float)
        model = hopcast.read_model("model.json")
        got = model.predict(hopcast.read_table(rows))
        assert len(got) == len(wanted) == 40 and model.method == method and model.features == features.split(",")
        if method == "svr" or model.log_target:
            assert np.allclose(got, wanted, rtol=1e-12, atol=0), (method, got / wanted - 1)
        else:
            assert (got == wanted).all(), (method, options, np.abs(got - wanted).max())
    raises(KeyError, "lacks b, c", model.predict, {"a": [1.0]})


@test
def predictions_of_formulas():
    folder = os.path.join(source, "doc/examples/models")
    random, n_models = np.random.default_rng(1), 0
    extra = {"every.model": "variable x, z\nparameter p 1.5 [1, 2] log\nhalf = x / 2 # a part\n"
                            "time = -half^2 + abs(z)^p + z**3 - min(x, z) * max(x, 2) + sqrt(x) / exp(-z) + log2(x)"
                            " + sin(z) * cos(pi) - 2^-z^2 + floor(x) + ceil(z) + 1e-2 * x - x - -z"}
    for name, text in extra.items():
        with open(name, "w", encoding="utf-8") as out:
            out.write(text + "\n")
    for path in [os.path.join(folder, name) for name in sorted(os.listdir(folder))] + list(extra):
        model = hopcast.read_base_model(path)
        rows = random.integers(1, 9, (40, len(model.variables)))
        with open("x.csv", "w", encoding="utf-8") as out:
            out.write("\n".join(",".join(map(str, row)) for row in [model.variables, *rows]) + "\n")
        hopcast.command("predict", path, "x.csv", format=None, quiet=True, output="out.csv")
        wanted = np.asarray(hopcast.read_table("out.csv")["predicted"], float)
        got = model.predict(hopcast.read_table("x.csv"))
        assert np.allclose(got, wanted, rtol=1e-13, atol=0, equal_nan=True), (path, got, wanted)
        n_models += 1
    assert n_models == 8
    raises(KeyError, "no parameter q", model.predict, {"x": [1], "z": [1]}, q=1)


@test
def undefined_values_of_formulas():
    model = hopcast.BaseModel("variable x, z\npart = x - z\ntime = 1 / (1 / part) + log(z) * 0 + (x - 3)^0.5\n")
    # 1/(1/0); the root of a negative number; the logarithm of 0; 2 + 0 + 2.
    same(model.predict({"x": [5, 2, 4, 7], "z": [5, 1, 0, 5]}), [np.nan, np.nan, np.nan, 4])
    same(hopcast.BaseModel("variable x\ntime = x^2 + x^2.0").predict({"x": [-2, 3, 0]}), [np.nan, 18, 0])
    same(hopcast.BaseModel("variable x\ntime = sin(x)").predict({"x": [2e6, 0]}), [np.nan, 0])


@test
def a_parameter_of_a_formula():
    model = hopcast.BaseModel("variable n\nparameter a 2 [1, 3] in s\nparameter b 3\ntime = a + b * n\n")
    assert model.parameters == {"a": 2, "b": 3} and model.bounds == {"a": (1, 3)}
    same(model.predict({"n": [1, 2]}), [5, 8])
    same(model.predict({"n": [1, 2]}, b=10), [12, 22])


@test
def wrong_files():
    for text, wanted in (("", "no line"), ("a,a\n1,2\n", "one name"), ("a,b\n1\n", "row 2 has 1 cells")):
        with open("wrong", "w", encoding="utf-8") as out:
            out.write(text)
        raises(hopcast.FormatError, wanted, hopcast.read_table, "wrong")
    for text in ("{", "[]", '{"schema": "hopcast.model/2"}'):
        with open("wrong", "w", encoding="utf-8") as out:
            out.write(text)
        raises(hopcast.FormatError, "wrong: ", hopcast.read_model, "wrong")
        raises(hopcast.FormatError, "wrong: ", hopcast.read_timeline, "wrong")
        raises(hopcast.FormatError, "wrong: ", hopcast.open_store, "wrong")
    raises(FileNotFoundError, "absent", hopcast.open_store, "absent")
    raises(FileNotFoundError, "absent", hopcast.read_npz, "absent")
    np.savez("other.npz", key=np.arange(3))
    np.savez("scalar.npz", key=np.array(3), features=np.zeros((1, 1)), feature_names=np.array(["f"]))
    with open("s.npz", "rb") as whole, open("torn.npz", "wb") as out:
        out.write(whole.read()[:-300])
    with open("binary", "wb") as out:
        out.write(b"\xff\x00\xfe")
    open("empty", "wb").close()
    for name in ("other.npz", "scalar.npz", "torn.npz", "binary", "empty"):
        raises(hopcast.FormatError, name + ": no export of hopcast", hopcast.read_npz, name)
    for name in ("binary", "empty"):
        for reader in (hopcast.read_table, hopcast.read_timeline, hopcast.read_model, hopcast.read_base_model,
                       hopcast.open_store):
            raises(hopcast.FormatError, name + ": ", reader, name)
    for text, reader in (('{"schema": "hopcast.model/1"}', hopcast.read_model),
                         ('{"traceEvents": [{}], "otherData": {}}', hopcast.read_timeline),
                         ('{"traceEvents": [{"ph": "X"}], "otherData": {}}', hopcast.read_timeline)):
        with open("wrong", "w", encoding="utf-8") as out:
            out.write(text)
        raises(hopcast.FormatError, "wrong: ", reader, "wrong")
    for text, wanted in (("time = 1 +", ":1: a number or a name"), ("time = (1", "')' expected"), ("x = 2", "no formula"),
                         ("time = 1 1", "unexpected '1'"), ("time = +1", ":1: a number or a name"), ("parameter a b\ntime = a", ":1: a name and a number")):
        raises(hopcast.FormatError, wanted, hopcast.BaseModel, text)


@test
def tables_of_every_type():
    with open("types.csv", "w", encoding="utf-8") as out:
        out.write('whole,large,real,text,none\n-1,18446744073709551615,1,"a,b",\n2,0,,c,\n')
    table = hopcast.read_table("types.csv")
    assert [np.asarray(table[name]).dtype.kind for name in table] == list("iufOO")
    assert table["large"][0] == 2**64 - 1 and np.isnan(table["real"][1]) and list(table["text"]) == ["a,b", "c"]


def prepare():
    with open("s.study", "w", encoding="utf-8") as out:
        out.write(STUDY)
    hopcast.command("study run", "s.study", format=None, quiet=True)
    for what, file in (("runs", "s.csv"), ("runs", "s.npz"), ("links", "links.csv"), ("ranks", "ranks.csv"),
                       ("placements", "placements.csv")):
        hopcast.command("study export", "s.store", format=None, what=None if what == "runs" else what, output=file,
                        timing=what == "runs")
    random = np.random.default_rng(7)
    for name, n, gaps in (("train.csv", 80, 0), ("rows.csv", 40, 0), ("gaps.csv", 80, 0.2), ("gaps2.csv", 40, 0.2)):
        x = random.random((n, 3))
        y = 1 + np.sin(3 * x[:, 0]) ** 2 + x[:, 1] * x[:, 2]
        with open(name, "w", encoding="utf-8") as out:
            out.write("kind,a,b,c,y\n")
            for row in range(n):
                cells = ["" if random.random() < gaps else repr(float(value)) for value in x[row]]
                out.write(f"k{row % 4},{','.join(cells)},{float(y[row])!r}\n")


prepare()
for number, function in enumerate(tests, 1):
    name = function.__name__.replace("_", " ") + ("" if hopcast.pandas else ", without pandas")
    try:
        function()
        print(f"ok {number} - {name}", flush=True)
    except Exception as problem:  # a failure of any kind is a result
        print(f"not ok {number} - {name}\n# {type(problem).__name__}: {json.dumps(str(problem)[:2000])}", flush=True)
print(f"1..{len(tests)}")
