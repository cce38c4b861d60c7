#!/bin/sh
# dist_test.sh - the source archive: the same bytes twice, and one version in every file that states it.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
unless_sanitized "the source archive"

built=${G_TEST_BUILDDIR:-.}
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DESTDIR SOURCE_DATE_EPOCH

# --- The version ---

version=$("$hopcast" --version | sed -n '1s/hopcast //p')
same "NEWS begins with the version" "$(sed -n '3s/ (.*//p' "$srcdir/NEWS")" "$version"
same "so does the citation" "$(sed -n 's/^version: //p' "$srcdir/CITATION.cff")" "$version"
same "with the day that NEWS states" "$(sed -n 's/^date-released: //p' "$srcdir/CITATION.cff")" \
  "$(sed -n '3s/.*(\(.*\))/\1/p' "$srcdir/NEWS")"
same "and Debian's changelog" "$(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' "$srcdir/debian/changelog")" "$version"

# --- The archive ---

if ! command -v xz >/dev/null || { test -e "$srcdir/.git" && ! command -v git >/dev/null; }; then
  skip "the same bytes twice" "no xz or no git"
  done_testing
  exit 0
fi
folder="hopcast-dist-test"
trap 'rm -rf "$scratch"; chmod -R u+w "$built/$folder" 2>/dev/null; rm -rf "$built/$folder" "$built/$folder.tar.xz"' EXIT

# archive NUMBER: of this build, quickly compressed, as NUMBER.tar.xz.
archive () {
  run env XZ_OPT=-0 make -s -C "$built" dist distdir="$folder"
  test "$status" = 0 && mv "$built/$folder.tar.xz" "$1.tar.xz"
  verdict $? "archive $1" "status $status" "$(tail -n 5 err)"
}

umask 022
archive 1
umask 077
sleep 1
TZ=Asia/Tokyo
LC_ALL=C.UTF-8
export TZ LC_ALL
archive 2
holds "the same bytes, whatever the clock, umask, time zone and locale" cmp 1.tar.xz 2.tar.xz
SOURCE_DATE_EPOCH=1000000000
export SOURCE_DATE_EPOCH
archive 3
unset SOURCE_DATE_EPOCH

# Owner, group and time of all files: one line each.
facts () {
  tar --utc --numeric-owner --full-time -tvf "$1.tar.xz" | awk '{ print $2, $4 "T" $5 }' | sort -u
}
if test -e "$srcdir/.git"; then
  commit=$(TZ=UTC git -C "$srcdir" log -1 --date=format-local:%Y-%m-%dT%H:%M:%S --format=%cd)
  same "files have the time of the commit and no owner" "$(facts 1)" "0/0 $commit"
fi
same "or the time that was asked for" "$(facts 3)" "0/0 2001-09-09T01:46:40"
# Folder by folder.
tar -tf 1.tar.xz | tr / '\001' | LC_ALL=C sort -c 2>unsorted
verdict $? "files are in order" "$(cat unsorted)"
done_testing
