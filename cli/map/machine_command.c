/* machine_command.c - `hopcast machine show` and `machine links`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"
#include "cli/command.h"
#include "cli/print/links.h"
#include "cli/options.h"
#include "cli/print/warnings.h"

/* The machine is the argument here, not an option. */
static TopoMachine *
machine_from_argument (GOptionContext *context, CliMachineOptions *options, int argc, char **argv,
                       GError **error)
{
  static const char *const names[] = { "SPEC", NULL };
  const char *spec;

  cli_add_machine_detail_options (context, options);
  if (!cli_parse (context, argc, argv, names, &spec, error))
    return NULL;
  options->spec = g_strdup (spec);
  return cli_machine_new (options, error);
}

int
cli_machine_show (int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = cli_context_new (
      "SPEC", "Prints the complete machine file of a spec: a start for one of your own.");
  g_auto (CliMachineOptions) options = CLI_MACHINE_OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = machine_from_argument (context, &options, argc, argv, error);
  g_autoptr (GPtrArray) assumptions = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *text = NULL;

  if (!machine)
    return CLI_FAILED;
  topo_machine_assumptions (machine, assumptions);
  cli_warnings_tell (assumptions);
  text = topo_machine_print (machine);
  fputs (text, stdout);
  return CLI_DONE;
}

static void
print_fabric_end (const TopoFabric *fabric, uint32_t port)
{
  const TopoDevice *device = &fabric->devices[fabric->ports[port].device];

  base_csv_field (stdout, device->id);
  fputc (',', stdout);
  base_csv_field (stdout, device->name);
  printf (",%u", topo_fabric_port_number (fabric, port));
}

int
cli_machine_links (int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = cli_context_new (
      "SPEC", "Prints every link: where it starts, its port, where it ends; of a torus its latency "
              "beyond that of a hop in nanoseconds, of a fabric its width and speed.");
  g_auto (CliMachineOptions) options = CLI_MACHINE_OPTIONS_INIT;
  g_autoptr (TopoMachine) machine = NULL;
  const TopoFabric *fabric;
  const TopoShape *shape;

  cli_add_csv_option (context);
  machine = machine_from_argument (context, &options, argc, argv, error);
  if (!machine)
    return CLI_FAILED;
  fabric = machine->fabric;
  shape = &machine->shape;
  if (fabric) {
    puts ("device,name,port,to_device,to_name,to_port,lanes,speed,bandwidth_Bps");
    for (uint32_t i = 0; i < fabric->n_ports; i++) {
      const TopoPort *port = &fabric->ports[i];

      if (port->peer == TOPO_NONE)
        continue;
      print_fabric_end (fabric, i);
      fputc (',', stdout);
      print_fabric_end (fabric, port->peer);
      printf (",%u,%s,%" G_GUINT64_FORMAT "\n", port->lanes, topo_speed_name (port->speed),
              topo_link_bandwidth_Bps (port->lanes, port->speed));
    }
    return CLI_DONE;
  }
  cli_print_dimension_names (stdout, machine, "");
  fputs (",port,", stdout);
  cli_print_dimension_names (stdout, machine, "to_");
  fputs (",extra_latency_ns\n", stdout);
  for (uint32_t node = 0; node < topo_shape_nodes (shape); node++)
    for (uint32_t port = 0; port < topo_shape_ports (shape); port++) {
      uint32_t neighbour = topo_shape_neighbour (shape, node, port);
      char name[CLI_PORT_SIZE], extra[BASE_DECIMAL_SIZE];

      if (neighbour == TOPO_NONE)
        continue;
      cli_port_name (name, port);
      base_decimal_print (extra,
                          (double) topo_machine_extra_latency_ps (machine, node, port) * 1e-3);
      cli_print_coordinates (stdout, machine, node);
      printf (",%s,", name);
      cli_print_coordinates (stdout, machine, neighbour);
      printf (",%s\n", extra);
    }
  return CLI_DONE;
}
