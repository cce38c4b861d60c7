/* otf2_archive_definitions.c - the global definitions of an archive, through libotf2.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_archive.h"
#include "traces/otf2/otf2_library.h"

#include <otf2/otf2.h>

static OTF2_CallbackCode
on_clock (void *data, uint64_t ticks_per_s, uint64_t offset, uint64_t length, uint64_t realtime)
{
  (void) offset, (void) length, (void) realtime;
  otf2_definitions_clock (data, ticks_per_s);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_string (void *data, OTF2_StringRef id, const char *text)
{
  otf2_definitions_string (data, id, text);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_location (void *data, OTF2_LocationRef id, OTF2_StringRef name, OTF2_LocationType type,
             uint64_t n_events, OTF2_LocationGroupRef group)
{
  (void) name, (void) type, (void) n_events, (void) group;
  otf2_definitions_location (data, id);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_region (void *data, OTF2_RegionRef id, OTF2_StringRef name, OTF2_StringRef canonical,
           OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
           OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin, uint32_t end)
{
  (void) canonical, (void) description, (void) role, (void) flags, (void) file;
  (void) begin, (void) end;
  otf2_definitions_region (data, id, name, paradigm == OTF2_PARADIGM_MPI);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_group (void *data, OTF2_GroupRef id, OTF2_StringRef name, OTF2_GroupType type,
          OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n_members, const uint64_t *members)
{
  (void) name, (void) flags;
  if (paradigm != OTF2_PARADIGM_MPI)
    return OTF2_CALLBACK_SUCCESS;
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
    otf2_definitions_mpi_locations (data, members, n_members);
  else if (type == OTF2_GROUP_TYPE_COMM_GROUP || type == OTF2_GROUP_TYPE_COMM_SELF)
    otf2_definitions_mpi_group (data, id, type == OTF2_GROUP_TYPE_COMM_SELF, members, n_members);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_comm (void *data, OTF2_CommRef id, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef parent,
         OTF2_CommFlag flags)
{
  (void) parent, (void) flags;
  otf2_definitions_comm (data, id, name, group);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_intercomm (void *data, OTF2_CommRef id, OTF2_StringRef name, OTF2_GroupRef a, OTF2_GroupRef b,
              OTF2_CommRef common, OTF2_CommFlag flags)
{
  (void) name, (void) a, (void) b, (void) common, (void) flags;
  otf2_definitions_intercomm (data, id);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_window (void *data, OTF2_RmaWinRef id, OTF2_StringRef name, OTF2_CommRef comm,
           OTF2_RmaWinFlag flags)
{
  (void) name, (void) flags;
  otf2_definitions_window (data, id, comm);
  return OTF2_CALLBACK_SUCCESS;
}

static bool
read_all (OTF2_Reader *reader, Otf2Definitions *definitions)
{
  OTF2_GlobalDefReader *global = OTF2_Reader_GetGlobalDefReader (reader);
  OTF2_GlobalDefReaderCallbacks *calls;
  uint64_t n;

  if (global == NULL)
    return false;
  calls = OTF2_GlobalDefReaderCallbacks_New ();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback (calls, on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback (calls, on_string);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback (calls, on_location);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback (calls, on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback (calls, on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback (calls, on_comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback (calls, on_intercomm);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback (calls, on_window);
  OTF2_Reader_RegisterGlobalDefCallbacks (reader, global, calls, definitions);
  OTF2_GlobalDefReaderCallbacks_Delete (calls);
  return OTF2_Reader_ReadAllGlobalDefinitions (reader, global, &n) == OTF2_SUCCESS;
}

/* Memory of that size is asked for each file. */
static bool
has_fair_chunks (OTF2_Reader *reader)
{
  uint64_t events, definitions;

  return OTF2_Reader_GetChunkSize (reader, &events, &definitions) == OTF2_SUCCESS &&
         events <= OTF2_CHUNK_SIZE_MAX && definitions <= OTF2_CHUNK_SIZE_MAX;
}

static bool
read_archive (const char *anchor, Otf2Definitions *definitions, char **creator)
{
  OTF2_Reader *reader = OTF2_Reader_Open (anchor);
  char *text = NULL;
  bool good;

  if (reader == NULL)
    return false;
  good = has_fair_chunks (reader) &&
         OTF2_Reader_SetSerialCollectiveCallbacks (reader) == OTF2_SUCCESS &&
         OTF2_Reader_GetCreator (reader, &text) == OTF2_SUCCESS && read_all (reader, definitions);
  *creator = g_strdup (text != NULL ? text : "");
  /* libotf2 hands out memory of malloc(). */
  free (text);
  OTF2_Reader_Close (reader);
  return good;
}

Otf2Definitions *
otf2_archive_definitions (const char *anchor, char **creator, GError **error)
{
  Otf2Definitions *definitions = otf2_definitions_new ();
  bool good;

  *creator = NULL;
  otf2_library_enter ();
  good = read_archive (anchor, definitions, creator) && !otf2_library_failed ();
  otf2_library_leave (good ? NULL : anchor, error);
  if (good)
    return definitions;
  otf2_definitions_free (definitions);
  g_clear_pointer (creator, g_free);
  return NULL;
}
