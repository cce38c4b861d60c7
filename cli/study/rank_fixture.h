/* rank_fixture.h - a small store, and the output of `hopcast rank` for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two cases, a.hct and b,"b".hct, of five mappings each on a torus of eight nodes. */
#pragma once

#include <glib.h>

typedef struct {
  char *folder, *store, *map, *model; /* paths; the last two do not exist */
} RankFiles;

/* The store without its last n_missing runs. */
RankFiles rank_fixture_new (guint n_missing);
void rank_fixture_clear (RankFiles *files);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RankFiles, rank_fixture_clear)

/* Runs the command with the words of `arguments`, in which STORE, MAP and MODEL stand for
 * files; returns what it printed, or its error's message. */
char *rank_fixture_run (const RankFiles *files, const char *arguments);

/* Asserts that the output, or the error, has this text. */
void rank_fixture_assert (const RankFiles *files, const char *arguments, const char *expected);
