/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/command/command.h"

const struct hi_command *const hi_commands[] = {
	&hi_command_summary,	&hi_command_census,    &hi_command_retained,
	&hi_command_leaks,	&hi_command_paths,     &hi_command_explain,
	&hi_command_waste,	&hi_command_roots,     &hi_command_retainers,
	&hi_command_up,		&hi_command_graph,     &hi_command_browse,
	&hi_command_tree,	&hi_command_serve,     &hi_command_mark,
	&hi_command_snap,	&hi_command_snapshots, &hi_command_diff,
	&hi_command_check,	&hi_command_export,    &hi_command_query,
	&hi_command_safepoints, &hi_command_audit,     &hi_command_record,
	&hi_command_bio,	&hi_command_era,       &hi_command_alloc,
	&hi_command_peaks,	&hi_command_spacetime, &hi_command_deep,
	&hi_command_report,	&hi_command_ticket,    NULL,
};

const struct hi_command *hi_command_find(const char *name)
{
	for (size_t i = 0; hi_commands[i]; i++)
		if (strcmp(hi_commands[i]->name, name) == 0)
			return hi_commands[i];
	return NULL;
}
