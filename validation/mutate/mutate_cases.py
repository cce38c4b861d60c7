# mutate_cases.py - the commands and sound inputs that mutate.py starts from.
#
# SPDX-License-Identifier: Apache-2.0
#
# Every option and argument that takes a file has a case for each kind of file that it takes.  Small
# machines and traces keep runs short: the readers are the subject.  Texts stand here; what only
# hopcast or a library can write is made at the start, by the program that is tested.
# Output files have names that begin with "out", which mutate.py relies on.

import collections
import csv
import glob
import gzip
import os
import struct
import subprocess
import sys
import zlib

# reader: which module reads; commands: one is drawn; files: name -> bytes; mutated: which of these
# are, and how (a key of mutate.MUTATORS); arguments: texts for {} in the commands, mutated instead of
# files; leaves: beginnings of the names of files that may be there besides inputs and outputs.
Case = collections.namedtuple("Case", "name reader commands files mutated arguments leaves")

CASES = []


def add(name, reader, commands, files, mutated=None, kind="text", arguments=(), leaves=()):
    """mutated: names of files; all when it is not given."""
    files = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
    names = [] if arguments else (list(files) if mutated is None else mutated)
    kinds = names if isinstance(names, dict) else {path: kind for path in names}
    if isinstance(commands, str):
        commands = commands.strip().splitlines()
    CASES.append(Case(name, reader, [c.strip() for c in commands], files, kinds, list(arguments), list(leaves)))


# --- Traces ---

GOAL = """num_ranks 2

rank 0 {
l1: calc 100
l2: send 8b to 1 tag 3
l3: send 80000b to 1 tag 4 cpu 0 nic 0
l2 requires l1
l3 irequires l2
}

rank 1 {
l1: recv 8b from 0 tag 3 cpu 1 nic 2
l2: recv 80000b from -1 tag -1
l2 requires l1
}
"""

TI_MESSAGES = """0 init
0 compute 1e9
0 send 1 0 100 1
0 isend 1 7 64 2
0 irecv 1 8 64 2
0 wait 0 1 7
0 waitall
0 finalize
1 init
1 recv 0 0 100 1
1 irecv -555 -444 64 2
1 wait 0 1 7
1 send 0 8 64 2
1 sleep 0.5
1 finalize
"""

TI_COLLECTIVES = """0 init
1 init
0 barrier
1 barrier
0 bcast 10 1 1
1 bcast 10 1 1
0 reduce 4 1e3 1 0
1 reduce 4 1e3 1 0
0 allreduce 5 6 1
1 allreduce 5 6 1
0 alltoall 4 4 1 1
1 alltoall 4 4 1 1
0 alltoallv 9 1 2 9 3 6 1 1
1 alltoallv 9 3 6 9 2 6 1 1
0 gatherv 4 1 2 0 1 1
1 gatherv 2 1 2 0 1 1
0 finalize
1 finalize
"""

PARAVER = """#Paraver (01/01/26 at 10:00):9000_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
2:1:1:1:1:100:50000001:3
2:1:1:1:1:200:50000001:0
2:2:1:2:1:210:50000001:4
2:2:1:2:1:220:50000001:0
2:1:1:1:1:300:50000001:6
2:2:1:2:1:310:50000001:5
2:2:1:2:1:400:50000001:0
2:1:1:1:1:401:50000001:0
3:1:1:1:1:100:200:2:1:2:1:220:400:64:7
2:1:1:1:1:1000:50000002:7:50100001:8:50100002:16:50100004:1
2:2:1:2:1:1000:50000002:7:50100001:8:50100002:16:50100004:1
2:1:1:1:1:1100:50000002:0
2:2:1:2:1:1100:50000002:0
"""
PCF = """EVENT_TYPE
9   50000001    MPI Point-to-point
VALUES
3   MPI_Isend
4   MPI_Irecv
5   MPI_Wait
6   MPI_Waitall
0   Outside MPI

EVENT_TYPE
9   50000002    MPI Collective Comm
VALUES
7   MPI_Bcast
0   Outside MPI

EVENT_TYPE
0 70000001 Caller at level 1
VALUES
1 main
"""


def goal_binary():
    """Two ranks: a calc, then a send; a receive."""
    def node(kind, peer, n_after, n_start):
        return struct.pack("<IBIQIHIIII", 1, kind, peer, 100, 7, 0, n_after, 0, n_start, 0)
    head, rank = 6 + 2 * 16, 8 + 4 + 2 * 39 + 4
    out = struct.pack("<QIH", 4223, 2, 0)
    for r in range(2):
        out += struct.pack("<QQ", head + r * rank, head + (r + 1) * rank)
    for r in range(2):
        out += struct.pack("<III", 2, 1, 1) + node(1 + r, 1 - r, 0, 0) + node(3, 0, r == 0, r == 1)
        out += struct.pack("<I", 0)
    return out


def recording_file(rank, blocks):
    out = b"hopcast\x01"
    header = f"version=1\nrank={rank}\nranks=2\ncounters=none: not permitted\n".encode()
    for payload, sources, n in [(header, b"", 0)] + blocks:
        head = struct.pack("<III", len(payload), len(sources), n)
        out += head + struct.pack("<II", zlib.crc32(payload + sources, zlib.crc32(head)), 0x6b6c6268)
        out += payload + sources
    return out


def recordings():
    """Kinds and bits are those of traces/recorder/recording.h.  Rank 0 sends 64 bytes to rank 1."""
    init, finalize = b"\xff\x08MPI_Init\x01\x06\x02\x01", b"\xff\x0cMPI_Finalize\x02\x06\x02\x03"
    send = b"\xff\x08MPI_Send\x03\x76\x02\x02\x02\x0a\x40"  # time, name, peer 1, tag 5, bytes
    recv = b"\xff\x08MPI_Recv\x06\x76\x02\x02\x00\x0a\x40"
    return {"t.rec/rank-0.rec": recording_file(0, [(init + send + finalize, b"", 3)]),
            "t.rec/rank-1.rec": recording_file(1, [(init + recv + finalize, b"", 3)])}


def trace_commands(trace, options=""):
    machine = "--machine systemg:4 --ranks-per-node 8"
    return [
        f"trace info {trace} {options}",
        f"trace info {trace} --format json {options}",
        f"trace matrix {trace} {options}",
        f"trace matrix {trace} --with-collectives --machine torus:4x4 --ranks-per-node 2 {options}",
        f"trace convert {trace} -o out.hct {options}",
        f"trace convert {trace} -o out.ti {options}",
        f"trace convert {trace} -o out.goal {options}",
        f"simulate {trace} {machine} --network load {options}",
        f"simulate {trace} {machine} --ranks out-ranks.csv --links out-links.csv --timeline out.json "
        f"--timeline-limit 1000 {options}",
        f"simulate {trace} --machine torus:2x2x2 --ranks-per-node 4 --report out.html --format json {options}",
        f"simulate {trace} {machine} --network flow --timeline out.paje {options}",
        f"map metrics {trace} {machine} --format json",
        f"map optimize {trace} {machine} --budget 2 --network load -o out.map {options}",
        f"aggregate {trace} --machine systemg:16 --format json {options}",
    ]


def add_traces(seeds, shipped):
    def trace(name, reader, path, files, mutated=None, kind="text", options=""):
        add(name, reader, trace_commands(path, options), files, mutated, kind)

    lossy = "--allow-lossy"
    trace("goal-text", "goal", "t.goal", {"t.goal": GOAL})
    trace("goal-binary", "goal", "t.goal", {"t.goal": goal_binary()}, kind="bytes")
    ranks = "--trace-ranks 2"
    trace("ti-messages", "ti", "t.ti", {"t.ti": TI_MESSAGES}, options=ranks)
    trace("ti-collectives", "ti", "t.ti", {"t.ti": TI_COLLECTIVES})
    trace("ti-list", "ti", "list", {"list": "# a list\na.ti\nb.ti\n", "a.ti": TI_MESSAGES.split("1 init")[0],
                                    "b.ti": "1 init" + TI_MESSAGES.split("1 init")[1]})
    trace("ti-gzip", "ti", "t.ti.gz", {"t.ti.gz": gzip.compress(TI_MESSAGES.encode(), mtime=0)}, kind="text.gz")
    trace("paraver", "paraver", "t.prv", {"t.prv": PARAVER, "t.pcf": PCF}, options=lossy)
    for name in ("messages", "collectives", "windows"):
        files = read_tree(os.path.join(seeds, "dumpi-" + name), "")
        trace("dumpi-" + name, "dumpi", "t.meta", files,
              {path: "text" if path.endswith("meta") else "bytes" for path in files})
    # Without networks that have a time, which takes long.
    add("dumpi-recorded", "dumpi", trace_commands("npb-is-A-16.meta", lossy)[:8],
        {name.removesuffix(".gz"): gzip.decompress(data) if name.endswith(".gz") else data
         for name, data in read_tree(shipped, "npb-is-A-16").items()}, kind="bytes")
    files = read_tree(os.path.join(seeds, "otf2"), "")
    anchor = next((path for path in files if path.endswith(".otf2")), None)
    # A build without libotf2 has no seed.
    if anchor:
        trace("otf2", "otf2", anchor, files, kind="bytes")
    trace("recording", "recording", "t.rec", recordings(), kind="recording")
    for name in ("messages", "loops", "collectives"):
        with open(os.path.join(seeds, name + ".hct"), "rb") as file:
            trace("hct-" + name, "hct", "t.hct", {"t.hct": file.read()}, kind="hct")
    add("gen", "trace specs", [
        "trace info gen:{}", "simulate gen:{} --machine systemg:16 --network load",
        "simulate gen:{} --machine torus:4x4 --ranks-per-node 4", "trace convert gen:{} -o out.hct",
    ], {}, arguments=["ring:ranks=8,bytes=16384,iterations=3", "halo2d:ranks=16,bytes=64,iterations=1",
                      "halo3d:ranks=27,bytes=8K,iterations=1", "pingpong:bytes=8,iterations=2",
                      "alltoall:ranks=8,bytes=64", "random:ranks=16,bytes=64,seed=3",
                      "npb:kernel=lu,class=S,ranks=4,iterations=1", "permutation:ranks=8,bytes=64"])


# --- Machines ---

FABRIC = """vendid=0x8f1
switchguid=0x1(0x1)
Switch 4 "S-0000000000000001" # "leaf0" enhanced port 0 lid 1 lmc 0
[1] "H-0000000000000010"[1](11) # "alpha HCA-1" lid 2 4xQDR
[2] "H-0000000000000020"[1](21) # "beta HCA-1" lid 3 4xQDR
[3] "S-0000000000000002"[3] # "leaf1" lid 4 4xQDR

Switch 4 "S-0000000000000002" # "leaf1" lid 4
[1] "H-0000000000000030"[1] # "gamma HCA-1" lid 5 4xQDR
[3] "S-0000000000000001"[3] # "leaf0" lid 1 4xQDR

caguid=0x10
Ca 1 "H-0000000000000010" # "alpha HCA-1"
[1](11) "S-0000000000000001"[1] # lid 2 lmc 0 "leaf0" lid 1 4xQDR

Ca 1 "H-0000000000000020" # "beta HCA-1"
[1](21) "S-0000000000000001"[2] # lid 3 lmc 0 "leaf0" lid 1 4xQDR

Ca 1 "H-0000000000000030" # "gamma HCA-1"
[1](31) "S-0000000000000002"[1] # lid 5 lmc 0 "leaf1" lid 4 4xQDR
"""


def tree():
    """Two leaves of two nodes each, and two spines, as ibnetdiscover prints them."""
    lines = []
    for leaf in (1, 2):
        lines += [f'switchguid=0x{leaf}', f'Switch 4 "S-{leaf:016x}" # "leaf{leaf}" lid {leaf}']
        lines += [f'[{port}] "H-{8 + 2 * leaf + port:016x}"[1] # "n{2 * leaf + port}" lid {8 + 2 * leaf + port} 4xQDR'
                  for port in (1, 2)]
        lines += [f'[{port}] "S-{port:016x}"[{leaf}] # "spine{port}" lid {port} 4xQDR' for port in (3, 4)]
    for spine in (3, 4):
        lines += [f'switchguid=0x{spine}', f'Switch 4 "S-{spine:016x}" # "spine{spine}" lid {spine}']
        lines += [f'[{leaf}] "S-{leaf:016x}"[{spine}] # "leaf{leaf}" lid {leaf} 4xQDR' for leaf in (1, 2)]
    for leaf, port in ((1, 1), (1, 2), (2, 1), (2, 2)):
        host = 8 + 2 * leaf + port
        lines += [f'caguid=0x{host:x}', f'Ca 1 "H-{host:016x}" # "n{2 * leaf + port} HCA-1"',
                  f'[1]({host + 100:x}) "S-{leaf:016x}"[{port}] # lid {host} lmc 0 "leaf{leaf}" lid {leaf} 4xQDR']
    return "\n".join(lines) + "\n"


PORTS = """CA 1 1 0x10 4x QDR - SW 2 1 0x20 ( 'a HCA-1' - 'leaf' )
CA 3 1 0x30 4x QDR - SW 2 2 0x20 ( 'b HCA-1' - 'leaf' )
SW 2 1 0x20 4x QDR - CA 1 1 0x10 ( 'leaf' - 'a HCA-1' )
SW 2 2 0x20 4x QDR - CA 3 1 0x30 ( 'leaf' - 'b HCA-1' )
SW 2 3 0x20 4x SDR 'leaf'
"""
SLURM = """# a tree
SwitchName=leaf1 Nodes=node[01-03,7],login LinkSpeed=4
SwitchName=spine Switches=leaf[1-2]
SwitchName=leaf2 Nodes=x
"""
BLOCKS = """BlockName=block1 Nodes=node[1-2]
BlockName=block2 Nodes=node[3,5]
BlockSizes=2
"""
SITE = """# a site
NODE n001 RACK 1 CELL 1 ROW 1 PARTITION 1  SWITCH 10100
NODE n002 RACK 1 CELL 1 ROW 1 PARTITION 1  SWITCH 10102
NODE n003 RACK 2 CELL 2 ROW 1 PARTITION 2  SWITCH 20100
"""
DUMP = """Unicast lids [0-5] of switch Lid 1 guid 0x0000000000000001 ('leaf0'):
0x0001 000 # Switch portguid 0x0000000000000001: 'leaf0'
0x0002 001 # Channel Adapter portguid 0x0000000000000011: 'alpha HCA-1'
0x0003 002 # Channel Adapter portguid 0x0000000000000021: 'beta HCA-1'
0x0004 003 # Switch portguid 0x0000000000000002: 'leaf1'
0x0005 003 # Channel Adapter portguid 0x0000000000000031: 'gamma HCA-1'
Unicast lids [0-5] of switch Lid 4 guid 0x0000000000000002 ('leaf1'):
0x0001 003 # Switch portguid 0x0000000000000001: 'leaf0'
0x0002 003 # Channel Adapter portguid 0x0000000000000011: 'alpha HCA-1'
0x0003 003 # Channel Adapter portguid 0x0000000000000021: 'beta HCA-1'
0x0004 000 # Switch portguid 0x0000000000000002: 'leaf1'
0x0005 001 # Channel Adapter portguid 0x0000000000000031: 'gamma HCA-1'
"""


def add_fabrics(seeds):
    def commands(spec, ranks):
        return [f"machine show {spec}", f"machine check {spec} --format json", f"machine links {spec}",
                f"simulate gen:ring:ranks={ranks},bytes=9000,iterations=2 --machine {spec} --links out.csv",
                f"simulate gen:alltoall:ranks={ranks} --machine {spec} --network flow",
                f"map convert AT --machine {spec} --ranks {ranks} --to rankfile -o out.ranks",
                f"map metrics gen:ring:ranks={ranks} --machine {spec}",
                f"aggregate patterns --machine {spec} --ranks {ranks}"]

    add("ibnetdiscover", "fabrics", commands("fabric:f.net", 3), {"f.net": FABRIC})
    add("ports-report", "fabrics", commands("fabric:f.txt", 2), {"f.txt": PORTS})
    add("slurm-topology", "fabrics", commands("fabric:topology.conf", 6), {"topology.conf": SLURM})
    add("slurm-blocks", "fabrics", commands("fabric:topology.conf,cables=2,speed=HDR", 3), {"topology.conf": BLOCKS})
    add("table-of-nodes", "fabrics", commands("fabric:table.txt", 3) + commands("fabric:table.txt,spines=2,cables=2", 3),
        {"table.txt": SITE})
    add("fabric-tree", "fabrics", commands("fabric:f.net,routes=updn", 3) + commands("fabric:f.net,routes=ftree", 3)
        + commands("fabric:f.net,routes=layers:minhop", 3), {"f.net": tree()})
    add("dump", "forwarding tables", commands("fabric:f.net,routes=t.dump", 3)
        + commands("fabric:f.net,routes=layers:t.dump", 3), {"t.dump": DUMP, "f.net": FABRIC}, ["t.dump"])
    halves = DUMP.index("Unicast", 5)
    add("dump-folder", "forwarding tables", commands("fabric:f.net,routes=tables", 3),
        {"tables/a.txt": DUMP[:halves], "tables/b.txt": DUMP[halves:], "f.net": FABRIC},
        ["tables/a.txt", "tables/b.txt"])


def add_nodes(seeds, data):
    paths = [os.path.join(seeds, name) for name in ("two-sockets.xml", "threads.xml", "old.xml")]
    paths += sorted(glob.glob(os.path.join(data, "nodes", "*.xml")))[:3] if data else []
    for path in paths:
        with open(path, "rb") as file:
            node = file.read()
        add("node-" + os.path.basename(path)[:-4], "hwloc", """
            machine show fattree:2x2,node=node.xml
            aggregate patterns --node node.xml --ranks 8
            aggregate patterns --node node.xml --threads --all-counts --format json
            simulate gen:ring:ranks=4 --machine fattree:2x2,node=node.xml --ranks-per-node 2 --network load
            map convert AT --machine fattree:2x2,node=node.xml --cores scatter --ranks 4 --to rankfile -o out.ranks
            map check rf --machine fattree:2x2,node=node.xml --ranks 2
            aggregate group m.csv --parts 2 --levels 2,2
            aggregate table --machine fattree:2x2,node=node.xml --sizes 8 --max-pairs 0 --max-outside 0 -o out.csv
            """ if path == paths[0] else """
            machine show fattree:2x2,node=node.xml
            aggregate patterns --node node.xml --ranks 8
            simulate gen:ring:ranks=4 --machine fattree:2x2,node=node.xml --network load
            """, {"node.xml": node, "rf": "rank 0=node1 slot=0:0\nrank 1=node2 slot=p1\n",
                  "m.csv": MATRIX}, ["node.xml"], "xml")


MACHINE = """[machine]
spec = torus:4x4
ranks_per_node = 2

[link]
bandwidth = 2 GB/s
hop_latency = 40 ns
"""


def add_machine_files(hopcast):
    def commands(ranks):
        return ["machine show m.conf", "machine check m.conf --format json", "machine links m.conf",
                f"simulate gen:ring:ranks={ranks},bytes=9000 --machine m.conf --format json",
                f"simulate gen:ring:ranks={ranks},bytes=9000 --machine m.conf --network flow",
                f"map generate --machine m.conf --ranks {ranks} --mapping random(3) -o out.map"]

    add("machine-short", "machine files", commands(8), {"m.conf": MACHINE})
    for name, spec in (("bgq", "bgq:32"), ("torus", "torus:2x3m"), ("systemg", "systemg:4"),
                       ("tree", "fattree:2x3:2,routes=updn"),
                       ("faults", "fattree:2x3:2,failed=node1+leaf0:4,degraded=leaf1:4 1x")):
        add("machine-" + name, "machine files", commands(4), {"m.conf": hopcast("machine", "show", spec)})
    add("machine-spec", "machine specs", """
        machine show {}
        machine check {}
        map generate --machine {} --ranks 4 -o out.map
        """, {}, arguments=["bgq:32", "bgq:2x2x2x2x2", "torus:4x4m", "systemg:8", "stampede:4", "fattree:4x2:2",
                            "fattree3:4", "dragonflyplus:3x2x2:2:2", "fattree:4x2:2,routes=layers:minhop,node=sandybridge,speed=FDR"])
    add("machine-set", "machine specs", """
        machine show torus:4x4 --set {}
        simulate gen:ring:ranks=4 --machine torus:4x4 --set {}
        """, {}, arguments=["link.bandwidth=2GB/s", "link.hop_latency=40ns", "node.memory_bandwidth=20GB/s"])


# --- Mappings ---

MAPPINGS = [  # kind, whether it is of a fabric, text for six ranks
    ("rankfile", True, "rank 0=node1 slot=1:0-2\nrank 1=+n0 slot=0:* # x\n/* y */ rank 2=node0 slot=p3\n"
     "rank 3=node2 slot=0\nrank 4=node2 slot=1\nrank 5=node2 slot=2\n"),
    ("erf", True, "cpu_index_using: physical\n" + "".join(
        f"rank: {r}: {{ host: {r % 3 + 1}; cpu: {{{r // 3 * 4}-{r // 3 * 4 + 3}}} ; gpu: {{0}} }} : app 0\n"
        for r in range(6))),
    ("pmi", True, "(vector,(0,2,1),(0,2,2))\n"),
    ("vcoord", False, "(0,0,1)\n(1,1,0)\n# x\n(0,0,1)\n(2,1,1)\n(2,1,0)\n(1,0,0)\n"),
    ("flux", False, "{\"version\":1,\"map\":[[0,3,1,1],[0,3,1,1]]}\n"),
    ("cray", False, "# x\n0,1,4-5\n2,3\n"),
    ("hostfile", True, "node1 slots=2\nnode[0,2]:2 max_slots=4\n"),
    ("hydra", True, "node1:2\nnode0\nnode1:3\n"),
    ("slurm", True, "node1*2,node[0-1]\nnode2\nnode2\n"),
    ("bgp", False, "0 0 0 0\n0 0 1 1\n1 0 0 0\n1 1 1 1\n2 0 0 0\n2 1 1 0\n"),
    ("map", True, "# A T\n0 0\n1 7\n1 0\n2 0\n2 1\n2 2\n"),
    ("map", False, "# A B C T\n0 0 0 0\n1 0 0 0\n1 0 0 1\n2 0 0 0\n2 1 0 1\n2 1 1 0\n"),
]


def add_mappings():
    for kind, fabric, text in MAPPINGS:
        machine = "--machine systemg:3 --ranks-per-node 8" if fabric else "--machine torus:3x2x2 --ranks-per-node 2"
        to = ("rankfile", "hydra", "slurm", "map") if fabric else ("vcoord", "cray", "flux", "map")
        add(f"mapping-{kind}" + ("" if fabric else "-torus"), "mappings", [
            f"map check {kind}:f {machine} --ranks 6", f"map check f {machine} --ranks 6 --format json",
            f"map metrics m.csv {machine} --mapping {kind}:f --ranks 6",
            f"simulate gen:ring:ranks=6 {machine} --mapping {kind}:f",
            f"map optimize m.csv {machine} --ranks 6 --start {kind}:f --budget 1 -o out.map",
        ] + [f"map convert {kind}:f {machine} --ranks 6 --to {t} -o out.map" for t in to],
            {"f": text, "m.csv": MATRIX}, ["f"], "json" if kind == "flux" else "text")
    add("hosts", "mappings", """
        map convert AT --machine systemg:3 --ranks 6 --ranks-per-node 2 --hosts h --to hostfile -o out.hosts
        map convert hf --machine systemg:3 --ranks 6 --ranks-per-node 2 --hosts h --to rankfile -o out.r --launch-line
        map check hf --machine systemg:3 --ranks 6 --ranks-per-node 2 --hosts h
        aggregate t.goal --machine systemg:3 --hosts h -o out
        """, {"h": "delta\nalpha[1-2]\n", "hf": "delta:2\nalpha1:2\nalpha2:2\n", "t.goal": GOAL}, ["h", "hf"])
    add("recipes", "mappings", ["map generate --machine torus:4x4x4 --ranks 64 --mapping {} -o out.map",
                                "simulate gen:ring:ranks=64 --machine torus:4x4x4 --network load --mapping {}",
                                "map check {} --machine bgq:32 --ranks 32"], {},
        arguments=["hilbert", "TABC", "random(3)", "plane(4)", "app(4,4,4).tile(1,2,1) net.map()", "hilbert(TABC)",
                   "app(8,8).tile(4,4) net.tile(2,2,2).map().tilt(A,B,1)", "cyclic", "app(4,4,4).zorder() net.map()"])


# --- Matrices and graphs ---

MATRIX = "src,dst,messages,bytes\n" + "".join(
    f"{a},{(a + d) % 6},{d},{1000 * d + a}\n" for a in range(6) for d in (1, 2))
GRAPHS = {
    "matrix-list": MATRIX,
    "matrix-bytes": "src,dst,bytes\n0,1,5\n1,0,5\n2,3,900\n5,4,7\n",
    "matrix-dense": "0,5,0,1\n6,0,2,0\n0,7,0,3\n1,0,2,0\n",
    "matrix-market": "%%MatrixMarket matrix coordinate real general\n% made\n3 3 2\n1 2 2.0\n3 1 1e3\n",
    "matrix-array": "%%MatrixMarket matrix array integer general\n2 2\n0\n3\n4\n0\n",
    "matrix-metis": "3 2 011 1\n5 2 7\n5 1 7 3 9\n5 2 9\n",
    "matrix-scotch": "0\n3 4\n0 111\n70 3 1 8 1\n71 3 2 8 0 1 2\n72 3 1 1 1\n",
    "matrix-topo": "4\n0 1 643976096\n1 0 5\n",
}


def add_matrices():
    for name, text in GRAPHS.items():
        add(name, "matrices", """
            map metrics m --machine torus:2x2x2 --format json
            map metrics m --machine systemg:4 --ranks-per-node 2 --mapping cyclic
            map optimize m --machine torus:3x2 --budget 3 -o out.map
            aggregate group m --parts 2 --format json
            aggregate group m --parts 2 --levels 2,2 --method scotch -o out.csv
            aggregate group m --parts 2 --times times.csv
            aggregate group m --parts 2 --times times.csv --cost literal --method paper
            """, {"m": text, "times.csv": TIMES}, ["m"], "csv" if "," in text else "text")
    add("pingpong-times", "tables", """
        aggregate group m --parts 2 --times times.csv --format table
        aggregate group m --parts 2 --times times.csv --cost literal
        """, {"m": MATRIX, "times.csv": TIMES}, ["times.csv"], "csv")


TIMES = "bytes,within_us,between_us\n8,1,2\n1000,20,10\n100000,90,200\n"


# --- Tables and models ---

def learning_table():
    rows = ["x,y,group,name,time"]
    for i in range(24):
        x, y = i % 6 + 1, i // 6 + 1
        rows.append(f"{x},{y}.5,{'abcd'[i % 4]},n{i},{x * y + 0.25 * (i % 5)}")
    return "\n".join(rows) + "\n"


TABLE = learning_table()
LAW = "variable x, y\nparameter a 2 [1, 4]\nparameter b 0.1 [1e-3, 10] log\npart = a*x\ntime = part + b*y^2\n"
UNITS = """# with units
variable bytes in B
constant one 1 in B
parameter latency 1.5e-6 [1e-7, 1e-4] log in s
parameter bandwidth 3e9 [1e7, 1e11] log in B/s
time = latency + max(bytes, one)/bandwidth
"""
MESSAGES = "bytes,time\n" + "".join(f"{8 ** k},{1e-6 * 2 ** k}\n" for k in range(8))
BREED = "--trials 1 --population 20 --generations 2 --threads 1 -q"
# Where the verdict rejects the term, it ends with 1 and leaves these two without out.model.
CORRECT = ("correct t --model m.model --observed time -o out.model --points points.csv "
           "--refitted refitted.model " + BREED)
CORRECT_LEAVES = ["points.csv", "refitted.model"]
METHODS = ("extra-trees", "forest", "tree", "linear", "svr", "mean")


def add_learning(hopcast, scratch):
    train = "train t --target time --validate none --threads 1"
    # A build without libsvm trains no support vectors.
    lacks = ["svr"] if b"svm      without" in hopcast("--version") else []
    methods = [method for method in METHODS if method not in lacks]
    add_tables(train, methods)
    for name, law, row in (("law", LAW, TABLE), ("units", UNITS, MESSAGES)):
        add("base-model-" + name, "base models", f"""
            predict m.model t
            predict m.model t -o out.csv --observed time
            {CORRECT}
            {CORRECT} --mode paper --case 3
            """, {"t": row, "m.model": law}, ["m.model"], leaves=CORRECT_LEAVES)
    write(os.path.join(scratch, "t"), TABLE)
    for method in methods:
        trees = " --trees 2" if method in METHODS[:2] else ""
        hopcast(*f"{train} --features x,y --method {method} -o m.json -q{trees}".split())
        model = read(os.path.join(scratch, "m.json"))
        add("model-" + method, "models", """
            predict m.json t --threads 1
            predict m.json t --threads 1 --interval 0.8 -o out.csv
            predict m.json t --threads 1 --observed time --interval 0.5
            """, {"m.json": model, "t": TABLE}, ["m.json"], "json")
        if method == "linear":
            add("table-predict", "tables", """
                predict m.json t --threads 1
                predict m.json t --interval 0.9 --observed time -o out.csv --threads 1
                """, {"m.json": model, "t": TABLE}, ["t"], "csv")


def add_tables(train, methods):
    commands = "\n".join(f"{train} --method {method} -o out.json" for method in methods[2:]) + f"""
        {train} --method extra-trees --trees 4 -o out.json
        {train} --method forest --trees 4 --importances permutation
        {train} --method linear --search 1
        train t --target time --features x,y --log-target --group group --validate folds:3 --trees 4 --format json
        train t --target time --method linear --validate splits:5 --baselines --format csv --threads 1
        score t --observed time --predicted x
        score t --observed x --predicted time --group group --format json
        score t --observed y --predicted x --rcc paper --format csv
        """
    add("table", "tables", commands, {"t": TABLE}, kind="csv")
    add("table-gzip", "tables", commands, {"t": gzip.compress(TABLE.encode(), mtime=0)}, kind="csv.gz")
    add("table-correct", "tables", f"""
        {CORRECT}
        {CORRECT} --case 2 --test t --format json
        {CORRECT} --loss logrmse --features x,y
        """, {"t": TABLE, "m.model": LAW}, ["t"], "csv", leaves=CORRECT_LEAVES)


# --- Aggregation ---

def ipc_table():
    rows = ["program,pattern,ipc,misses"]
    for i in range(16):
        a, m = 0.4 + i * 37 % 101 / 60, 0.001 + i * 29 % 97 / 5000
        b, n = 0.3 + i * 53 % 89 / 60, 0.001 + i * 71 % 83 / 4000
        rows += [f"p{i},4,{a:.6f},{m:.6f}", f"p{i},5,{b:.6f},{n:.6f}"]
        rows += [f"p{i},1,{0.1 + a / 2 + b / 4:.6f},", f"p{i},8,{a / 2:.6f},"]
    return "\n".join(rows) + "\n"


IPC = "program,pattern,ipc\n" + "".join(f"ring,{k},{2 - k / 10}\n" for k in range(1, 9))
LINKS_OVER_TIME = """begin_us,A,B,port,payload_bytes,wire_bytes,busy_share
0,0,0,A+,500,2000,0.1
0,1,0,A-,0,200,0.01
30,0,0,A+,9000,10000,0.5
50,0,1,B-,2000,4000,0.2
"""
PERF = """# started on Mon Jan  5 10:00:00 2026

100,,cycles:u,5,100.00,,
150,,instructions:u,5,100.00,1.5,insn per cycle
<not counted>,,cpu/a,b=1/u,0,0.00,,
7,,cache-misses:u,5,80.00,,
"""
INTERVALS = """     0.1,CPU0,100,,cycles,5.0%,1,100
     0.1,CPU0,90,,instructions,5.0%,1,100
,,,,,,1,%
"""
LIKWID = """TABLE,Region a,Group 1 Raw,L2,3,
Event,Counter,HWThread 0,HWThread 1
Runtime,TSC,1,2
INSTR_RETIRED_ANY,FIXC0,5,6
CPU_CLK_UNHALTED_CORE,FIXC1,7,8
L2,PMC0,-,9
Metric,HWThread 0
"""
POWER = "[power]\nidle = 100 W\nsocket = 10 W\ncore = 5 W\nmemory = 0.5 J/GB\n"
RUNS = "program,pattern,ranks,time_s\nhalf,1,16,5.3\nhalf,5,16,5.7\nhalf,5,32,2.9\nnone,5,16,3\nnone,1,16,3\n"
XC30 = "benchmark,ranks,ranks_per_node,cores_per_node,chips_per_node,median_s\n" + "".join(
    f"{code},{ranks},{24 // part},24,2,{4800 / ranks * (1 if part == 2 else slow):.6f}\n"
    for code, slow in (("alpha", 1), ("beta", 4 / 3), ("gamma", 5 / 3))
    for ranks in (24, 48, 96, 192) for part in (1, 2))
RING = "gen:ring:ranks=8,bytes=4096,iterations=1,compute=1ms"


def add_aggregation(hopcast, seeds, scratch):
    write(os.path.join(scratch, "ipc.csv"), ipc_table())
    ipc_model = os.path.join(scratch, "ipc.json")
    hopcast("aggregate", "train-ipc", os.path.join(scratch, "ipc.csv"), "--samples", "4,5", "-o", ipc_model, "-q")
    node = read(os.path.join(seeds, "two-sockets.xml"))
    bounds = hopcast("aggregate", "table", "--machine", "fattree:4x2,node=two-sockets.xml", "--sizes", "8,64KiB",
                     "--collectives", "allreduce:8", "-q", folder=seeds)
    choose = f"aggregate {RING} --machine systemg:8"
    add("ipc-table", "tables", """
        aggregate train-ipc t --samples 4,5 -o out.json
        aggregate train-ipc t --samples 4,5 --events auto:1 --format json
        aggregate predict-ipc m.json t --format json
        aggregate predict-ipc m.json t -o out.csv
        """, {"t": ipc_table(), "m.json": read(ipc_model)}, ["t"], "csv")
    add("ipc-model", "models", f"""
        aggregate predict-ipc m.json t --format json
        aggregate predict-ipc m.json t --format table
        {choose} --ipc m.json --samples t --program p3 --format json
        """, {"t": ipc_table(), "m.json": read(ipc_model)}, ["m.json"], "json")
    add("ipc-choice", "tables", f"""
        {choose} --ipc ipc.csv --format json
        {choose} --ipc ipc.csv --format csv --power p.conf
        {choose} --ipc ipc.csv --memory-per-task 1GiB -o out
        """, {"ipc.csv": IPC, "p.conf": POWER}, {"ipc.csv": "csv", "p.conf": "text"})
    add("power", "machine files", f"{choose} --power p.conf --format json", {"p.conf": POWER})
    small = f"{RING} --machine fattree:4x2,node=node.xml --table t.csv"
    add("bound-table", "tables", f"""
        aggregate bound {small} --format json
        aggregate bound {small} --near run --pattern 2
        aggregate {small} --by bound --no-simulate --report out.html
        """, {"t.csv": bounds, "node.xml": node}, ["t.csv"], "csv")
    counters = """
        aggregate counters c --program p --pattern 4
        aggregate counters c --program p --pattern 4 --no-header -o out.csv
        aggregate counters c c --program p --pattern 4 --events cache-misses:u,L2
        """
    add("perf", "counters", counters, {"c": PERF}, kind="csv")
    add("likwid", "counters", counters, {"c": LIKWID}, kind="csv")
    add("perf-intervals", "counters", counters, {"c": INTERVALS}, kind="csv")
    add("memory-share", "tables", """
        aggregate memory-share r.csv --machine systemg:16
        aggregate memory-share r.csv --machine systemg:16 --working-set 8GiB --format json
        """, {"r.csv": RUNS}, kind="csv")
    add("xc30", "tables", "validate aggregation --only xc30_spearman --xc30 x.csv --details out.csv", {"x.csv": XC30},
        kind="csv")


# --- Studies ---

STUDY = """# two halos
[study]
name = halos
store = h.store

[traces]
trace = gen:halo2d:ranks=8,bytes={bytes},iterations=1; t.goal
compute-scale = 0

[machines]
machine = torus:4x4; systemg:8
ranks-per-node = 1

[mappings]
mapping = default; cyclic; random({seed}); f.map
file = more.txt
skip-unfit = true

[runs]
network = packet; load
repetitions = 1
seed = 1
keep-links = true
keep-ranks = true

[bytes]
values = 64; 4096
"""
FAILURES = """[traces]
trace = gen:ring:ranks=4
[machines]
machine = fattree:2x2:2; fattree:2x4:2,failed=spine1
failures = cables every 2; spine*; leaf0:* 1x; nodes sample 2 seed 3
[runs]
network = load
"""
STORED = """[study]
name = stored
[traces]
trace = gen:halo2d:ranks=8,bytes={bytes},iterations=1
[machines]
machine = torus:4x4; m.conf
[mappings]
mapping = default; BAT; random(1); nowhere.map
[runs]
network = packet; load
keep-links = true
keep-ranks = true
[bytes]
values = 64; 4096
"""


STORE_COMMANDS = f"""
    study status s.store
    study status s.study --format json
    study failures s.store --parts
    study export s.store --format json --timing
    study export s.store --format npz -o out.npz
    study export s.store --what links -o out.csv
    study export s.store --what ranks --format jsonl
    study export s.store --what placements
    rank s.store
    rank s.store --format json --top 1
    rank s.store --case 1 -o out.map
    rank s.store --case 2 --to vcoord -o out.map
    rank s.store --by max_bytes --format csv
    rank s.store --model m.json --observed-runs network=packet --interval 0.9
    report s.store -o out.html -q
    report s.study -o out.html --top 2 -q
    study run s.study --threads 1
    study run s.study --threads 1 --retry-failed
    study run s.study --dry-run
    study merge merged.store s.store
    study merge s.store t.store
    study merge t.store s.store
    train s.store --method linear --validate none --threads 1 -o out.json
    train s.store --measured measured.csv --features all --method linear --validate none --observed-runs network=packet
    predict m.json s.store --observed-runs network=packet
    correct --from s.store --measured measured.csv --case 2 -o out.model {BREED}
    correct --from s.store --measured measured.csv --model t.model --case 3 --format json {BREED}
    validate sc13 --store s.store
    """


def stored_study(hopcast, folder):
    """A study that ran, of whose runs some failed, and what goes with it."""
    os.makedirs(folder)
    write(os.path.join(folder, "s.study"), STORED)
    write(os.path.join(folder, "m.conf"), MACHINE)
    hopcast("study", "run", "s.study", "--threads", "1", "-q", folder=folder, status=3)
    hopcast(*"train s.store --method linear --validate none --features max_bytes,avg_bytes -o m.json -q --threads 1 "
            "--observed-runs network=packet".split(), folder=folder)
    stored = {name: read(os.path.join(folder, name)) for name in ("s.store", "s.study", "m.conf", "m.json")}
    header, *rows = hopcast("study", "export", "s.store", folder=folder).splitlines(keepends=True)
    columns = header.decode().strip().split(",")
    times = ["key,measured_s\n"]
    for row in csv.DictReader([row.decode() for row in rows], columns):
        if row["status"] == "done" and row["network"] == "packet":
            times.append(f"{row['key']},{1.5 * float(row['time_s'])}\n")
    stored["measured.csv"] = "".join(times)
    stored["t.model"] = "variable time_s in s\nparameter scale 1 [0.1, 10]\ntime = scale*time_s\n"
    return stored


def add_studies(hopcast, scratch):
    files = {"h.study": STUDY, "t.goal": GOAL, "more.txt": "# more\nhilbert\nsnake\n",
             "f.map": "# A B T\n" + "".join(f"{k // 4} {k % 4} 0\n" for k in range(8))}
    add("study", "study files", """
        study run h.study --threads 1 --dry-run
        study run h.study --threads 1
        study run h.study --threads 2 --shard 1/3 --store shard.store
        study status h.study
        study export h.study
        rank h.study
        """, files, ["h.study", "f.map", "more.txt"], leaves=["h.store", "shard.store"])
    add("study-failures", "study files", """
        study run f.study --threads 1 --dry-run
        study run f.study --threads 1
        study failures f.study
        """, {"f.study": FAILURES}, ["f.study"], leaves=["f.store"])
    add("links-over-time", "tables", """
        report over.csv -o out.html -q
        report over.csv -o out.html --title x
        """, {"over.csv": LINKS_OVER_TIME}, ["over.csv"], "csv")
    stored = stored_study(hopcast, os.path.join(scratch, "stored"))
    leaves = ["s.store", "t.store", "merged.store"]
    for _ in range(6):  # it has the most commands
        add("store", "stores", STORE_COMMANDS, dict(stored, **{"t.store": stored["s.store"]}), ["s.store"], "store",
            leaves=leaves)
        add("store-places", "stores", """
            report s.store -o out.html -q
            rank s.store --case 2 --to slurm -o out.hosts --hosts hosts
            rank s.store --case 1 -o out.map
            study export s.store --what placements -o out.csv
            study export s.store --what links -o out.csv
            """, dict(stored, hosts="host[1-16]\n"), ["s.store"], "store", leaves=leaves)
    add("store-model", "models", """
        rank s.store --model m.json --observed-runs network=packet --format json
        predict m.json s.store -o out.csv --observed-runs network=packet
        """, stored, ["m.json"], "json", leaves=leaves)
    add("store-measured", "tables", f"""
        train s.store --measured measured.csv --method linear --threads 1 --observed-runs network=packet -o out.json
        correct --from s.store --measured measured.csv --case 2 {BREED}
        correct --from s.store --measured measured.csv --test measured.csv --points out.csv --features max_bytes {BREED}
        """, stored, ["measured.csv"], "csv", leaves=leaves)
    add("store-base-model", "base models", f"""
        predict t.model s.store -o out.csv --observed-runs network=packet
        rank s.store --model t.model --observed-runs network=packet
        correct --from s.store --measured measured.csv --model t.model -o out.model {BREED}
        """, stored, ["t.model"], leaves=leaves)


# --- All of them ---

def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def read_tree(folder, beginning):
    """The files of a folder and of its folders, by their paths in it."""
    files = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), folder)
            if path.startswith(beginning):
                files[path] = read(os.path.join(place, name))
    return files


def add_shared(data):
    """Real files; the small ones, since a run reads all of them."""
    def some(pattern, largest):
        return [path for path in sorted(glob.glob(os.path.join(data, pattern))) if os.path.getsize(path) <= largest]

    def trace(name, reader, folder, endings):
        files = read_tree(os.path.join(data, "traces", folder), "")
        first = next((path for path in files if path.endswith((".otf2", ".meta"))), None)
        if first:
            add("shared-" + name, reader, trace_commands(first, "--allow-lossy")[:4], files,
                [path for path in files if path.endswith(endings)], "bytes")

    fabrics = ["machine check fabric:f --format json", "machine show fabric:f"]
    for path in some("fabrics/*/*.net", 200000) + some("fabrics/examples/*", 50000) + some("fabrics/x5/*.conf", 99999):
        add("shared-" + os.path.basename(path), "fabrics", fabrics, {"f": read(path)})
    for path in some("traces/goal/loggopsim-examples/*.goal", 20000):
        add("shared-" + os.path.basename(path), "goal", trace_commands("t.goal")[:8], {"t.goal": read(path)})
    trace("ping-pong", "otf2", "otf2/pipit-ping-pong-otf2", (".otf2", ".def", ".evt"))
    trace("eztrace", "otf2", "otf2/gen-eztrace-micro-4", (".otf2", ".def", ".evt"))
    trace("sst", "dumpi", "dumpi/sst-testtrace-4", (".meta", ".bin"))
    for path in some("graphs/nas-mpi-32t/*.csv", 20000)[:2]:
        add("shared-" + os.path.basename(path), "matrices", "map metrics m --machine torus:4x4x4", {"m": read(path)},
            kind="csv")


def add_checkpoints(hopcast, scratch):
    run = "simulate gen:halo2d:ranks=16,iterations=600 --machine torus:4x4"
    hopcast(*run.split(), "--checkpoint", "state", "--every", "0.001s", "-q")
    with open(os.path.join(scratch, "state"), "rb") as file:
        add("checkpoint", "dump", [f"{run} --resume state"],
            {"state": file.read()}, kind="bytes")


def make_cases(build, data, scratch):
    """All cases, of the program in the folder `build`; sound inputs are made in `scratch`."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

    def hopcast(*words, folder=scratch, status=0):
        done = subprocess.run([os.path.join(build, "hopcast"), *words], cwd=folder, capture_output=True, check=False)
        if done.returncode != status:
            message = done.stderr.decode("utf-8", "replace")
            sys.exit(f"mutate: {' '.join(words)}: exit status {done.returncode}: {message}")
        return done.stdout

    seeds = os.path.join(scratch, "seeds")
    os.makedirs(seeds)
    subprocess.run([os.path.join(build, "validation", "mutate", "mutate_seeds"), seeds], check=True)
    for name, text in (("messages.ti", TI_MESSAGES), ("collectives.ti", TI_COLLECTIVES)):
        write(os.path.join(seeds, name), text)
        hopcast("trace", "convert", name, "-q", "-o", name[:-3] + ".hct", folder=seeds)
    hopcast("trace", "generate", "halo3d", "--ranks", "8", "--iterations", "3", "-q", "-o", "loops.hct", folder=seeds)
    add_traces(seeds, os.path.join(source, "traces", "data"))
    add_fabrics(seeds)
    add_nodes(seeds, data)
    add_machine_files(hopcast)
    add_mappings()
    add_matrices()
    add_learning(hopcast, scratch)
    add_aggregation(hopcast, seeds, scratch)
    add_studies(hopcast, scratch)
    add_checkpoints(hopcast, scratch)
    if data:
        add_shared(data)
    return CASES
