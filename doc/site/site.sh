#!/bin/sh
# site.sh - makes the handbook and the manual pages a folder of HTML pages.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: site.sh SOURCE MANUALS FOLDER
#   SOURCE   the top of the source tree
#   MANUALS  the folder with the manual pages, hopcast*.1
#   FOLDER   is made, or replaced if it holds a site already
#
# All pages are in one folder, so that links are names of files: the site may be served from any
# address or opened from disk.  Needs pandoc and mandoc.
set -u
if test $# != 3; then
  echo "usage: site.sh SOURCE MANUALS FOLDER" >&2
  exit 2
fi
for program in pandoc mandoc; do
  command -v $program >/dev/null || {
    echo "site.sh: no $program; on Debian: apt-get install $program" >&2
    exit 1
  }
done
for folder in "$1" "$2"; do
  test -d "$folder" || { echo "site.sh: no folder $folder" >&2; exit 1; }
done
test -f "$2/hopcast.1" || { echo "site.sh: no manual pages in $2; make builds them" >&2; exit 1; }
SITE_TREE=$(cd "$1" && pwd) manuals=$(cd "$2" && pwd) folder=$3
if test -n "$(ls -A "$folder" 2>/dev/null)" && ! test -f "$folder/search-index.js"; then
  echo "site.sh: $folder is not empty and holds no site" >&2
  exit 1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/hopcast-site-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
made=$work/site here=$SITE_TREE/doc/site
mkdir "$made" || exit 1

# The pages in the order of their navigation, one per line: group ("-": none), source, file, title.  The groups
# of the handbook and the order within are those of the tables of its README.md.
title () {
  sed -n '1 { s/^# *//; s/`//g; p; }' "$1"
}
page () {
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"
}
{
  page - doc/site/index.md index.html "Start"
  for name in replay mappings validation predictors centres; do
    page "Who reads what" doc/site/for-$name.md for-$name.html "$(title "$here/for-$name.md")"
  done
  page "The handbook" doc/handbook/README.md handbook.html "All pages"
  sed -n 's/^| \([^|[]*[^ |[]\) *| content |$/group \1/p; s/^| \[\([^]]*\)\.md\](.*/page \1/p' \
    "$SITE_TREE/doc/handbook/README.md" | while read -r kind rest; do
    if test "$kind" = group; then
      group=$(printf '%s' "$rest" | cut -c1 | tr '[:lower:]' '[:upper:]')${rest#?}
    else
      page "$group" "doc/handbook/$rest.md" "$rest.html" "$(title "$SITE_TREE/doc/handbook/$rest.md")"
    fi
  done
  for manual in "$manuals"/hopcast*.1; do
    name=$(basename "$manual" .1)
    page "Manual pages" "man/$name.1" "$name.1.html" "$name(1)"
  done
  for report in "$SITE_TREE"/validation/reports/*.md; do
    name=$(basename "$report" .md)
    page "Reports of experiments" "validation/reports/$name.md" "report-$name.html" "$(title "$report")"
  done
  page "The project" CONTRIBUTING.md contributing.html "$(title "$SITE_TREE/CONTRIBUTING.md")"
  page "The project" NEWS news.html "News"
} >"$work/pages"
# convert: the text of $SITE_SOURCE in $work/text, in the format $form of pandoc.
convert () {
  case $SITE_SOURCE in
  man/*)
    # pandoc keeps the anchors of options when they are not at the term itself.
    form=html
    mandoc -T html -O fragment "$manuals/${SITE_SOURCE#man/}" |
      sed -e '/<table class="\(head\|foot\)">/,/<\/table>/d' \
        -e 's/<dt id="\([^"]*\)">/<dt><span id="\1"><\/span>/' >"$work/text" ;;
  NEWS)
    form=gfm
    { printf '# News\n\n```\n' && tail -n +3 "$SITE_TREE/NEWS" && printf '```\n'; } >"$work/text" ;;
  *)
    form=gfm
    cat "$SITE_TREE/$SITE_SOURCE" >"$work/text" ;;
  esac
}

SITE_PAGES=$work/pages SITE_INDEX=$work/index SITE_FILES=$work/files
export SITE_TREE SITE_PAGES SITE_INDEX SITE_FILES SITE_SOURCE
: >"$SITE_INDEX" && : >"$SITE_FILES" || exit 1
while IFS='	' read -r group SITE_SOURCE file title; do
  if ! convert ||
    ! pandoc --from "$form" --to html5 --no-highlight --wrap=preserve --template "$here/page.html" \
      --lua-filter "$here/page.lua" --metadata pagetitle="$title" --metadata lang=en \
      --output "$made/$file" "$work/text"; then
    echo "site.sh: $SITE_SOURCE was not converted" >&2
    exit 1
  fi
done <"$work/pages"

# Files of the tree to which pages link, at their places below files/.
sort -u "$SITE_FILES" | while IFS= read -r file; do
  mkdir -p "$made/files/$(dirname "$file")" && cp "$SITE_TREE/$file" "$made/files/$file" || exit 1
done || exit 1
{ echo 'const searchIndex = [' && sed '$!s/$/,/' "$SITE_INDEX" && echo '];'; } >"$made/search-index.js" &&
  cp "$here/site.css" "$here/search.js" "$made" || exit 1
chmod -R u+w,go+rX "$made"

rm -rf "$folder" && mkdir -p "$(dirname "$folder")" && mv "$made" "$folder" || exit 1
