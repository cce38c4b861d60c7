#!/bin/sh
# handbook_test.sh - the command lines of README.md, of the handbook and of the site run.
#
# SPDX-License-Identifier: Apache-2.0
#
# Every block of a page that has a line of hopcast is run, in order, in a folder that
# looks like the top of a fresh clone: one shell for each page, the program under test
# first in PATH, a TAP line for each command.  In a block with lines that begin with
# "$ " those are the commands; in a block of lines that begin with "hopcast" each line
# is one; any other block is one command as a whole.  Commands are left out or made
# shorter only by the rules below, each with its reason; a rule that fits no command
# fails the test.
#
# HANDBOOK_PAGES limits the pages.  HANDBOOK_SHOW=1 shows, as comments, the lines of
# output that a page has and its command does not print.
#
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
builddir=${G_TEST_BUILDDIR:-$srcdir}
# With sanitizers the searches of correction.md and the runs of advise.md take a quarter of an hour.
if test -z "${HANDBOOK_PAGES-}" && is_sanitized; then
  HANDBOOK_PAGES=$(cd "$srcdir" && find README.md doc/handbook doc/site -name "*.md" ! -name correction.md ! -name advise.md | sort)
fi
pages=${HANDBOOK_PAGES:-$(cd "$srcdir" && ls README.md doc/handbook/*.md doc/site/*.md)}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

# PAGE@ACTION@COMMAND@TEXT, where COMMAND is the beginning of commands:
#   before    TEXT makes what the page assumes to be there, before COMMAND
#   without   not run; TEXT is the reason
#   needs     not run where the program TEXT is missing
#   fails     the page shows how COMMAND fails, with 1 or, where the command line is wrong, with 2
#   shorter   the sed commands TEXT make COMMAND shorter
cat >rules <<'END'
advise@without@hopcast advise TRACE@a synopsis
advise@without@hopcast trace record@records CoMD on 256 ranks; traces/recorder/recorder_test.sh records programs
advise@shorter@hopcast advise traces@s/$/ --budget 10/
README@without@hopcast rank jacobi.store@cli/tutorial_test.sh makes this store and ranks it
aggregation@shorter@hopcast aggregate table@s/ -o / --sizes 8,64KiB -o /
aggregation@shorter@hopcast aggregate bound@s/class=C/class=W/
aggregation@shorter@hopcast aggregate gen:npb:kernel=lu,class=D@s/class=D/class=W/
aggregation@shorter@hopcast aggregate 'gen@s/class=D/class=W/; s/16,32,64/16/
aggregation@without@hopcast aggregate counters@reads what perf wrote of the user's program; cli/aggregate/aggregate_ipc_test.sh
calibration@shorter@hopcast calibrate@s|measured|measured/osu_latency-2.txt|
calibration@shorter@hopcast machine test@s/$/ --packets 4000/
correction@shorter@hopcast correct@$s/$/ --trials 1 --population 60 --generations 6/
correction@before@hopcast correct --from@hopcast study run doc/examples/torus.study --store torus.store
format-store@before@sqlite3@hopcast study run doc/examples/halos.study --store halos.store
format-store@needs@sqlite3@sqlite3
installing@without@podman@builds an image
launchers@before@sh -c@hopcast map generate --machine bgq:512 --ranks-per-node 16 --ranks 8192 --mapping TABCDE -o best.map
launchers@shorter@sh -c@s/^sh -c "$(//; s/)"$//
launchers@without@scontrol@asks Slurm for the nodes of a job
launchers@before@hopcast map convert best.map --machine torus:4x4x2@seq -f n%g 0 31 >nodes; hopcast map generate --machine torus:4x4x2 --ranks-per-node 8 --ranks 256 --mapping TABC -o best.map
launchers@before@hopcast rank jacobi.store@seq -f n%g 0 7 >nodes; hopcast trace convert gen:halo2d:ranks=64,bytes=1K,iterations=1 -o jacobi.hct; cp doc/examples/jacobi.study .; hopcast study run jacobi.study
launchers@before@hopcast simulate app.hct@hopcast trace convert gen:halo2d:ranks=128,bytes=1K,iterations=1 -o app.hct; hopcast map convert AT --machine systemg:16 --ranks-per-node 8 --ranks 128 --to rankfile -o job.ranks
launchers@before@hopcast map check cray@hopcast map generate --machine torus:8x8x8 --ranks-per-node 16 --ranks 8192 --mapping TABC -o cray.map; hopcast map convert cray.map --machine torus:8x8x8 --ranks-per-node 16 --ranks 8192 --to cray -o MPICH_RANK_ORDER
launchers@before@hopcast map convert slurm:job.hosts@seq -f n%g 0 31 >nodes; cp nodes job.hosts
learning@shorter@awk@s/10000000/1000/
learning@before@hopcast study run@sed -i "s/512/32/g" doc/examples/some.study doc/examples/many.study
mappings@fails@hopcast map generate --machine bgq:512 --ranks 8 --mapping 'net.tilt(A,F)'@no dimension F
python@without@PYTHONPATH@contrib/python/python_test.sh runs it
recording@without@hopcast trace record -o melt@records LAMMPS on 64 ranks; traces/recorder/recorder_test.sh records programs
recording@without@hopcast trace info melt.hct@as above
recording@needs@mpicc@mpicc
recording@needs@mpirun@mpirun
recording@needs@hopcast trace record -o cost@mpirun
search@without@hopcast map optimize MATRIX@a synopsis
studies@without@parallel@four processes of GNU parallel; study/*_test run shards
studies@before@hopcast study run halos.study@sed "s/^machine = .*/machine = bgq:32;torus:8x8/" doc/examples/halos.study >halos.study
timelines@shorter@hopcast simulate gen:halo3d@s/iterations=100/iterations=2/
trace-formats@shorter@hopcast trace convert validation/data/traces/dumpi/gen-lulesh-27/dumpi-2026.11.20.12.00.06.meta -o lulesh.ti@/^smpirun/d
tutorial@without@PATH=@cli/tutorial_test.sh runs this page
tutorial@without@mkdir@cli/tutorial_test.sh runs this page
tutorial@without@mpicc@cli/tutorial_test.sh runs this page
tutorial@without@mpirun@cli/tutorial_test.sh runs this page
tutorial@without@hopcast@cli/tutorial_test.sh runs this page
tutorial@without@head@cli/tutorial_test.sh runs this page
validation@without@validation/infiniband/measured_page.sh@minutes; measured_page_test.sh runs it with results
validation@fails@hopcast validate modern@figures beyond their limits
validation@shorter@hopcast validate sc13 $(@s,runs/\*,runs/8.halo2d,
validation@without@validation/sc13/run@hours; validation/sc13/sc13_run_test.sh runs it with small studies
validation@without@validation/evh1/evh1_correct.sh@minutes; evh1_correct_test.sh runs it with two small trials
validation@without@validation/evh1/stampede2_correct.py@reads measurements that are not in the tree
workflows@needs@sh doc/examples/study_parallel.sh@parallel
workflows@needs@hopcast rank@parallel
END
: >used

# commands PAGE: each command of its blocks after a line "@", then the output shown after a line "=".
commands () {
  awk '
    function is_open (text,   double, single) {
      double = gsub(/"/, "", text); single = gsub(/\047/, "", text)
      return text ~ /\\$/ || double % 2 || single % 2
    }
    function command (text) { printf "@\n%s\n=\n", text }
    function block (   i, sessions, lines, scripts, text) {
      for (i = 1; i <= n; i++) {
        if (line[i] ~ /^\$ /) sessions++
        if (line[i] ~ /(^|[ \/])hopcast /) lines++
        if (line[i] ~ /^(hopcast |[ \t]|#|$)/) scripts++
      }
      if (sessions) {
        for (i = 1; i <= n; i++) {
          if (line[i] !~ /^\$ /) { print line[i]; continue }
          text = substr(line[i], 3)
          while (is_open(text) && i < n) text = text "\n" line[++i]
          command(text)
        }
      } else if (lines && scripts == n) {
        for (i = 1; i <= n; i++) {
          text = line[i]
          while (is_open(text) && i < n) text = text "\n" line[++i]
          command(text)
        }
      } else if (lines && line[1] !~ /^(\[|#|import)/) {
        text = line[1]
        for (i = 2; i <= n; i++) text = text "\n" line[i]
        command(text)
      }
    }
    /^```/ { inside = !inside; if (inside) n = 0; else block(); next }
    inside { line[++n] = $0 }' "$srcdir/$1"
}

# rule ACTION: the text of the rule for $page and the command in $text; remembers that it fits.
rule () {
  TEXT=$text awk -F@ -v action="$1" -v page="$page" -v used="$scratch/used" '
    $1 == page && $2 == action && index(ENVIRON["TEXT"], $3) == 1 {
      print NR >>used; print $4; exit
    }' "$scratch/rules"
}

# add TEXT: to the script of the page, as command $n.
add () {
  printf '{ %s\n} >"$to/out.%s" 2>"$to/err.%s" </dev/null; echo $? >"$to/status.%s"\n' \
    "$1" "$n" "$n" "$n" >>script
}

# run_page: the script in a folder like the top of a clone; the programs that tests build are not in PATH.
run_page () {
  mkdir top bin && ln -s "$hopcast" bin/hopcast || exit 99
  for entry in "$srcdir"/*; do
    case ${entry##*/} in build* | hopcast*) ;; *) ln -s "$entry" top/ ;; esac
  done
  rm top/doc && mkdir -p top/doc top/build/quickstart && ln -s "$srcdir/doc/handbook" top/doc/ &&
    cp -r "$srcdir/doc/examples" top/doc/ && chmod -R u+w top/doc/examples || exit 99
  ln -s "$hopcast" top/build/quickstart/hopcast
  to=$PWD
  export to
  (cd top && PATH=$to/bin:$PATH sh "$to/script")
}

# report: a TAP line for each command of the page.
report () {
  i=0
  while test $i -lt $n; do
    i=$((i + 1))
    name="$page: $(head -n 1 text.$i | tr -d '\\')"
    if test -s left_out.$i; then
      echo "# not run: $name: $(cat left_out.$i)"
    elif test -s reason.$i; then
      skip "$name" "$(cat reason.$i)"
    elif grep -qxF -- "$(cat status.$i 2>/dev/null)" expected.$i; then
      ok "$name"
    else
      not_ok "$name" "status $(cat status.$i 2>/dev/null)" "$(tail -n 3 err.$i 2>/dev/null)"
    fi
    test -z "${HANDBOOK_SHOW-}" || test ! -s shown.$i -o ! -f out.$i ||
      cat out.$i err.$i | sed 's/ *$//' | awk -v shown=shown.$i '
        { printed[$0] } END { while ((getline l <shown) > 0)
          if (l != "..." && l != "" && !(l in printed)) print "#   page: " l }'
  done
}

for file in $pages; do
  page=$(basename "$file" .md)
  case $file in */handbook/README.md) page=handbook ;; esac
  mkdir "$scratch/$page" && cd "$scratch/$page" || exit 99
  n=0 part=
  : >script
  commands "$file" >commands
  while IFS= read -r line; do
    case $line in
    @) n=$((n + 1)) part=text ; : >text.$n; : >shown.$n ;;
    =) part=shown ;;
    *) printf '%s\n' "$line" >>$part.$n ;;
    esac
  done <commands
  last=$n n=0
  while test $n -lt "$last"; do
    n=$((n + 1))
    text=$(cat text.$n)
    case $text in '' | \#*) echo "no command" >left_out.$n; continue ;; esac
    before=$(rule before)
    test -z "$before" || printf '%s\n' "{ $before; } >\"\$to/before\" 2>&1 </dev/null" >>script
    rule without >left_out.$n
    test -s left_out.$n && continue
    needs=$(rule needs)
    if test -n "$needs" && ! command -v "$needs" >/dev/null; then
      echo "no $needs" >reason.$n
      continue
    fi
    shorter=$(rule shorter)
    test -z "$shorter" || text=$(printf '%s\n' "$text" | sed "$shorter")
    echo 0 >expected.$n
    rule fails | grep -q . && printf '1\n2\n' >expected.$n
    add "$text"
  done
  run_page
  report
done

cd "$scratch" || exit 99
if test -z "${HANDBOOK_PAGES-}"; then
  idle=$(awk 'NR == FNR { used[$1]; next } !(FNR in used)' used rules)
  if test -z "$idle"; then ok "every rule fits a command"; else not_ok "every rule fits a command" "$idle"; fi
fi
done_testing
