# completion.bash - bash completion of hopcast, from what the program says of itself.
#
# SPDX-License-Identifier: Apache-2.0
#
# `hopcast --complete WORD...` prints the words that may stand in the place of the last WORD, and a
# line ":files SUFFIX..." where a path may.

_hopcast ()
{
  local word="" before="" line suffix at words=()

  # Bash parts words at ":" and "=", which specs (gen:ring:ranks=4) and --option=value contain.
  for ((at = 1; at <= COMP_CWORD; at++)); do
    word=${COMP_WORDS[at]}
    if ((${#words[@]} > 0)) && [[ $word == [:=]* || $before == *[:=] ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    before=$word
  done
  word=${words[-1]}
  # What stands before the last ":" or "=" is on the command line already.
  before=""
  [[ $COMP_WORDBREAKS == *[:=]* && $word == *[:=]* ]] && before=${word%"${word##*[:=]}"}

  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line != :files* ]]; then
      COMPREPLY+=("${line#"$before"}")
      continue
    fi
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${word#"$before"}")
    if [[ $line == :files ]]; then
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${word#"$before"}" |
        while IFS= read -r suffix; do [[ -d $suffix ]] || printf '%s\n' "$suffix"; done)
      continue
    fi
    for suffix in ${line#:files}; do
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!*$suffix" -- "${word#"$before"}")
    done
  done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
  # A spec or a list goes on.
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:=] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o filenames -F _hopcast hopcast
