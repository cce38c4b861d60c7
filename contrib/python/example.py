# example.py - a sweep of placements in Python: run, look, learn.
#
# SPDX-License-Identifier: Apache-2.0
#
# Cells begin with "# %%": Jupyter (by jupytext), Spyder and VS Code show them as a notebook.  As a
# script: PYTHONPATH=contrib/python /usr/bin/python3 contrib/python/example.py, with hopcast in PATH.

# %% One run: its record, and the links that carry most
import hopcast

run = hopcast.run("gen:halo3d:ranks=64,bytes=64K,iterations=2", "bgq:32", ranks_per_node=2, mapping="TABCDE",
                  links=True, timeline=True)
print(f"time {run['time_s'] * 1e6:.1f} us, {run['messages']} messages, hottest link {run['features']['max_bytes']:.0f} B")
print(run.links.nlargest(3, "payload_bytes")[["A", "B", "C", "D", "E", "port", "payload_bytes"]].to_string(index=False))

# %% Where the ranks spend their time
spans = run.timeline.intervals.assign(lasting_s=lambda table: table.end_s - table.begin_s)
print(spans.groupby("name").lasting_s.sum().sort_values(ascending=False).head(3).to_string())

# %% A study of eight placements at three sizes
with open("sweep.study", "w", encoding="utf-8") as file:
    file.write("""[traces]
trace = gen:halo3d:ranks=64,bytes={bytes},iterations=2
[machines]
machine = bgq:32
ranks-per-node = 2
[mappings]
mapping = default; TABCDE; hilbert; random(1); random(2); random(3); random(4); random(5)
[runs]
network = packet
keep-links = true
[bytes]
values = 1K; 4K; 16K
""")
hopcast.command("study run", "sweep.study", format=None, quiet=True)
with hopcast.open_store("sweep.store") as store:
    runs = store.runs()
    hottest = [store.link_bytes(key).max() for key in runs.key]
print(runs.assign(hottest=hottest).pivot_table(index="mapping", columns="trace", values="time_s").describe().to_string())

# %% The same question to the program
ranking = hopcast.command("rank", "sweep.store", top=1)
for case in ranking["cases"]:
    print(case["trace"], "->", case["ranking"][0]["mapping"])

# %% A model of the time, and what it says of the rows that it knows
hopcast.command("train", "sweep.store", features="max_bytes,avg_bytes,max_dilation", validate="none", quiet=True,
                output="sweep.json")
model = hopcast.read_model("sweep.json")
runs["predicted_s"] = model.predict(runs)
print(f"{model.method}: largest error {abs(runs.predicted_s / runs.time_s - 1).max():.1%}; importances",
      {name: round(value, 2) for name, value in model.importances.items()})
