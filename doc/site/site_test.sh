#!/bin/sh
# site_test.sh - the site: every page is there and complete, every link leads somewhere.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
unless_sanitized "the site"
here=$srcdir/doc/site
for program in pandoc mandoc python3; do
  command -v $program >/dev/null || { echo "1..0 # SKIP no $program"; exit 0; }
done

# The manual pages as make builds them.
mkdir manuals
for page in "$srcdir"/doc/*.1.in; do
  sed 's/@PACKAGE_VERSION@/1/g' "$page" >"manuals/$(basename "$page" .in)"
done
succeeds "the site is made" sh "$here/site.sh" "$srcdir" manuals site
run python3 "$here/site_links.py" site
verdict "$status" "every link and anchor is there" "$(cat out err)"
sed 's/^/# /' out

# The checker itself: one of each fault.
cp -r site broken
sed -i 's|<a class="name" href="index.html">|&<a href="nowhere.html"></a><a href="tutorial.html#nowhere"></a>|
  s|</article>|<img src="https://example.org/a.png"><p id="siteText"></p>&|' broken/scores.html
sed -i 's/"tutorial.html#1-record"/"tutorial.html#0-record"/' broken/search-index.js
run python3 "$here/site_links.py" broken
test "$status" = 1
verdict $? "broken links are findings" "status $status" "$(cat out err)"
has_lines "each broken link is named" out "scores.html: no file for nowhere.html" \
  "scores.html: no anchor for tutorial.html#nowhere" "scores.html: two anchors #siteText" \
  "scores.html: https://example.org/a.png is loaded from elsewhere" \
  "search-index.js: no anchor for tutorial.html#0-record"

# Every page of the handbook is in the navigation, thus in a table of its README.md.
missing=
for page in "$srcdir"/doc/handbook/*.md; do
  name=$(basename "$page" .md)
  test "$name" = README || grep -q "<li><a href=\"$name.html\">" site/index.html || missing="$missing $name"
done
test -z "$missing"
verdict $? "the navigation has the whole handbook" "missing:$missing"

# words: each word of a text, once.
words () {
  tr -cs 'A-Za-z0-9' '\n' | sort -u
}
# No word of a source is lost on the way; groff reads the manual pages independently.
if command -v groff >/dev/null; then
  for page in manuals/*.1; do
    name=$(basename "$page")
    # The heading and the footer of paper, with the date, are not in the page.
    groff -man -Tutf8 -P-cbou -rLL=2000n "$page" 2>/dev/null | sed '1d; $d' | words >wanted
    sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; s/&quot;/"/g' "site/$name.html" | words >found
    lost=$(comm -23 wanted found)
    test -s wanted && test -z "$lost"
    verdict $? "$name is whole" "lost: $lost"
  done
else
  skip "manual pages are whole" "no groff"
fi

# search QUESTION: in a browser, with the page opened from disk; the results, best first, in found.
search () {
  timeout 100 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
    --virtual-time-budget=20000 --enable-logging=stderr --v=0 \
    --dump-dom "file://$scratch/site/scores.html?q=$1" >dom 2>said </dev/null
  { sed -n 's/.*<section id="siteResults"[^>]*><p>\([^<]*\)<\/p>.*/\1/p' dom
    grep -o '<li><a href="[^"]*">[^<]*</a><small>' dom | sed 's/<li><a href="\([^"]*\)">.*/\1/'
    grep -a CONSOLE said; } >found
}
if command -v chromium >/dev/null; then
  # A word and the beginning of another, in any case.
  search 'KEYS%20fail'
  same "the search finds a heading" studies.html#keys-and-failures "$(sed -n 2p found)"
  search ompi_alltoallw_nothing
  same "the search finds nothing" '0 sections with "ompi_alltoallw_nothing"' "$(cat found)"
  n=$(grep -cE '[" ]minhop[^"]*"\]' site/search-index.js)
  search minhop
  same "the search counts sections" "$n sections with \"minhop\"" "$(head -n 1 found)"
else
  skip "the search" "no chromium"
fi

# What site.sh refuses.
mkdir full && : >full/file
run sh "$here/site.sh" "$srcdir" manuals full
test "$status" = 1 && test "$(cat err)" = "site.sh: full is not empty and holds no site" && test -f full/file
verdict $? "a folder with other files is left alone" "status $status" "$(cat err)"
mkdir nothing
run sh "$here/site.sh" "$srcdir" nothing other
test "$status" = 1 && grep -q "no manual pages in .*; make builds them" err && ! test -e other
verdict $? "no manual pages" "status $status" "$(cat err)"
# A link to a file that is not there ends the making with the page's name.
mkdir -p tree/doc && cp -r "$here" tree/doc && chmod -R u+w tree && ln -s "$srcdir/doc/handbook" tree/doc/ &&
  ln -s "$srcdir/validation" "$srcdir/CONTRIBUTING.md" "$srcdir/NEWS" tree/
echo '[lost](../lost.txt)' >>tree/doc/site/index.md
run sh "$here/site.sh" tree manuals other
test "$status" = 1 && grep -q 'doc/site/index.md: nothing to read at ../lost.txt' err && ! test -e other
verdict $? "a link to nothing" "status $status" "$(cat err)"
done_testing
