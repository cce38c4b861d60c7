#!/bin/sh
# correct_simulator_test.sh - runs of a store, some of them measured, correct the simulator.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# refused NAME STATUS PATTERN COMMAND...
refused () {
  name=$1 expected=$2 pattern=$3
  shift 3
  run "$hopcast" "$@"
  test "$status" = "$expected" && grep -q -e "$pattern" err && test "$(wc -l <err)" = 1
  verdict $? "$name" "exit status $status" "$(cat err)"
}

# holds NAME: whether the last command was right.
holds () {
  if test $? = 0; then ok "$1"; else not_ok "$1" "$(cat err)"; fi
}

small () {
  run "$hopcast" correct "$@" --population 60 --generations 6 --trials 1 --threads 1
}

"$hopcast" trace generate halo2d --ranks 32 --bytes 2K --iterations 1 -q -o a.hct
"$hopcast" trace generate halo2d --ranks 32 --bytes 32K --iterations 1 -q -o b.hct
cat >halos.study <<'END'
[study]
name = halos
[traces]
trace = a.hct;b.hct
[machines]
machine = bgq:32
[mappings]
mapping = ABCDET;TEDCBA;random(1);random(2);random(3);random(4)
[runs]
keep-path = true
END
"$hopcast" study run halos.study --threads 1 -q || not_ok "study" "exit status $?"
"$hopcast" study export halos.store --format csv >runs.csv

# measure SECONDS: the runs and what was measured of them, by a formula of time and bytes.
measure () {
  awk -F, -v OFS=, "NR == 1 { for (i = 1; i <= NF; i++) c[\$i] = i; print \"trace\", \"mapping\", \"measured_s\"; next }
       { time = \$c[\"time_s\"]; bytes = \$c[\"max_bytes\"]
         printf \"%s,%s,%.17g\\n\", \$c[\"trace\"], \$c[\"mapping\"], $1 }" runs.csv
}
measure '2*time + 1e-5' | awk 'NR < 9' >scaled.csv
measure 'time + 1e-9*bytes' >all.csv
awk 'NR % 2 == 1' all.csv >half.csv

small --from halos.store --measured scaled.csv --refitted scaled.model --format csv
awk '/^parameter scale/ { scale = $3 } /^parameter offset/ { offset = $3 }
     END { exit !(scale > 1.99999 && scale < 2.00001 && offset > 0.9999e-5 && offset < 1.0001e-5) }' scaled.model
holds "a scale and an offset"
"$hopcast" predict scaled.model halos.store >predicted.csv 2>err
measure '2*time + 1e-5' | paste -d, - predicted.csv |
  awk -F, 'NR > 1 && ($NF / $3 > 1.00001 || $NF / $3 < 0.99999) { exit 1 } END { if (NR != 13) exit 1 }'
holds "and are predicted of all runs"

small --from halos.store --measured half.csv --test all.csv --features max_bytes --case 2 --format json \
  -o mended.model
grep -q '"term": "t_comm + .*max_bytes' out
holds "a feature is what lacked"
"$hopcast" predict mended.model halos.store -o predicted.csv 2>err
paste -d, all.csv predicted.csv |
  awk -F, 'NR > 1 && ($NF / $3 > 1.0001 || $NF / $3 < 0.9999) { exit 1 } END { if (NR != 13) exit 1 }'
holds "and predicts what was not measured"

# The fastest of a case, by the formula itself.
best=$(awk -F, '$1 == "b.hct" { print $3, $2 }' all.csv | sort -g | sed -n '1s/.* //p')
"$hopcast" rank halos.store --model mended.model --case b.hct --tie 0 --top 1 >out 2>err
grep -q "best: $best" out && grep -q 'predicted by mended.model, a formula, from the features of the same runs' out
holds "ranked by a formula"

printf 'variable size, time_s\nparameter a 1 [0.1, 10]\ntime = a*time_s + 0*size\n' >sized.model
sed -e '1s/$/,size/' -e '2,$s/$/,7/' half.csv >sized.csv
small --from halos.store --measured sized.csv --model sized.model --format csv
test "$status" = 0
holds "a column that no run has"

{ head -n 3 all.csv; echo c.hct,ABCDET,1; } >nowhere.csv
refused "no such run" 1 'nowhere.csv:4: halos.store has no run with trace=c.hct, mapping=ABCDET' \
  correct --from halos.store --measured nowhere.csv
cut -d, -f1,3 all.csv >vague.csv
refused "several runs" 1 'vague.csv:2: halos.store has 6 runs with trace=a.hct; .* mapping (ABCDET, TEDCBA, ' \
  correct --from halos.store --measured vague.csv
{ cat half.csv; sed -n 2p half.csv; } >twice.csv
refused "a run twice" 1 'twice.csv:8: .* before, at twice.csv:2' \
  correct --from halos.store --measured twice.csv
cut -d, -f3 all.csv >nameless.csv
refused "which runs" 1 'nameless.csv: no column identifies the measured run' \
  correct --from halos.store --measured nameless.csv
refused "nothing measured" 2 'needs --measured' correct --from halos.store
refused "a table and a store" 2 'TRAIN and --from STORE exclude' correct all.csv --from halos.store --measured all.csv
refused "no store" 2 'need --from' correct all.csv --measured all.csv --model sized.model
refused "no such feature" 1 'max_byte' \
  correct --from halos.store --measured half.csv --features max_byte
refused "a feature that is a parameter" 1 '"scale" is a parameter' \
  correct --from halos.store --measured half.csv --features scale

echo 'time_s,x
1,2
2,0' >odd.csv
printf 'variable x, time_s, unused\ntime = time_s/x\n' >pole.model
refused "no value in a row" 1 'odd.csv:3: pole.model: time_s/x is undefined' predict pole.model odd.csv
printf 'variable x, y, z\ntime = x + y + z\n' >lacking.model
refused "columns that lack" 1 'odd.csv lacks columns .*"y", "z"' predict lacking.model odd.csv
refused "an interval of a formula" 1 'a formula has no intervals' \
  predict scaled.model odd.csv --interval 0.9
refused "neither of the two" 1 'half.csv:1:' predict half.csv odd.csv

# A machine whose bandwidth, processors or latency differ stands for the measured one: the factors say
# which it was.
cat >ping.study <<'END'
[study]
name = ping
[traces]
trace = gen:pingpong:ranks=32,bytes=64;gen:pingpong:ranks=32,bytes=1K;gen:pingpong:ranks=32,bytes=16K;gen:pingpong:ranks=32,bytes=256K
[machines]
machine = bgq:32
[mappings]
mapping = ABCDET;random(1);random(2)
[runs]
keep-path = true
END
"$hopcast" study run ping.study --threads 1 -q || not_ok "ping study" "exit status $?"
# slower NAME SED: the times of that machine.
slower () {
  "$hopcast" machine show bgq:32 | sed -e "$2" >"$1.machine"
  sed -e "s/^name = .*/name = $1/" -e "s/^machine = .*/machine = $1.machine/" ping.study >"$1.study"
  "$hopcast" study run "$1.study" --threads 1 -q || not_ok "study of $1" "exit status $?"
  "$hopcast" study export "$1.store" --format csv |
    awk -F'"' -v OFS='"' '{ for (i = 2; i <= NF; i += 2) gsub(/,/, ";", $i) } 1' |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; print "trace,mapping,measured_s"; next }
      { gsub(/;/, ",", $c["trace"]); print $c["trace"] "," $c["mapping"] "," $c["time_s"] }' >"$1.csv"
  small --from ping.store --measured "$1.csv" --format json
}
# is_factor PART LOW HIGH
is_factor () {
  awk -v part="\"$1\": " -v low="$2" -v high="$3" '/"factors": / { here = 1 } here && index ($0, part) { found = 1 }
    found && /"factor": / { exit !($2 + 0 >= low && $2 + 0 <= high) } END { if (!found) exit 1 }' FS='[:,]' OFS=, out
}
slower slow_links 's/^bandwidth = 2 GB.s/bandwidth = 1.25 GB\/s/'
is_factor bandwidth 1.58 1.62 && is_factor software 0.97 1.03 && is_factor latency 0.8 1.2 &&
  grep -q 'bytes on an idle network: times 1.[56].*longer than simulated' out
verdict $? "slower links are a factor of the bandwidth" "$(cat err out)"
slower slow_calls 's/^\(send\|receive\)_overhead = 1.3 us/\1_overhead = 2.6 us/; s/^call_overhead = 100 ns/call_overhead = 200 ns/'
is_factor bandwidth 0.98 1.02 && is_factor software 1.97 2.03 && is_factor latency 0.8 1.2
verdict $? "slower processors are a factor of the software" "$(cat err out)"
small --from ping.store --measured slow_calls.csv -o calls.model --format csv
test "$status" = 0 && grep -q ',take the factors,' out && grep -q '^variable path_software_s$' calls.model &&
  "$hopcast" predict calls.model slow_calls.store -q -o calls.csv 2>>err
verdict $? "the verdict names the factors and -o writes them" "$(cat err out)"
slower slow_hops 's/^hop_latency = 40 ns/hop_latency = 200 ns/; s/^\(in\|recep\)\(jec\)*tion_latency = 20 ns/\1\2tion_latency = 100 ns/'
is_factor bandwidth 0.95 1.05 && is_factor software 0.95 1.05 && is_factor latency 4.6 5.4
verdict $? "longer ways are a factor of the latency" "$(cat err out)"

# A store without the parts says where they come from, and goes on without factors.
sed -e 's/^name = .*/name = bare/; /^keep-path/d' ping.study >bare.study
"$hopcast" study run bare.study --threads 1 -q || not_ok "bare study" "exit status $?"
small --from bare.store --measured slow_links.csv --format json
test "$status" = 0 && grep -q 'keep-path = true has them' err && ! grep -q '"factors"' out
verdict $? "a store without the parts of the critical path" "$(cat err)"

# What was measured is twice the simulated time and an offset: the term can only take the place of the
# parameters.  It is not written, what the verdict advises is.
small --from halos.store --measured scaled.csv -o degenerate.model --refitted advised.model
test "$status" = 1 && grep -q '^verdict  *take the refitted model$' out &&
  grep -q '^reason  *the term is degenerate: it does what the parameters can; with scale = 2, offset = 1e-05 ' out &&
  grep -q 'degenerate.model: not written: take the refitted model: .*--anyway' err &&
  ! test -e degenerate.model && grep -q '^parameter scale' advised.model
holds "a degenerate term is not written"
small --from halos.store --measured scaled.csv -o degenerate.model --anyway
test "$status" = 0 && grep -q '^time = ' degenerate.model
holds "unless it must be"

# The term cannot be a sine: fitting the parameters is better, and that is told.
printf 'variable n\nparameter a 1 [0.1, 10]\nparameter b 0.5 [0.1, 10]\ntime = 20 + a*sin(n) + b*n\n' >wave.model
awk 'BEGIN { print "n,t"; for (n = 1; n < 25; n++) printf "%d,%.17g\n", n, 20 + 3 * sin (n) + n }' >wave.csv
small wave.csv --model wave.model --observed t --case 2
grep -q '^verdict  *take the refitted model$' out &&
  awk '/^left_out.refitted/ { refitted = $2 } /^left_out.corrected/ { exit !(refitted < 1e-6 && $2 > 0.01) }' out
holds "refitting is better"
done_testing
