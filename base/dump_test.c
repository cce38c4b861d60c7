/* dump_test.c - what is saved is what is loaded, and nothing else is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/dump.h"

#include "base/error.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define KIND  "test 1"
#define TABLE 700000u /* bytes: more than 64 blocks of it */

static char *path;

typedef struct {
  uint32_t number;
  uint16_t *list;
  uint32_t n, capacity;
  char *text, *none;
  uint8_t *table; /* [TABLE] */
  GArray *array;  /* (element-type uint64_t) */
} State;

static State
state_new (void)
{
  return (State){ .table = g_malloc0 (TABLE),
                  .array = g_array_new (FALSE, FALSE, sizeof (uint64_t)) };
}

static void
state_clear (State *state)
{
  g_free (state->list);
  g_free (state->text);
  g_free (state->none);
  g_free (state->table);
  g_array_unref (state->array);
}

static void
state_dump (State *state, BaseDump *dump)
{
  base_dump_section (dump, "state");
  BASE_DUMP_VALUE (dump, state->number);
  base_dump_list (dump, (void **) &state->list, &state->n, &state->capacity, sizeof *state->list);
  base_dump_text (dump, &state->text);
  base_dump_text (dump, &state->none);
  base_dump_array (dump, state->table, TABLE, 1);
  base_dump_garray (dump, state->array);
}

/* Lists longer than the dump's buffer too. */
static void
fill (State *state, uint32_t n)
{
  state->number = 4711;
  state->n = n;
  state->capacity = 2 * n + 1;
  state->list = g_new0 (uint16_t, state->capacity);
  for (uint32_t i = 0; i < n; i++)
    state->list[i] = (uint16_t) (i * 7);
  state->text = g_strdup ("");
  for (uint32_t i = 0; i < 100; i++)
    state->table[(size_t) i * i * 70] = (uint8_t) i;
  for (uint64_t i = 0; i < n / 3; i++)
    g_array_append_val (state->array, i);
}

static void
save (State *state)
{
  g_autoptr (GError) error = NULL;
  FILE *stream = fopen (path, "w");
  g_autoptr (BaseDump) dump = base_dump_save (stream, KIND);

  state_dump (state, dump);
  g_assert_true (base_dump_end (dump, &error));
  g_assert_no_error (error);
  g_assert_cmpint (fclose (stream), ==, 0);
}

static void
test_same (void)
{
  static const uint32_t lengths[] = { 0, 1, 5, 1000, 40000, 500000 };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    State saved = state_new (), loaded = state_new ();
    g_autoptr (BaseDump) dump = NULL;
    g_autoptr (GError) error = NULL;

    fill (&saved, lengths[i]);
    save (&saved);
    memset (loaded.table, 99, TABLE); /* zeros are loaded as well */
    loaded.none = g_strdup ("something");
    dump = base_dump_load (path, KIND, &error);
    g_assert_no_error (error);
    state_dump (&loaded, dump);
    g_assert_true (base_dump_end (dump, &error));
    g_assert_cmpuint (loaded.number, ==, 4711);
    g_assert_cmpuint (loaded.n, ==, saved.n);
    g_assert_cmpuint (loaded.capacity, ==, saved.n);
    g_assert_true (saved.n == 0 || memcmp (loaded.list, saved.list, 2 * saved.n) == 0);
    g_assert_cmpstr (loaded.text, ==, "");
    g_assert_null (loaded.none);
    g_assert_true (memcmp (loaded.table, saved.table, TABLE) == 0);
    g_assert_cmpuint (loaded.array->len, ==, saved.array->len);
    g_assert_true (saved.array->len == 0 ||
                   memcmp (loaded.array->data, saved.array->data, 8 * saved.array->len) == 0);
    state_clear (&saved);
    state_clear (&loaded);
  }
}

/* Pages of zeros are not written. */
static void
test_zeros_are_left_out (void)
{
  State state = state_new ();
  GStatBuf status;

  save (&state);
  g_assert_cmpint (g_stat (path, &status), ==, 0);
  g_assert_cmpint (status.st_size, <, 1000);
  state_clear (&state);
}

static void
assert_refused (const char *kind, const char *why)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *message = g_strdup_printf ("%s: %s", path, why);

  g_assert_null (base_dump_load (path, kind, &error));
  g_assert_error (error, BASE_ERROR, BASE_ERROR_DUMP);
  if (!g_str_has_prefix (error->message, message))
    g_error ("got: %s", error->message);
}

static void
test_refused (void)
{
  State state = state_new ();
  g_autofree char *bytes = NULL;
  gsize length;

  fill (&state, 20);
  save (&state);
  state_clear (&state);
  g_assert_true (g_file_get_contents (path, &bytes, &length, NULL));
  assert_refused ("test 2", "is not a test 2");
  for (gsize n = 0; n < length; n += n < 100 ? 1 : 97) {
    g_assert_true (g_file_set_contents (path, bytes, (gssize) n, NULL));
    assert_refused (KIND, n < strlen (KIND) + 1 ? "is not a" : "is torn");
  }
  for (gsize at = strlen (KIND) + 1; at < length; at += 13) {
    bool in_end;

    bytes[at] ^= 16;
    g_assert_true (g_file_set_contents (path, bytes, (gssize) length, NULL));
    /* Of the end, the checksum alone is not the length or the mark. */
    in_end = at >= length - 16 && (at < length - 8 || at >= length - 4);
    assert_refused (KIND, in_end ? "is torn" : "is damaged");
    bytes[at] ^= 16;
  }
}

typedef void (*Visit) (BaseDump *dump);

static void
visit_more (BaseDump *dump)
{
  uint64_t numbers[2] = { 1, 2 };

  base_dump_section (dump, "numbers");
  base_dump_array (dump, numbers, 2, sizeof *numbers);
  g_assert_true (!base_dump_has_failed (dump) || !base_dump_loads (dump) || numbers[0] == 0);
}

static void
visit_other (BaseDump *dump)
{
  base_dump_section (dump, "others");
}

static void
visit_size (BaseDump *dump)
{
  uint32_t numbers[2] = { 1, 2 };

  base_dump_section (dump, "numbers");
  base_dump_array (dump, numbers, 2, sizeof *numbers);
}

static void
visit_number (BaseDump *dump)
{
  uint64_t number = 1;

  base_dump_section (dump, "numbers");
  base_dump_array (dump, &number, 1, sizeof number);
}

static void
visit_less (BaseDump *dump)
{
  base_dump_section (dump, "numbers");
}

static void
visit_twice (BaseDump *dump)
{
  visit_more (dump);
  visit_more (dump);
}

/* Another program's state, whole as it is: no value of it is used. */
static void
test_other_shape (void)
{
  static const struct {
    Visit visit;
    const char *why;
  } cases[] = {
    { visit_other, "its part \"others\" is not where" },
    { visit_size, "has 2 records of 8 bytes where this program has 2 of 4" },
    { visit_number, "has 2 records of 8 bytes where this program has 1 of 8" },
    { visit_less, "has more than it should" },
    { visit_twice, "has less than it should" },
  };
  FILE *stream = fopen (path, "w");
  BaseDump *dump = base_dump_save (stream, KIND);

  visit_more (dump);
  g_assert_true (base_dump_end (dump, NULL));
  base_dump_free (dump);
  g_assert_cmpint (fclose (stream), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    dump = base_dump_load (path, KIND, &error);
    g_assert_no_error (error);
    cases[i].visit (dump);
    g_assert_false (base_dump_end (dump, &error));
    g_assert_error (error, BASE_ERROR, BASE_ERROR_DUMP);
    if (strstr (error->message, cases[i].why) == NULL)
      g_error ("got: %s", error->message);
    base_dump_free (dump);
  }
}

static void
test_full_disk (void)
{
  FILE *stream = fopen ("/dev/full", "w");
  g_autoptr (BaseDump) dump = NULL;
  g_autoptr (GError) error = NULL;
  State state = state_new ();

  if (stream == NULL) {
    g_test_skip ("no /dev/full");
    state_clear (&state);
    return;
  }
  fill (&state, 500000);
  dump = base_dump_save (stream, KIND);
  state_dump (&state, dump);
  g_assert_false (base_dump_end (dump, &error));
  g_assert_error (error, BASE_ERROR, BASE_ERROR_DUMP);
  g_assert_cmpstr (error->message, ==, "cannot write: No space left on device");
  fclose (stream);
  state_clear (&state);
}

int
main (int argc, char **argv)
{
  int file, status;

  g_test_init (&argc, &argv, NULL);
  file = g_file_open_tmp ("hopcast-dump-XXXXXX", &path, NULL);
  g_assert_cmpint (file, >=, 0);
  close (file);
  g_test_add_func ("/base/dump/same", test_same);
  g_test_add_func ("/base/dump/zeros", test_zeros_are_left_out);
  g_test_add_func ("/base/dump/refused", test_refused);
  g_test_add_func ("/base/dump/other-shape", test_other_shape);
  g_test_add_func ("/base/dump/full-disk", test_full_disk);
  status = g_test_run ();
  g_unlink (path);
  g_free (path);
  return status;
}
