# completion.bash - bash completion of hopcast, from what the program says of itself.
#
# SPDX-License-Identifier: Apache-2.0

_hopcast ()
{
  local word=${COMP_WORDS[COMP_CWORD]} before="" i commands options
  commands=$("${COMP_WORDS[0]}" --help 2>/dev/null |
    sed -n 's/^  \([a-z]\+\( [a-z-]\+\)\?\)  .*/\1/p')

  # The words of the command that are complete: one, or two of a group.
  for ((i = 1; i < COMP_CWORD && i <= 2; i++)); do
    before+="${before:+ }${COMP_WORDS[i]}"
    if grep -qxF -- "$before" <<<"$commands"; then
      # The patterns, and the options of one.
      if [[ $before == "trace generate" && $i == $((COMP_CWORD - 1)) && $word != -* ]]; then
        options=$("${COMP_WORDS[0]}" trace generate --help 2>/dev/null |
          sed -n '/^Patterns:/,$ s/^  \([a-z0-9]\+\) .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        return
      fi
      if [[ $before == "trace generate" && $i -lt $((COMP_CWORD - 1)) ]]; then
        before+=" ${COMP_WORDS[i + 1]}"
      fi
      # Also a command that begins others takes their words.
      if [[ $i == 1 && $COMP_CWORD -gt 2 ]] && grep -qxF -- "$before ${COMP_WORDS[2]}" <<<"$commands"; then
        continue
      fi
      if [[ $i == 1 && $COMP_CWORD == 2 && $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -W "$(sed -n "s/^$before \([a-z-]*\).*/\1/p" <<<"$commands")" -- "$word")
        return
      fi
      if [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
      fi
      # shellcheck disable=SC2086  # the words of a command
      options=$("${COMP_WORDS[0]}" $before --help 2>/dev/null |
        sed -n 's/^ *\(-., \)\?\(--[a-z-]*\).*/\2/p')
      mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
      return
    fi
  done
  mapfile -t COMPREPLY < <(compgen -W "$(sed -n "s/^${before:+$before }\([a-z-]*\).*/\1/p" <<<"$commands" | sort -u)" -- "$word")
}
complete -o filenames -F _hopcast hopcast
