/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that decodes: a fork of this one without rights (base/rights.h).
 *
 * Note [The decoding process]
 *
 * An inspection as root reads ELF files, DWARF and heaps that an attacker may have
 * made. So a command runs in two processes:
 *
 *	first	opens the target, stops it and makes the image, opens the output; forks;
 *		then only opens files for the second (cli/decoder_serve.c), gives the
 *		output its name, and reports how the second has ended
 *	second	drops its rights; reads cores, snapshot files, ELF, DWARF and the
 *		image; computes; writes the report
 *
 * Nothing is copied or sent: the image, as all that is known by then, is shared by the
 * fork, and the first process unmaps its own. A fork that decodes and sends
 * the graph back would pass gigabytes through a socket, and the first process would have
 * to believe them; so the report is made there, too. The cost is the copy of the page
 * tables of the image, some milliseconds a GB.
 *
 * The second process inherits descriptors. None of them gives it rights: the target's
 * memory is open for reading only, and only of a copy-on-write child that it is to read;
 * pidfds can be polled and nothing else (the filter refuses the calls that use them);
 * probes are closed before; the tracer takes nothing but "end the child" from it. Files
 * of others it gets by asking, and only those that the inspection is about: Note
 * [Files for a decoder] in session/live/decoder_files.h.
 *
 * Symbols that are needed before the stop, of the allocator's functions and for --at, are
 * read in such a process, too (session/live/symbols.h).
 *
 * Not covered: series (--every, snap --every). A decoder cannot stop the target for the
 * next census, and a new one for each census would have neither the types nor the numbers
 * of names and sets of the one before (session/census_cache.h): of a small service a
 * first census takes 2.4 times as long as the next ones. A decoder that lives as long as
 * the series would need images that can be sent.
 */
#ifndef HI_CLI_DECODER_H
#define HI_CLI_DECODER_H

#include "base/rights.h"
#include "cli/output.h"
#include "session/inspect.h"

struct hi_decoder {
	const struct hi_options *options;
	struct hi_inspection *in; /* NULL: no target */
	struct hi_output *output;
	pid_t pid; /* 0: this is the process that decodes */
	int socket;
	int ended_by; /* the signal that ended the second process; 0: none did */
	char *phase;  /* shared, HI_PHASE bytes */
	struct hi_rights_dropped dropped;
};

/* Forks, so it returns twice. The second process has dropped its rights and owns the
 * image. in may be NULL. On failure there is no second process. */
enum hi_status hi_decoder_start(struct hi_decoder *ret, const struct hi_options *options,
				struct hi_inspection *in, struct hi_output *output,
				struct hi_error *err);
/* In the first process: waits until the second has ended. Returns its exit status. */
int hi_decoder_wait(struct hi_decoder *decoder);

/* decoder_serve.c: opens files for the second process until that closes its end. */
void hi_decoder_serve(const struct hi_decoder *decoder);
#endif
