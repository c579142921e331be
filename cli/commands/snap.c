/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `snap`: writes a snapshot file, which every command reads in place of a
 * process.
 */
#include "cli/command/command.h"
#include "cli/command/write_snapshot.h"
#include "cli/options/option_check.h"
#include "session/series/rows.h"
#include "session/snapshot/snapshot_source.h"

static int check_snap(const struct hi_given *given)
{
	const struct hi_options *o = given->options;

	if (o->target.file)
		return hi_option_wrong(
			"snap: writes a file from --pid or --core; %s is a "
			"snapshot file already",
			o->target.file);
	if (!hi_option_has_output_file(o))
		return hi_option_wrong("snap: -o FILE is missing; see heapinspect snap "
				       "--help");
	return 0;
}

const struct hi_command hi_command_snap = {
	.id = HI_COMMAND_SNAP,
	.name = "snap",
	.arguments = "",
	.purpose = "Write a snapshot of the heap to a file. Other commands take the file "
		   "as their target, later and on other machines.",
	.help = "The file contains types, objects, roots, and edges with the names of "
		"their\n"
		"fields. It does not contain the contents of objects, unless "
		"--with-contents is\n"
		"given; explain then shows values. The names of types, variables and "
		"files are\n"
		"in the file, so its mode is 0600. Keys of dicts and attributes of "
		"Python\n"
		"objects are names of edges, and are in the file too. With --redact, the "
		"file\n"
		"has no strings from the heap except names of types, modules and "
		"variables,\n"
		"and of the command line the program's name only.\n"
		"\n"
		"With --every, all censuses are written to one file: the totals by type "
		"of each\n"
		"census, and the graphs that --full selects. The file keeps every "
		"complete\n"
		"census, however the command ends.\n"
		"\n"
		"Examples:\n"
		"  heapinspect snap --pid 4242 -o app.hisnap\n"
		"  heapinspect snap --pid 4242 --compress -o app.hisnap\n"
		"  heapinspect snap --pid 4242 --redact -o app.hisnap\n"
		"  heapinspect snap --pid 4242 --every 10s --for 1h -o app.hisnap\n"
		"  heapinspect snap --pid 4242 --every 1s --full peaks:3,last -o "
		"app.hisnap\n"
		"  heapinspect snapshots app.hisnap\n"
		"  heapinspect app.hisnap\n"
		"  heapinspect census app.hisnap --by module",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_LEDGER | HI_WANT_CENSUS |
		  HI_WANT_SUSPECTS | HI_WANT_PREPARED,
	.write = hi_write_snapshot,
	.sample = hi_series_census,
	.wanted_in_series =
		HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_LEDGER | HI_WANT_CENSUS,
	.targets = "--pid PID|--core FILE|-- PROGRAM",
	.check = check_snap,
};
