/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/write_snapshot.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/text.h"
#include "session/snapshot/snapshot_source.h"

enum hi_status hi_write_snapshot(struct hi_inspection *in,
				 const struct hi_report_header *header,
				 struct hi_output *output, struct hi_error *err)
{
	struct hi_snapshot_options options = {
		.compress = in->options->snap.compress,
		.threads = hi_inspection_threads(in) ? hi_inspection_threads(in) : 2};
	int fd = fileno(output->file);
	char size[24], n[32];
	struct stat st;
	enum hi_status status;

	hi_inspect_phase(in, "writing the snapshot");
	status = hi_snapshot_save(in, header, fd, &options, err);
	if (status != HI_OK)
		return status;
	if (fstat(fd, &st) == 0 && !in->options->output.quiet)
		fprintf(stderr, "heapinspect: %s: %s, %s objects\n",
			in->options->output.file,
			hi_text_bytes(size, (uint64_t)st.st_size),
			hi_text_count(n, in->graph->n_objects));
	return HI_OK;
}
