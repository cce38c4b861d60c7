/* fuzzing.h - what all fuzz targets share: seeds, words, and an input as a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A target defines `fuzz_program`.  With FUZZ_SEEDS=FOLDER in its environment
 * the program only writes its seeds there, and its words to FOLDER.dict, which
 * is how .ci/fuzz starts. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct FuzzSeeds FuzzSeeds;

typedef struct {
  void (*prepare) (void); /* once, before seeds or inputs; or NULL */
  void (*seed) (FuzzSeeds *seeds);
  void (*check) (const uint8_t *data, size_t size); /* an input; ends the program when it fails */
} FuzzProgram;

extern const FuzzProgram fuzz_program;

void fuzz_add (FuzzSeeds *seeds, const void *bytes, gsize n);
void fuzz_add_text (FuzzSeeds *seeds, const char *text);
/* Some of each, NULL at the end. */
void fuzz_add_texts (FuzzSeeds *seeds, const char *const texts[]);
/* What mutations may insert, escaped as in dictionaries of libFuzzer but without quotes. */
void fuzz_add_words (FuzzSeeds *seeds, const char *const words[]);

/* A folder of this process, empty at first and removed with all its files at the end. */
const char *fuzz_folder (void);
/* Makes the bytes the content of a file; ends the program when it cannot. */
void fuzz_write (const char *path, const void *bytes, gsize n);
/* The input as a file in that folder; its path. */
const char *fuzz_file (const uint8_t *data, size_t size);
