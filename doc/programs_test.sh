#!/bin/sh
# programs_test.sh - every program that scripts and tests call is in a listed package.
#
# SPDX-License-Identifier: Apache-2.0
#
# Words where a command may stand in shell scripts, and the first words of argument
# vectors in C tests, that are programs of this machine must belong to a package of
# .ci/packages, to one that a package of the kind build depends on, or to Debian's
# essential and required ones.  A program that this machine lacks cannot be found so: .ci/fresh,
# which runs all tests in a minimal Debian, finds those.
set -u
cd "${G_TEST_SRCDIR:-.}" || exit 99

if ! command -v dpkg-query >/dev/null || ! test -e check -a -d .ci; then
  echo "1..0 # SKIP no Debian package manager, or no scripts of a clone"
  exit 0
fi
echo 1..1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hopcast-test-XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT

# Functions of scripts and of Python, and variables of awk programs in double quotes, that are names of
# programs too.
functions=' column open time '
# Programs that a script calls only after it has looked whether they are there, and that no test needs.
optional=' pj_dump vite srun scontrol sbatch runjob parallel perf likwid-perfctr hq '

# The words of shell scripts where a command may stand, without strings in single quotes, here-documents
# and comments, which have programs of awk and text.
shell_words () {
  find check quickstart .ci ./*/*.sh ./*/*/*.sh ./validation -type f 2>/dev/null | sort -u |
    xargs grep -lE '^#!/bin/sh|^# [a-z_]*\.sh ' | while IFS= read -r script; do
    awk '
      end != "" { if ($0 == end) end = ""; next }
      {
        line = $0
        if (!quoted) sub(/(^|[ \t])#.*/, "", line)
        # Strings in single quotes, also those of several lines.
        text = ""
        while (match(line, /\047/)) {
          if (!quoted) text = text substr(line, 1, RSTART - 1) " Q "
          quoted = !quoted; line = substr(line, RSTART + 1)
        }
        if (!quoted) text = text line
        if (match(text, /<<-?Q? ?[A-Z]+/)) { end = substr(text, RSTART, RLENGTH); sub(/<<-?/, "", end) }
        else if ($0 ~ /<<\047?[A-Z]+\047?/) { end = $0; sub(/.*<<\047?/, "", end); sub(/[^A-Z].*/, "", end) }
        gsub(/"[^"$]*"/, " S ", text); gsub(/\$\(\(/, " ", text)
        gsub(/\|\||&&|\$\(|[|;({`]|(^|[ \t])(then|do|else|if|elif|while|until|!|exec|xargs|run|nice|env)[ \t]/, "\n", text)
        n = split(text, part, "\n")
        for (i = 1; i <= n; i++) {
          word = part[i]
          sub(/^[ \t]*/, "", word)
          while (word ~ /^[A-Za-z_]+=[^ ]*[ \t]/) sub(/^[^ ]*[ \t]+/, "", word)
          sub(/[ \t;)}].*/, "", word)
          if (word ~ /^[a-z][a-z0-9_.+-]+$/) print word
        }
      }' "$script"
  done
}

c_words () {
  sed -n 's/.*argv\[\] = { "\([a-z][a-z0-9_.-]*\)".*/\1/p' ./*/*_test.c ./*/*/*_test.c ./*/*_testing.c ./*/*/*_testing.c ./*/*/*_fixture.c
}

# The packages that may be used: those to build and test, what these depend on, and the base system.  Those
# of other kinds only themselves, because a new user does not have what they depend on.
{
  awk '$1 == "build" { print $2 }' .ci/packages
  dpkg-query -W -f '${Essential} ${Priority} ${Package}\n' | awk '$1 == "yes" || $2 == "required" { print $NF }'
} | sort -u >"$scratch/known"
dpkg-query -W -f '${Package}\t${Depends}, ${Pre-Depends}\t${Provides}\n' >"$scratch/depends"
awk -F '\t' '
  NR == FNR { todo[++n] = $1; known[$1]; next }
  {
    needs[$1] = $2
    gsub(/ *\([^)]*\)/, "", $3)
    m = split($3, virtual, /, */)
    for (i = 1; i <= m; i++) provider[virtual[i]] = provider[virtual[i]] " " $1
  }
  END {
    for (at = 1; at <= n; at++) {
      text = needs[todo[at]]
      gsub(/ *\([^)]*\)|:any/, "", text)
      m = split(text, name, /[,| ]+/)
      for (i = 1; i <= m; i++) {
        k = split(name[i] provider[name[i]], all, " ")
        for (j = 1; j <= k; j++) if (all[j] != "" && !(all[j] in known)) { known[all[j]]; todo[++n] = all[j] }
      }
    }
    for (package in known) print package
  }' "$scratch/known" "$scratch/depends" >"$scratch/allowed"
awk '!/^#/ && $1 != "build" { print $2 }' .ci/packages >>"$scratch/allowed"

# PATH WORD of each program; one that is reached by links, such as those of alternatives, by all its names.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
{ shell_words; c_words; } | sort -u | while IFS= read -r word; do
  case $functions$optional in *" $word "*) continue ;; esac
  path=$(command -v "$word") || continue
  case $path in
  /*) printf '%s %s\n' "$path" "$word" "${path#/usr}" "$word" "$(readlink -f "$path")" "$word" ;;
  *) ;; # a builtin or a function
  esac
done | sort -u >"$scratch/programs"
cut -d' ' -f1 "$scratch/programs" | xargs dpkg-query -S 2>/dev/null | grep -v '^diversion' |
  awk -v allowed="$scratch/allowed" -v found="$scratch/found" '
    BEGIN { while ((getline line <allowed) > 0) may[line] }
    NR == FNR { word[$1] = $2; next }
    { sub(/,.*/, "", $1); sub(/:.*/, "", $1); package[word[$NF]] = package[word[$NF]] " " $1 }
    END {
      for (w in package) {
        print w package[w] >found
        n = split(package[w], p, " "); ok = 0
        for (i = 1; i <= n; i++) if (p[i] in may) ok = 1
        if (!ok) print w " is of the package" package[w]
      }
    }' "$scratch/programs" - | sort >"$scratch/wrong"
if test -s "$scratch/wrong"; then
  echo "not ok 1 - programs are of listed packages"
  sed 's/^/# /' "$scratch/wrong"
elif grep -qx 'pgrep procps' "$scratch/found" && grep -q '^tar ' "$scratch/found"; then
  echo "ok 1 - programs are of listed packages"
else
  # Both are called by tests.
  echo "not ok 1 - programs are of listed packages"
  echo "# the search does not find pgrep and tar"
fi
