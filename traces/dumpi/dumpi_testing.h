/* dumpi_testing.h - makes DUMPI files byte by byte, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace_testing.h"

enum { DUMPI_TESTING_IDS = 291 };

typedef struct {
  GByteArray *bytes;
  uint8_t version[3];
  uint8_t mask;        /* of the records to come; 0x4f at first */
  uint64_t now_ns;     /* when the last call ended */
  uint64_t between_ns; /* between calls; 1,000 at first */
  uint32_t made[DUMPI_TESTING_IDS];
  uint32_t ignored[DUMPI_TESTING_IDS];
  guint n_sizes; /* 0: no list of datatype sizes */
  int32_t sizes[64];
} DumpiBuild;

DumpiBuild *dumpi_build_new (uint8_t major, uint8_t minor, uint8_t patch);

/* One record.  Each character of format is an argument: '1', '2', '4' numbers
 * of so many bytes and '8' one of 8, all given as int; 's' a string.  Blanks
 * are passed over.  Arrays are their counts and elements. */
void dumpi_build_call (DumpiBuild *build, uint16_t id, const char *format, ...);

/* MPI_Init and MPI_Finalize. */
void dumpi_build_init (DumpiBuild *build);
void dumpi_build_finalize (DumpiBuild *build);

/* Ends the file and frees the build; n_offsets as in the index: 4 to 7. */
GByteArray *dumpi_build_end (DumpiBuild *build, guint n_offsets);

/* Writes t.meta for so many ranks, and t-0000.bin, from a build that it ends.
 * Returns the path of t.meta. */
char *dumpi_build_write (DumpiBuild *build, const char *folder, uint32_t n_ranks);

/* Reads the stream of a rank, which must have each call as often as the footer of its file PREFIX-NNNN.bin
 * counts it; trace_path() is PREFIX.meta.  Returns the number (GUINT_TO_POINTER) of each MPI call by its name;
 * the caller unrefs. */
GHashTable *dumpi_testing_calls (Trace *trace, uint32_t rank);

/* A file of a few calls and its stream; calls are added before reading. */
typedef struct {
  char *folder;
  DumpiBuild *build;
  TraceTestingStream stream; /* once it is open */
} DumpiFixture;

/* A test gets a build of version 13.0.0 without time between calls. */
typedef struct {
  const char *path; /* after /traces/dumpi/ */
  void (*run) (DumpiFixture *f);
  uint8_t mask; /* of the build; 0: the usual one */
} DumpiTest;

/* The main() of a program with these tests, which must live as long. */
int dumpi_testing_main (int argc, char **argv, const DumpiTest *tests, guint n_tests);

/* A different version of the format. */
void dumpi_fixture_restart (DumpiFixture *f, uint8_t major, uint8_t minor, uint8_t patch);
/* Ends the file and opens rank 0 of a trace of 8 ranks. */
void dumpi_fixture_open (DumpiFixture *f);
