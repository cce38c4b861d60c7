-- A store of version 3, as hopcast wrote it before version 4 (sqlite3 c.store .dump): two mappings.
BEGIN TRANSACTION;
CREATE TABLE blobs (key TEXT PRIMARY KEY NOT NULL, link_bytes BLOB, rank_times BLOB);
CREATE TABLE edges (trace_hash TEXT PRIMARY KEY NOT NULL, ranks INTEGER NOT NULL, edges INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE machines (hash TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL);
INSERT INTO "machines" VALUES('0f0b1594940e343b353384b9a70047a0b852cefb728ae7a8b26eabf89ffea620','# A machine file: edit any number and give the file''s path as the machine.
# Origins: [S] IBM''s sources, [P] published, [A] published (abstract), [R] recalled,
# [D] derived; guess: nobody outside IBM knows.  Sections: handbook, The Blue Gene/Q model.

[machine]
# Shape, 4 nodes
spec = torus:4
# Slots for ranks on each node, 1 to 64
ranks_per_node = 1

[link]
# Raw, each direction: 4 bytes per cycle of 500 MHz [S] section 1
bandwidth = 2 GB/s
# Share of the bandwidth taken by acknowledgements and tokens;
# guess: what is left between the packet format (92.75 %) and the 1.8 GB/s measured [P]
overhead = 3 %
# Head of a packet, from a sender''s port to the decision of the next router [S] section 1;
# 35 ns seen through MPI [P]
hop_latency = 40 ns
# Added on a link that leaves its midplane; guess: two link chips of 40 ns [S], no cable
midplane_latency = 80 ns
# From a freed buffer to the sender that may use it; guess: one hop
token_latency = 40 ns

[packet]
# Largest payload [S] section 1
payload = 512 B
# Network and messaging unit headers, 12 + 20 B [S] section 1
header = 32 B
# On the wire only, not in buffers [S] section 1
trailer = 8 B
# Unit of buffers, tokens and counters [S] section 1
chunk = 32 B

[router]
# Chunks of the dynamic VC''s receiver, per link: count [S], unit [D] section 2.2
dynamic_tokens = 126
# Packets of the bubble VC''s receiver, per link: count [S], unit [D] section 2.2
bubble_tokens = 7
# Packets of the priority VC''s receiver, per link: count [S], unit [D] section 2.2
priority_tokens = 7
# Queues within the dynamic receiver; guess: one per dimension (the chip has seven, [S],
# what each is for is not documented)
dynamic_queues = 5
# Grants of a link to transit packets per grant to injected ones, when both wait
# [S] section 2.3, from the default personality
receiver_grants = 16
# Depth of a network reception FIFO, in packets; guess
reception_packets = 4
# Dynamic packets may fall to the bubble VC [S] section 2.6
escape = true
# ... and stay there up to their destination [S] section 2.6: bit off in PAMI
stay_on_bubble = false

[messaging]
# From a written descriptor to the head of the packet in the router; guess: together with
# one hop and the reception, the 80 ns of the nearest-neighbour headline [R] section 1
injection_latency = 20 ns
# From the last byte in memory to software that may see it; guess, as above
reception_latency = 20 ns
# Writes of arriving packets, all ports of a node together: STREAM [P] section 6.1
memory_bandwidth = 27.8 GB/s

[mpi]
# Processor time of a send call; calibrated: half of the latency between neighbours, half-way
# between the 2.6 and 2.8 us measured [P] section 6.1, less the path in the hardware
send_overhead = 1.3 us
# Processor time of receiving a message; calibrated, the other half
receive_overhead = 1.3 us
# Processor time of any other MPI call; guess
call_overhead = 100 ns
# Processor time to write one descriptor of a direct collective; guess: below PAMI''s
# 107 million messages/s of a node with 32 ranks [R], which are 0.3 us per message of a rank
# with everything that a message costs
direct_overhead = 50 ns
# Software header in the first payload [S] section 4
envelope = 16 B
# Largest message sent from the look-aside descriptor [S] section 4; not modelled:
# it must only fit
immediate = 112 B
# Largest eager message [S] section 4; older software: 2 KiB
eager = 4 KiB
# Rendezvous data to the E neighbour uses both cables from here on [S] section 1
e_split = 2 KiB
# Rendezvous data above this is routed dynamically [S] section 2.7
dynamic = 64 KiB
# Dynamically routed messages in flight per rank, the others are deterministic
# [S] section 2.7
dynamic_messages = 64
# Rendezvous requests are answered while the rank computes; guess
async_progress = false
# Remote gets are paced above one rack [S] section 3.4
pacing = true
# Within a node, sender to receiver; guess
shm_latency = 500 ns
# One copy within a node; guess
shm_bandwidth = 6 GB/s
# Whose rules choose the algorithm of a collective: bgq (PAMI''s, and MPICH 3.1''s beneath),
# ompi-1.3 (coll/tuned of Open MPI 1.3.2), ompi-4.1, ompi-5.0 (with coll/han), mpich (4.0)
# or mpich-4 (4.2 with ch4); ompi-5.0 and mpich-4 have two levels, nodes and their leaders
collectives = bgq

[collective]
# Broadcasts, reductions and barriers of the whole partition run in the network
# [S] section 5
network = true
# Global interrupt, fixed part; guess: with a tree of depth 15 (the half lengths of
# 4x4x4x16x2 added up) the 2.7 us on 2,048 nodes [R] section 6.3
barrier_latency = 1.2 us
# Collective network, fixed part; guess: with a tree of depth 15 the allreduce of 5.5 us on
# 2,048 nodes [R] section 6.3
tree_latency = 4 us
# Per hop of the tree''s depth, up and down again; guess: two hops of 50 ns, 40 ns of link and
# 10 ns to combine.  At depth 31, 96 racks, this gives 7.1 us; of the 10.25 us measured there
# [A] section 6.2 the rest is taken to be the 16 ranks of each node.  A line through both
# points, 1.05 us + 297 ns per hop, would leave a barrier slower than measured
tree_hop_latency = 100 ns
# Of combining and broadcasting [R] section 6.3
tree_bandwidth = 1.7 GB/s
# Broadcasts above this go over all links [S] section 5
rectangle = 64 KiB

[node]
# Turns the operations of a trace into time: one core''s peak, 1.6 GHz x 8 [D]
compute = 12.8 Gflop/s

# 15 of these 42 are guesses, whole or in part
');
CREATE TABLE placements (hash TEXT PRIMARY KEY NOT NULL, ranks INTEGER NOT NULL, places BLOB NOT NULL);
INSERT INTO "placements" VALUES('aa7bfd5dfbee90e89a640ba0190816ef8d46fd9e29496d914507a7c151bfd9f8',4,X'780163624005CC502E2394060000980007');
CREATE TABLE plan (place INTEGER PRIMARY KEY, key TEXT NOT NULL, trace TEXT, machine TEXT, mapping TEXT, network TEXT, routing TEXT, compute_scale REAL, seed INTEGER, repetition INTEGER, replica INTEGER);
INSERT INTO "plan" VALUES(0,'88ca8796c4dd89bbef0a5636cd5f921231714714e1e94da12dd33c1b283a82f0','gen:random:ranks=4,bytes=4K,iterations=1,messages=2','torus:4','A','packet','default',1.0,0,0,0);
INSERT INTO "plan" VALUES(1,'212f0498da4ac6e598bd670ca3098818e88acdad0988e273ec703edeaec8d962','gen:random:ranks=4,bytes=4K,iterations=1,messages=2','torus:4','random(1)','packet','default',1.0,0,0,0);
CREATE TABLE race (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, key TEXT NOT NULL, outcome TEXT NOT NULL, draws INTEGER NOT NULL, time_s REAL, behind REAL, margin REAL);
CREATE TABLE runs ("key" TEXT PRIMARY KEY NOT NULL, "trace" TEXT, "trace_hash" TEXT, "machine" TEXT, "machine_hash" TEXT, "mapping" TEXT, "mapping_hash" TEXT, "network" TEXT, "routing" TEXT, "shrink" TEXT, "version" TEXT, "ranks" INTEGER, "ranks_per_node" INTEGER, "nodes" INTEGER, "links" INTEGER, "compute_scale" REAL, "seed" INTEGER, "repetition" INTEGER, "replica" INTEGER, "jitter_s" REAL, "status" TEXT, "error" TEXT, "time_s" REAL, "mean_end_s" REAL, "compute_s_avg" REAL, "wait_s_avg" REAL, "wait_s_max" REAL, "shrink_factor" INTEGER, "messages" INTEGER, "message_bytes" INTEGER, "packets" INTEGER, "packet_hops" INTEGER, "events" INTEGER, "max_dilation" REAL, "avg_dilation" REAL, "sum_dilation_AO" REAL, "sum_message_dilation_AO" REAL, "hop_bytes" REAL, "avg_hops_per_byte" REAL, "sum_hops_AO" REAL, "avg_bytes" REAL, "max_bytes" REAL, "avg_bytes_AO" REAL, "avg_bytes_TO" REAL, "avg_chunks" REAL, "max_chunks" REAL, "avg_chunks_AO" REAL, "avg_chunks_TO" REAL, "avg_buffer" REAL, "max_buffer" REAL, "avg_buffer_AO" REAL, "avg_buffer_TO" REAL, "avg_delay" REAL, "max_delay" REAL, "avg_delay_AO" REAL, "avg_delay_TO" REAL, "avg_waited" REAL, "max_waited" REAL, "avg_waited_AO" REAL, "avg_waited_TO" REAL, "avg_FIFO" REAL, "max_FIFO" REAL, "avg_FIFO_AO" REAL, "avg_FIFO_TO" REAL, "warnings" TEXT, "wall_s" REAL, "peak_rss_bytes" INTEGER);
INSERT INTO "runs" VALUES('88ca8796c4dd89bbef0a5636cd5f921231714714e1e94da12dd33c1b283a82f0','gen:random:ranks=4,bytes=4K,iterations=1,messages=2','4d8ed5c1723b93565b387645cc1151a0f94a5de121c06b3fc678e365006232b7','torus:4','0f0b1594940e343b353384b9a70047a0b852cefb728ae7a8b26eabf89ffea620','A',NULL,'packet','default','off','0.2.0',4,1,4,8,1.0,0,0,0,0.0,'failed','mapping "A": a mapping has each letter of AT once',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL);
INSERT INTO "runs" VALUES('212f0498da4ac6e598bd670ca3098818e88acdad0988e273ec703edeaec8d962','gen:random:ranks=4,bytes=4K,iterations=1,messages=2','4d8ed5c1723b93565b387645cc1151a0f94a5de121c06b3fc678e365006232b7','torus:4','0f0b1594940e343b353384b9a70047a0b852cefb728ae7a8b26eabf89ffea620','random(1)','aa7bfd5dfbee90e89a640ba0190816ef8d46fd9e29496d914507a7c151bfd9f8','packet','default','off','0.2.0',4,1,4,8,1.0,0,0,0,0.0,'done',NULL,7.746802e-06,5.84010150000000099156e-06,0.0,1.5151015e-06,2.046802e-06,1,6,24576,54,72,136,2.0,1.33333333333333325931e+00,2.0,4.0,32768.0,1.33333333333333325931e+00,2.0,4096.0,8192.0,8192.0,8192.0,138.0,276.0,276.0,276.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.75,2.0,2.0,2.0,'',0.000487,5935104);
CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT, file TEXT);
INSERT INTO "study" VALUES(1,'c','[study]
name = c
[traces]
trace = gen:random:ranks=4,bytes=4K,iterations=1,messages=2
[machines]
machine = torus:4
[mappings]
mapping = A;random(1)
[runs]
network = packet
');
CREATE INDEX plan_keys ON plan (key);
CREATE VIEW results AS SELECT place, runs."key" AS "key", plan."trace" AS "trace", runs."trace_hash" AS "trace_hash", plan."machine" AS "machine", runs."machine_hash" AS "machine_hash", plan."mapping" AS "mapping", runs."mapping_hash" AS "mapping_hash", runs."network" AS "network", runs."routing" AS "routing", runs."shrink" AS "shrink", runs."version" AS "version", runs."ranks" AS "ranks", runs."ranks_per_node" AS "ranks_per_node", runs."nodes" AS "nodes", runs."links" AS "links", runs."compute_scale" AS "compute_scale", runs."seed" AS "seed", plan."repetition" AS "repetition", plan."replica" AS "replica", runs."jitter_s" AS "jitter_s", runs."status" AS "status", runs."error" AS "error", runs."time_s" AS "time_s", runs."mean_end_s" AS "mean_end_s", runs."compute_s_avg" AS "compute_s_avg", runs."wait_s_avg" AS "wait_s_avg", runs."wait_s_max" AS "wait_s_max", runs."shrink_factor" AS "shrink_factor", runs."messages" AS "messages", runs."message_bytes" AS "message_bytes", runs."packets" AS "packets", runs."packet_hops" AS "packet_hops", runs."events" AS "events", runs."max_dilation" AS "max_dilation", runs."avg_dilation" AS "avg_dilation", runs."sum_dilation_AO" AS "sum_dilation_AO", runs."sum_message_dilation_AO" AS "sum_message_dilation_AO", runs."hop_bytes" AS "hop_bytes", runs."avg_hops_per_byte" AS "avg_hops_per_byte", runs."sum_hops_AO" AS "sum_hops_AO", runs."avg_bytes" AS "avg_bytes", runs."max_bytes" AS "max_bytes", runs."avg_bytes_AO" AS "avg_bytes_AO", runs."avg_bytes_TO" AS "avg_bytes_TO", runs."avg_chunks" AS "avg_chunks", runs."max_chunks" AS "max_chunks", runs."avg_chunks_AO" AS "avg_chunks_AO", runs."avg_chunks_TO" AS "avg_chunks_TO", runs."avg_buffer" AS "avg_buffer", runs."max_buffer" AS "max_buffer", runs."avg_buffer_AO" AS "avg_buffer_AO", runs."avg_buffer_TO" AS "avg_buffer_TO", runs."avg_delay" AS "avg_delay", runs."max_delay" AS "max_delay", runs."avg_delay_AO" AS "avg_delay_AO", runs."avg_delay_TO" AS "avg_delay_TO", runs."avg_waited" AS "avg_waited", runs."max_waited" AS "max_waited", runs."avg_waited_AO" AS "avg_waited_AO", runs."avg_waited_TO" AS "avg_waited_TO", runs."avg_FIFO" AS "avg_FIFO", runs."max_FIFO" AS "max_FIFO", runs."avg_FIFO_AO" AS "avg_FIFO_AO", runs."avg_FIFO_TO" AS "avg_FIFO_TO", runs."warnings" AS "warnings", runs."wall_s" AS "wall_s", runs."peak_rss_bytes" AS "peak_rss_bytes" FROM plan JOIN runs ON runs.key = plan.key ORDER BY place;
COMMIT;
PRAGMA application_id = 1752133731;
PRAGMA user_version = 3;
