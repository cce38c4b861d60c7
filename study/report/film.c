/* film.c - the loads of links over time, read from CSV and written as a page.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file has a row for each link and interval in which it sent something.  It names neither the machine
 * nor the length of the intervals: the shape of a torus is that of the coordinates, the devices of a fabric
 * are the ends of links, and the length is the largest of which all beginnings are multiples.  A link that
 * never sent anything is not in the file. */
#include "study/report/film.h"

#include "base/csv.h"
#include "base/error.h"
#include "study/report/page.h"
#include "study/study_error.h"
#include "topology/shape.h"

#include <math.h>
#include <string.h>

/* A page holds a byte for each link and frame.  Where the intervals are more, several are one frame. */
#define MAX_CELLS  (UINT64_C (1) << 23)
#define MAX_FRAMES 2000
#define LEVELS     255

/* What a browser lays out; a float has the numbers of all rows' links. */
#define MAX_NODES    (1u << 20)
#define MAX_PORT     4096
#define MAX_ROWS     (1u << 28)
#define MAX_BEGIN_US 9e9 /* in picoseconds still an exact double */
#define PS_PER_US    1e6

/* Shares have six digits. */
#define SHARE_ERROR 2e-5

typedef struct {
  uint32_t link;
  float share;
} Load;

typedef struct {
  uint64_t begin_ps;
  guint first; /* of its loads */
  double wire_bytes;
} Interval;

typedef struct {
  uint16_t at[TOPO_MAX_DIMENSIONS]; /* torus */
  uint32_t from, to;                /* fabric: devices */
  uint32_t from_port, to_port;      /* torus: from_port, from 0 */
  uint32_t interval;                /* the last one that has it */
  double full_bytes;                /* what it sends in a busy interval; 0: not known */
  uint64_t line;                    /* where that is from */
} Link;

typedef struct {
  char *name;
  uint32_t peer, n_ports; /* peer: of the first link */
  bool has_peer, has_peers;
} Device;

typedef struct {
  BaseCells cells;
  guint n_dimensions; /* 0: a fabric */
  guint n_columns;
  GArray *links;            /* (element-type Link) */
  GHashTable *link_of;      /* cells that name a link -> its number */
  GArray *devices;          /* (element-type Device) */
  GHashTable *device_of;    /* name -> its number */
  GArray *intervals;        /* (element-type Interval) */
  GArray *loads;            /* (element-type Load) */
  GString *key, *from, *to; /* of the row that is read */
} Film;

static void
device_clear (void *device)
{
  g_free (((Device *) device)->name);
}

static void
film_init (Film *film)
{
  film->links = g_array_new (FALSE, FALSE, sizeof (Link));
  film->link_of = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  film->devices = g_array_new (FALSE, FALSE, sizeof (Device));
  g_array_set_clear_func (film->devices, device_clear);
  film->device_of = g_hash_table_new (g_str_hash, g_str_equal);
  film->intervals = g_array_new (FALSE, FALSE, sizeof (Interval));
  film->loads = g_array_new (FALSE, FALSE, sizeof (Load));
  film->key = g_string_new (NULL);
  film->from = g_string_new (NULL);
  film->to = g_string_new (NULL);
}

static void
film_clear (Film *film)
{
  base_cells_clear (&film->cells);
  g_array_unref (film->links);
  g_hash_table_unref (film->link_of);
  g_hash_table_unref (film->device_of);
  g_array_unref (film->devices);
  g_array_unref (film->intervals);
  g_array_unref (film->loads);
  g_string_free (film->key, TRUE);
  g_string_free (film->from, TRUE);
  g_string_free (film->to, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Film, film_clear)

/* --- A row --- */

typedef struct {
  double begin_us, payload_bytes, wire_bytes, share;
  Link link;
} Row;

/* To the next cell, of which there are `left`. */
static BaseTaken
end_cell (Film *film, guint left, const char **at, GError **error)
{
  if ((**at == ',') == (left > 0)) {
    *at += left > 0;
    return BASE_TAKEN;
  }
  film->cells.column = NULL;
  return base_cells_refuse (&film->cells, error,
                            "%s than the %u cells of the header: is the file torn?",
                            left > 0 ? "fewer" : "more", film->n_columns);
}

static BaseTaken
take_number (Film *film, const char *column, double least, double most, const char **at,
             double *value, GError **error)
{
  const char *end = base_cell_number (*at, value);
  g_autofree char *quoted = NULL;
  BaseTaken taken;

  if (end != NULL && *value >= least && *value <= most) {
    *at = end;
    return BASE_TAKEN;
  }
  film->cells.column = column;
  if ((taken = base_cells_take (&film->cells, at, error)) != BASE_TAKEN)
    return taken;
  quoted = base_quote (film->cells.cell->str);
  return base_cells_refuse (&film->cells, error, "%s is not a number from %g to %g", quoted, least,
                            most);
}

static BaseTaken
take_index (Film *film, const char *column, uint32_t least, uint32_t most, const char **at,
            uint32_t *value, GError **error)
{
  double number;
  BaseTaken taken = take_number (film, column, least, most, at, &number, error);

  if (taken != BASE_TAKEN)
    return taken;
  *value = (uint32_t) number;
  film->cells.column = column;
  return *value == number ? BASE_TAKEN
                          : base_cells_refuse (&film->cells, error, "%g is not whole", number);
}

static BaseTaken
take_text (Film *film, const char *column, const char **at, GString *text, GError **error)
{
  BaseTaken taken;

  film->cells.column = column;
  taken = base_cells_take (&film->cells, at, error);
  if (taken != BASE_TAKEN)
    return taken;
  g_string_assign (text, film->cells.cell->str);
  return text->len > 0 ? BASE_TAKEN : base_cells_refuse (&film->cells, error, "is empty");
}

/* "A+" of a torus, after its coordinates. */
static BaseTaken
take_port (Film *film, const char **at, uint32_t *port, GError **error)
{
  const char *name = film->key->str;
  BaseTaken taken = take_text (film, "port", at, film->key, error);
  g_autofree char *quoted = NULL;

  if (taken != BASE_TAKEN)
    return taken;
  for (guint dimension = 0; dimension < film->n_dimensions; dimension++)
    if (name[0] == topo_dimension_letter (dimension) && (name[1] == '-' || name[1] == '+') &&
        name[2] == '\0') {
      *port = 2 * dimension + (name[1] == '+');
      return BASE_TAKEN;
    }
  quoted = base_quote (name);
  return base_cells_refuse (&film->cells, error, "%s is no port of a torus of %u dimension%s",
                            quoted, film->n_dimensions, film->n_dimensions == 1 ? "" : "s");
}

#define TRY(taking)              \
  do {                           \
    BaseTaken taken_ = (taking); \
    if (taken_ != BASE_TAKEN)    \
      return taken_;             \
  } while (0)

static BaseTaken
take_torus_link (Film *film, Link *link, guint *left, const char **at, GError **error)
{
  static const char letters[TOPO_MAX_DIMENSIONS][2] = { "A", "B", "C", "D", "E", "F" };
  const char *from = *at;

  for (guint dimension = 0; dimension < film->n_dimensions; dimension++) {
    uint32_t coordinate = 0;

    TRY (take_index (film, letters[dimension], 0, UINT16_MAX, at, &coordinate, error));
    TRY (end_cell (film, (*left)--, at, error));
    link->at[dimension] = (uint16_t) coordinate;
  }
  TRY (take_port (film, at, &link->from_port, error));
  g_string_truncate (film->key, 0);
  g_string_append_len (film->key, from, *at - from);
  return end_cell (film, (*left)--, at, error);
}

static BaseTaken
take_fabric_link (Film *film, Link *link, guint *left, const char **at, GError **error)
{
  TRY (take_text (film, "link", at, film->key, error));
  TRY (end_cell (film, (*left)--, at, error));
  TRY (take_text (film, "from", at, film->from, error));
  TRY (end_cell (film, (*left)--, at, error));
  TRY (take_index (film, "from_port", 1, MAX_PORT, at, &link->from_port, error));
  TRY (end_cell (film, (*left)--, at, error));
  TRY (take_text (film, "to", at, film->to, error));
  TRY (end_cell (film, (*left)--, at, error));
  TRY (take_index (film, "to_port", 1, MAX_PORT, at, &link->to_port, error));
  return end_cell (film, (*left)--, at, error);
}

/* --- What rows add to --- */

static uint32_t
find_device (Film *film, const char *name)
{
  Device device = { .name = NULL };
  gpointer found;

  if (g_hash_table_lookup_extended (film->device_of, name, NULL, &found))
    return GPOINTER_TO_UINT (found);
  device.name = g_strdup (name);
  g_array_append_val (film->devices, device);
  g_hash_table_insert (film->device_of, device.name, GUINT_TO_POINTER (film->devices->len - 1));
  return film->devices->len - 1;
}

static void
connect_device (Film *film, uint32_t number, uint32_t port, uint32_t peer)
{
  Device *device = &g_array_index (film->devices, Device, number);

  device->n_ports = MAX (device->n_ports, port);
  device->has_peers |= device->has_peer && device->peer != peer;
  device->peer = device->has_peer ? device->peer : peer;
  device->has_peer = true;
}

static uint32_t
find_link (Film *film, Link link)
{
  gpointer found;

  if (g_hash_table_lookup_extended (film->link_of, film->key->str, NULL, &found))
    return GPOINTER_TO_UINT (found);
  if (film->n_dimensions == 0) {
    link.from = find_device (film, film->from->str);
    link.to = find_device (film, film->to->str);
    connect_device (film, link.from, link.from_port, link.to);
    connect_device (film, link.to, link.to_port, link.from);
  }
  link.interval = UINT32_MAX;
  link.full_bytes = 0;
  g_array_append_val (film->links, link);
  g_hash_table_insert (film->link_of, g_strdup (film->key->str),
                       GUINT_TO_POINTER (film->links->len - 1));
  return film->links->len - 1;
}

static gboolean
add_interval (Film *film, double begin_us, GError **error)
{
  Interval interval = { .begin_ps = (uint64_t) rint (begin_us * PS_PER_US),
                        .first = film->loads->len };
  guint n = film->intervals->len;
  uint64_t last_ps = n > 0 ? g_array_index (film->intervals, Interval, n - 1).begin_ps : 0;

  if (n == 0 || interval.begin_ps > last_ps)
    g_array_append_val (film->intervals, interval);
  film->cells.column = "begin_us";
  return interval.begin_ps >= last_ps ||
         base_cells_refuse (&film->cells, error,
                            "the interval begins before that of the line before") == BASE_TAKEN;
}

static BaseTaken
add_row (Film *film, const Row *row, GError **error)
{
  Load load = { .share = (float) row->share };
  Interval *interval;
  Link *link;

  if (!add_interval (film, row->begin_us, error))
    return BASE_REFUSED;
  load.link = find_link (film, row->link);
  link = &g_array_index (film->links, Link, load.link);
  film->cells.column = NULL;
  if (link->interval == film->intervals->len - 1)
    return base_cells_refuse (&film->cells, error, "the interval has had a line of this link");
  link->interval = film->intervals->len - 1;
  if (row->wire_bytes < row->payload_bytes)
    return base_cells_refuse (&film->cells, error, "wire_bytes are less than payload_bytes");
  /* All shares of a link are of the same bandwidth and time. */
  film->cells.column = "busy_share";
  if (link->full_bytes == 0 && row->share > 0) {
    link->full_bytes = row->wire_bytes / row->share;
    link->line = film->cells.line;
  } else if (fabs (row->share * link->full_bytes - row->wire_bytes) > SHARE_ERROR * row->wire_bytes)
    return base_cells_refuse (&film->cells, error,
                              "%g does not go with the wire_bytes as on line %" G_GUINT64_FORMAT
                              ": is the file torn?",
                              row->share, link->line);
  if (film->loads->len == MAX_ROWS)
    return base_cells_refuse (&film->cells, error, "more than %u lines: use a longer --links-every",
                              MAX_ROWS);
  interval = &g_array_index (film->intervals, Interval, film->intervals->len - 1);
  interval->wire_bytes += row->wire_bytes;
  g_array_append_val (film->loads, load);
  return BASE_TAKEN;
}

static BaseTaken
take_row (void *data, const char **at, GError **error)
{
  Film *film = data;
  guint left = film->n_columns - 1;
  Row row = { 0 };

  TRY (take_number (film, "begin_us", 0, MAX_BEGIN_US, at, &row.begin_us, error));
  TRY (end_cell (film, left--, at, error));
  TRY (film->n_dimensions > 0 ? take_torus_link (film, &row.link, &left, at, error)
                              : take_fabric_link (film, &row.link, &left, at, error));
  TRY (take_number (film, "payload_bytes", 0, 1e18, at, &row.payload_bytes, error));
  TRY (end_cell (film, left--, at, error));
  TRY (take_number (film, "wire_bytes", 0, 1e18, at, &row.wire_bytes, error));
  TRY (end_cell (film, left--, at, error));
  TRY (take_number (film, "busy_share", 0, 1e6, at, &row.share, error));
  TRY (end_cell (film, left, at, error));
  return add_row (film, &row, error);
}

/* --- The file --- */

static gboolean
read_header (Film *film, GError **error)
{
  static const char ends[] = ",payload_bytes,wire_bytes,busy_share";
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) torus = g_string_new ("begin_us");
  g_autofree char *line = NULL;
  gboolean any;

  if (!base_cells_header (&film->cells, names, &any, error))
    return FALSE;
  if (!any)
    g_ptr_array_set_size (names, 0);
  film->n_columns = names->len;
  g_ptr_array_add (names, NULL);
  line = g_strjoinv (",", (char **) names->pdata);
  if (g_str_equal (line,
                   "begin_us,link,from,from_port,to,to_port,payload_bytes,wire_bytes,busy_share"))
    return TRUE;
  for (film->n_dimensions = 1; film->n_dimensions <= TOPO_MAX_DIMENSIONS; film->n_dimensions++) {
    g_autofree char *whole = NULL;

    g_string_append_printf (torus, ",%c", topo_dimension_letter (film->n_dimensions - 1));
    whole = g_strconcat (torus->str, ",port", ends, NULL);
    if (g_str_equal (line, whole))
      return TRUE;
  }
  film->cells.line = 1;
  film->cells.column = NULL;
  return base_cells_refuse (&film->cells, error,
                            "not the columns of a file that --links-over-time wrote") == BASE_TAKEN;
}

static gboolean
film_read (Film *film, const char *path, GError **error)
{
  gboolean any = TRUE;

  film_init (film);
  if (!base_cells_open (&film->cells, path, error) || !read_header (film, error))
    return FALSE;
  while (any)
    if (!base_cells_line (&film->cells, take_row, film, &any, error))
      return FALSE;
  return TRUE;
}

/* --- Places of links --- */

static int
compare_names (const void *left, const void *right, void *data)
{
  const GArray *devices = data;
  const char *a = g_array_index (devices, Device, *(const uint32_t *) left).name;
  const char *b = g_array_index (devices, Device, *(const uint32_t *) right).name;

  return strverscmp (a, b);
}

/* A switch has several neighbours; of two devices that have only each other the later one is taken for
 * it, so that every link has one. */
static bool
is_switch (const Film *film, uint32_t number)
{
  const Device *device = &g_array_index (film->devices, Device, number);

  return device->has_peers ||
         (!g_array_index (film->devices, Device, device->peer).has_peers && device->peer <= number);
}

/* Devices by their names, of which numbers count as such; links as they were found.  [i]: the device that
 * is number i there. */
static uint32_t *
sort_devices (const Film *film)
{
  uint32_t n = film->devices->len, *order = g_new (uint32_t, n + 1);

  for (uint32_t i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) n, sizeof *order, compare_names, film->devices);
  return order;
}

static void
add_fabric (GString *json, const Film *film)
{
  g_autofree uint32_t *order = sort_devices (film);
  g_autofree uint32_t *place = g_new (uint32_t, film->devices->len + 1);

  g_string_append (json, "\"kind\":\"fabric\",\"devices\":[");
  for (uint32_t i = 0; i < film->devices->len; i++) {
    const Device *device = &g_array_index (film->devices, Device, order[i]);

    place[order[i]] = i;
    study_page_add_comma (json);
    g_string_append_c (json, '[');
    study_page_add_string (json, device->name);
    g_string_append_printf (json, ",%d,%u]", is_switch (film, order[i]), device->n_ports);
  }
  g_string_append (json, "],\"links\":[");
  for (guint i = 0; i < film->links->len; i++) {
    const Link *link = &g_array_index (film->links, Link, i);

    study_page_add_comma (json);
    g_string_append_printf (json, "%u,%u,%u,%u", place[link->from], link->from_port,
                            place[link->to], link->to_port);
  }
  g_string_append_c (json, ']');
}

static gboolean
add_torus (GString *json, const Film *film, GError **error)
{
  uint32_t size[TOPO_MAX_DIMENSIONS] = { 0 };
  g_autofree guint32 *ports = g_new (guint32, film->links->len + 1);
  uint64_t n_nodes = 1;

  for (guint i = 0; i < film->links->len; i++) {
    const Link *link = &g_array_index (film->links, Link, i);

    for (guint dimension = 0; dimension < film->n_dimensions; dimension++)
      size[dimension] = MAX (size[dimension], link->at[dimension] + 1u);
    /* It leads somewhere. */
    size[link->from_port / 2] = MAX (size[link->from_port / 2], 2);
  }
  g_string_append (json, "\"kind\":\"torus\",\"shape\":[");
  for (guint dimension = 0; dimension < film->n_dimensions; dimension++) {
    n_nodes = MIN (n_nodes * size[dimension], UINT32_MAX);
    study_page_add_comma (json);
    g_string_append_printf (json, "%u", size[dimension]);
  }
  if (n_nodes > MAX_NODES) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: a torus of more than %u nodes is too large for a page", film->cells.text.name,
                 MAX_NODES);
    return FALSE;
  }
  g_string_append (json, "],\"wrap\":[");
  for (guint dimension = 0; dimension < film->n_dimensions; dimension++) {
    study_page_add_comma (json);
    g_string_append (json, "true");
  }
  g_string_append (json, "],\"ports\":");
  for (guint i = 0; i < film->links->len; i++) {
    const Link *link = &g_array_index (film->links, Link, i);
    uint32_t node = 0;

    for (guint dimension = 0; dimension < film->n_dimensions; dimension++)
      node = node * size[dimension] + link->at[dimension];
    ports[i] = GUINT32_TO_LE (node * 2 * film->n_dimensions + link->from_port);
  }
  study_page_pack (json, ports, film->links->len * sizeof *ports);
  return TRUE;
}

/* --- Frames --- */

typedef struct {
  uint64_t every_ps;    /* 0: there is one interval, whose length is not known */
  uint64_t n_intervals; /* idle ones too */
  uint64_t merged;      /* of them in a frame */
  gsize n;
} Frames;

static uint64_t
greatest_common_divisor (uint64_t a, uint64_t b)
{
  while (b != 0) {
    uint64_t rest = a % b;

    a = b;
    b = rest;
  }
  return a;
}

static Frames
frames_of (const Film *film)
{
  Frames frames = { .n_intervals = film->intervals->len > 0 };
  uint64_t n_links = MAX (film->links->len, 1), last_ps = 0;

  for (guint i = 0; i < film->intervals->len; i++) {
    last_ps = g_array_index (film->intervals, Interval, i).begin_ps;
    frames.every_ps = greatest_common_divisor (frames.every_ps, last_ps);
  }
  if (frames.every_ps > 0)
    frames.n_intervals = last_ps / frames.every_ps + 1;
  frames.n = (gsize) MIN (frames.n_intervals, CLAMP (MAX_CELLS / n_links, 1, MAX_FRAMES));
  frames.merged = frames.n > 0 ? (frames.n_intervals + frames.n - 1) / frames.n : 1;
  frames.n = (gsize) ((frames.n_intervals + frames.merged - 1) / frames.merged);
  return frames;
}

/* The mean share of each link in each frame in steps of a 255th of the largest, which is returned; some load
 * is never rounded to none. */
static double
add_codes (GString *json, const Film *film, const Frames *frames)
{
  gsize n_links = film->links->len, n_cells = frames->n * n_links;
  g_autofree float *shares = g_new0 (float, n_cells + 1);
  g_autofree guint8 *codes = g_new0 (guint8, n_cells + 1);
  float most = 0;

  for (guint i = 0; i < film->intervals->len; i++) {
    const Interval *interval = &g_array_index (film->intervals, Interval, i);
    guint end = i + 1 < film->intervals->len ? interval[1].first : film->loads->len;
    uint64_t number = frames->every_ps > 0 ? interval->begin_ps / frames->every_ps : 0;
    gsize frame = (gsize) (number / frames->merged);
    uint64_t span = MIN (frames->merged, frames->n_intervals - frame * frames->merged);

    for (guint at = interval->first; at < end; at++) {
      const Load *load = &g_array_index (film->loads, Load, at);

      shares[frame * n_links + load->link] += load->share / (float) span;
    }
  }
  for (gsize cell = 0; cell < n_cells; cell++)
    most = MAX (most, shares[cell]);
  for (gsize cell = 0; cell < n_cells; cell++)
    if (shares[cell] > 0)
      codes[cell] = (guint8) MAX (1, lrintf (LEVELS * shares[cell] / most));
  study_page_pack (json, codes, n_cells);
  return (double) most;
}

static void
add_bytes (GString *json, const Film *film, const Frames *frames)
{
  g_autofree double *bytes = g_new0 (double, frames->n + 1);

  for (guint i = 0; i < film->intervals->len; i++) {
    const Interval *interval = &g_array_index (film->intervals, Interval, i);
    uint64_t number = frames->every_ps > 0 ? interval->begin_ps / frames->every_ps : 0;

    bytes[number / frames->merged] += interval->wire_bytes;
  }
  g_string_append_c (json, '[');
  for (gsize frame = 0; frame < frames->n; frame++) {
    study_page_add_comma (json);
    study_page_add_number (json, bytes[frame]);
  }
  g_string_append_c (json, ']');
}

/* The object, schema hopcast.film/1, on one line; NULL and *error on failure. */
static GString *
film_data (const Film *film, const char *title, const char *origin, GError **error)
{
  g_autoptr (GString) json = g_string_new ("{");
  Frames frames = frames_of (film);
  double most;

  study_page_add_string_member (json, "schema", "hopcast.film/1");
  study_page_add_string_member (json, "title", title);
  study_page_add_string_member (json, "origin", origin);
  study_page_add_string_member (json, "version", PACKAGE_VERSION);
  study_page_add_number_member (json, "links", film->links->len);
  study_page_add_number_member (json, "frames", (double) frames.n);
  study_page_add_number_member (json, "intervals", (double) frames.n_intervals);
  study_page_add_number_member (json, "merged", (double) frames.merged);
  study_page_add_number_member (json, "every_us", (double) frames.every_ps / PS_PER_US);
  study_page_add_member (json, "wire_bytes");
  add_bytes (json, film, &frames);
  study_page_add_member (json, "codes");
  most = add_codes (json, film, &frames);
  study_page_add_number_member (json, "most", most);
  study_page_add_member (json, "machine");
  g_string_append_c (json, '{');
  if (film->n_dimensions == 0)
    add_fabric (json, film);
  else if (!add_torus (json, film, error))
    return NULL;
  g_string_append (json, "}}");
  return g_steal_pointer (&json);
}

/* --- The page --- */

static const char frame_text[] =
#include "study/report/film_frame.inc"
    ;
static const char script_text[] =
#include "study/report/film_script.inc"
    ;

gboolean
study_film_write (FILE *out, const char *path, const char *title, GError **error)
{
  g_auto (Film) film = { 0 };
  g_autoptr (GString) data = NULL;
  g_autofree char *origin = NULL, *escaped = NULL;

  if (!film_read (&film, path, error))
    return FALSE;
  origin = g_path_get_basename (film.cells.text.name);
  data = film_data (&film, title != NULL ? title : origin, origin, error);
  if (data == NULL)
    return FALSE;
  escaped = study_page_escape (title != NULL ? title : origin);
  study_page_write (out, frame_text,
                    (StudyPagePart[]){ { "TITLE", escaped },
                                       { "STYLE", study_page_style, STUDY_PAGE_STYLE },
                                       { "DATA", data->str },
                                       { "VENDOR", study_page_vendor, STUDY_PAGE_SCRIPT },
                                       { "SCRIPT", script_text, STUDY_PAGE_SCRIPT },
                                       { NULL } });
  return TRUE;
}
