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
 *		then only opens files for the second (cli/decoder/decoder_serve.c), gives
 *		the output its name, and reports how the second has ended
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
 * Note [A decoder for a series]
 *
 * A new decoder for each census would have neither the types nor the numbers of names and
 * sets of the one before (session/census_cache.h): of a small service a first census
 * takes 2.4 times as long as the next ones. So of a series (--every, bio, alloc) the fork
 * is made before the first census, and the second process is the series: it decides when
 * there is a census, reads events, and writes. The first process becomes its keeper
 * (session/series/keeper.h): asked for an image it stops the target, and sends the image
 * (attach/image_send.h). All else that the second process needs was made before the
 * fork: memory that BPF programs share, descriptors that can be polled or read
 * (hi_rights_close_others), files that are written. For a Python whose allocations are
 * recorded that is the memory of the target itself, for reading: its code objects may be
 * freed at any time. It asks for all that changes probes.
 *
 * Whoever takes the second process over can have the target stopped as often as he likes
 * until the series ends, each time within --max-pause; move watchpoints and probes of
 * uses within their budgets; and turn the recording off.
 */
#ifndef HI_CLI_DECODER_DECODER_H
#define HI_CLI_DECODER_DECODER_H

#include "base/rights.h"
#include "cli/command/output.h"
#include "session/inspect/inspect.h"
#include "session/live/keeper_client.h"
#include "session/series/keeper.h"
#include "session/series/series.h"

/* How a command ended whose work may have been done by another process. */
struct hi_outcome {
	bool partial;	    /* some snapshot had gaps */
	bool is_of_another; /* process: its exit status is code, and it has reported */
	int code;
};

struct hi_decoder {
	const struct hi_options *options;
	const struct hi_run *run; /* for a series, else NULL */
	struct hi_inspection *in; /* NULL: no target */
	struct hi_output *output;
	pid_t pid; /* 0: this is the process that decodes */
	int socket;
	int ended_by; /* the signal that ended the second process; 0: none did */
	char *phase;  /* shared, HI_PHASE bytes */
	/* For a series. */
	bool has_keeper;
	struct hi_keeper keeper;	 /* in the first process */
	struct hi_keeper_client *client; /* in the second one; never freed */
	struct hi_rights_dropped dropped;
};

/* Forks, so it returns twice. The second process has dropped its rights and owns the
 * image. in may be NULL. On failure there is no second process. */
enum hi_status hi_decoder_start(struct hi_decoder *ret, const struct hi_options *options,
				struct hi_inspection *in, struct hi_output *output,
				struct hi_error *err);
/* Is a series to be run by a process without rights? Not with --no-sandbox; nor where
 * images cannot be sent, which -v says. */
bool hi_decoder_serves_series(const struct hi_options *options);
/*
 * The same for a series that is prepared, and not run yet: returns in the first process
 * as its keeper, which hi_decoder_wait() serves, and in the second one to run it. series
 * outlives the decoder. options: those of the series.
 */
enum hi_status hi_decoder_start_series(struct hi_decoder *ret,
				       const struct hi_options *options,
				       const struct hi_run *run, struct hi_series *series,
				       struct hi_output *output, struct hi_error *err);
/* In the second process of a series: ends it. Else nothing. Whatever only the first one
 * may close is left as it is, with the memory that it lies in. */
void hi_decoder_end_series(int code);
/* In the first process: waits until the second has ended. Returns its exit status. */
int hi_decoder_wait(struct hi_decoder *decoder);

/* decoder_serve.c: opens files for the second process until that closes its end. */
void hi_decoder_serve(struct hi_decoder *decoder);
#endif
