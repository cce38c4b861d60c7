/* rank_fixture.h - a little store, and what `hopcast rank` says of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two cases, a.hct and b,"b".hct, of five mappings each on a torus of eight nodes. */
#pragma once

#include <glib.h>

typedef struct {
  char *folder, *store, *map, *model; /* paths; the last two are not there */
} RankFiles;

/* The store without its last n_missing runs. */
void rank_fixture_init (RankFiles *files, guint n_missing);
void rank_fixture_clear (RankFiles *files);

/* Runs the command with the words of `arguments`, in which STORE, MAP and MODEL stand for
 * files; returns what it printed, or its error's message. */
char *rank_fixture_run (const RankFiles *files, const char *arguments);
