/* trace_info.c - `hopcast trace info`: the contents of a trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/progress.h"
#include "cli/trace/trace_picture.h"
#include "cli/print/warnings.h"
#include "sim/net/load.h"

#include <math.h>

typedef struct {
  Trace *trace;
  SimCensus census;
  CliSizes sizes;
  StudyMatrix *matrix;
  TraceProfile *profile;
  const char *hash;
} Info;

static void
info_clear (Info *info)
{
  g_clear_pointer (&info->matrix, study_matrix_free);
  g_clear_pointer (&info->profile, trace_profile_free);
  g_clear_pointer (&info->trace, trace_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Info, info_clear)

static void
count_message (void *data, uint32_t source, uint32_t destination, uint64_t bytes,
               bool direct_collective G_GNUC_UNUSED)
{
  Info *info = data;

  cli_sizes_add (&info->sizes, bytes);
  study_matrix_add (info->matrix, source, destination, 1, bytes);
}

/* The trace is read twice: first by the census, then by the profile. */
static void
census_progress (void *progress, double share)
{
  cli_progress_share (progress, share / 2);
}

static void
profile_progress (void *progress, double share)
{
  cli_progress_share (progress, 0.5 + share / 2);
}

static gboolean
info_read (Info *info, const char *path, const CliTraceOptions *options, gboolean quiet,
           GError **error)
{
  g_autoptr (CliProgress) progress = cli_progress_new (quiet);

  info->trace = cli_trace_open (path, options, error);
  if (info->trace == NULL)
    return FALSE;
  info->matrix = study_matrix_new (trace_ranks (info->trace));
  return sim_census (info->trace, NULL, SIM_CENSUS_POINT_TO_POINT, true, count_message, info,
                     census_progress, progress, &info->census, error) &&
         (info->profile = trace_profile_new (info->trace, profile_progress, progress, error)) !=
             NULL &&
         (info->hash = trace_hash (info->trace, error)) != NULL;
}

/* 0 means that the source has no counts. */
static double
counted (uint64_t n)
{
  return n > 0 ? (double) n : (double) NAN;
}

static JsonNode *
info_record (const Info *info, CliFormat format)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  const SimCensus *census = &info->census;
  const TraceProfile *profile = info->profile;
  const char *source_hash, *source = trace_source (info->trace, &source_hash);
  CliPartners partners = cli_partners (info->matrix);
  g_autoptr (GPtrArray) missing =
      g_ptr_array_copy ((GPtrArray *) trace_warnings (info->trace), NULL, NULL);
  g_autoptr (GPtrArray) summary = NULL;
  gboolean has_times = profile->call_ps > 0;

  json_builder_begin_object (builder);
  cli_add_schema (builder, "hopcast.trace-info/1", format);
  cli_add_string (builder, "format", trace_format_name (info->trace));
  if (source != NULL) { /* of a native trace that was converted */
    cli_begin_object (builder, "source");
    cli_add_string (builder, "format", source);
    cli_add_string (builder, "hash", source_hash);
    json_builder_end_object (builder);
  }
  cli_add_integer (builder, "ranks", trace_ranks (info->trace));
  cli_add_integer (builder, "operations", census->operations);
  cli_add_integer (builder, "sends", census->sends);
  cli_add_integer (builder, "send_bytes", census->send_bytes);
  cli_add_integer (builder, "receives", census->receives);
  cli_begin_object (builder, "collectives");
  for (guint kind = 0; kind < TRACE_N_OPS; kind++)
    if (census->collectives[kind] > 0)
      cli_add_integer (builder, trace_op_name ((TraceOpKind) kind), census->collectives[kind]);
  json_builder_end_object (builder);
  cli_add_integer (builder, "communicators", census->communicators);
  cli_add_integer (builder, "unmatched_sends", census->unmatched_sends);
  cli_add_integer (builder, "unmatched_receives", census->unmatched_receives);

  cli_add_number (builder, "compute_s", (double) profile->compute_ps * 1e-12);
  cli_add_number (builder, "flops", profile->flops);
  cli_add_number (builder, "call_s", has_times ? (double) profile->call_ps * 1e-12 : (double) NAN);
  cli_add_number (builder, "instructions", counted (profile->instructions));
  cli_add_number (builder, "cycles", counted (profile->cycles));

  cli_begin_object (builder, "partners");
  cli_add_integer (builder, "pairs", partners.pairs);
  cli_add_integer (builder, "min", partners.min);
  cli_add_number (builder, "avg", partners.average);
  cli_add_integer (builder, "max", partners.max);
  json_builder_end_object (builder);

  /* A table has one line for the same message of many ranks. */
  g_ptr_array_set_free_func (missing, NULL);
  g_ptr_array_extend (missing, (GPtrArray *) trace_notes (info->trace), NULL, NULL);
  if (format == CLI_FORMAT_TABLE)
    summary = cli_warnings_summarize (missing);
  cli_add_strings (builder, "missing", summary ? summary : missing);
  cli_add_string (builder, "hash", info->hash);
  if (format == CLI_FORMAT_JSON) {
    cli_begin_array (builder, "call_sites");
    for (guint i = 0; i < profile->sites->len; i++) {
      const TraceCallSite *site = &g_array_index (profile->sites, TraceCallSite, i);

      json_builder_begin_object (builder);
      cli_add_string (builder, "name", site->name);
      cli_add_string (builder, "site", site->site);
      cli_add_integer (builder, "calls", site->calls);
      cli_add_integer (builder, "bytes", site->bytes);
      cli_add_number (builder, "time_s", has_times ? (double) site->time_ps * 1e-12 : (double) NAN);
      json_builder_end_object (builder);
    }
    json_builder_end_array (builder);
    cli_begin_array (builder, "message_sizes");
    for (guint class = 0; class < CLI_SIZE_CLASSES; class ++) {
      if (info->sizes.messages[class] == 0)
        continue;
      json_builder_begin_object (builder);
      cli_add_number (builder, "from_bytes", class == 0 ? 0 : ldexp (1, (int) class - 1));
      cli_add_integer (builder, "messages", info->sizes.messages[class]);
      cli_add_integer (builder, "bytes", info->sizes.bytes[class]);
      json_builder_end_object (builder);
    }
    json_builder_end_array (builder);
  }
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

int
cli_trace_info (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "TRACE", NULL };
  g_autoptr (GOptionContext) context =
      cli_context_new ("TRACE", "Tells what a trace contains, what the program in it does, and "
                                "what its source left out.");
  g_auto (CliFormatOptions) format = { 0 };
  g_auto (CliTraceOptions) trace_options = { 0 };
  CliTalkOptions talk = { 0 };
  g_auto (Info) info = { 0 };
  g_autoptr (JsonNode) record = NULL;
  const char *path;

  cli_add_trace_options (context, &trace_options);
  cli_add_format_options (context, &format);
  cli_add_quiet_option (context, &talk);
  if (!cli_parse (context, argc, argv, names, &path, error) || !cli_parse_format (&format, error) ||
      !info_read (&info, path, &trace_options, talk.quiet, error))
    return CLI_FAILED;
  record = info_record (&info, format.format);
  cli_print_record (stdout, record, format.format);
  if (format.format == CLI_FORMAT_TABLE) {
    cli_draw_call_sites (stdout, info.profile);
    cli_draw_sizes (stdout, &info.sizes);
    cli_draw_matrix (stdout, info.matrix);
  }
  return CLI_DONE;
}
