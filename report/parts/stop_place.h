/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a probe stopped a target, as plain data; strings borrowed and hostile. */
#ifndef HI_REPORT_PARTS_STOP_PLACE_H
#define HI_REPORT_PARTS_STOP_PLACE_H

#include "report/document.h"

/* An instruction that a probe is on. */
struct hi_probed {
	const char *module;	/* file name */
	const char *function;	/* "" unknown */
	uint64_t into_function; /* bytes behind its entry */
	uint64_t offset;	/* in the file */
	uint64_t address;	/* in the target */
	const char *instruction;
	bool single_stepped; /* the kernel single-steps it, which costs far more */
};

struct hi_stopped {
	const char *safepoint; /* as the user typed it */
	bool near;	       /* the thread ran on a little before it stopped */
	bool place_known;
	struct hi_probed place;
	int tid;	    /* of the thread that hit the probe; 0: unknown */
	const char *thread; /* its name; "" unknown */
	uint64_t waited_ns;
	uint64_t every; /* every N-th hit stops; 0: unknown */
	uint64_t hits;	/* of the place since it is watched, with this one; 0: unknown */
};

enum { HI_PROBED_TEXT = 512 };
/* Formats "malloc+0x9 (push %rbx) in libc.so.6"; hostile. Returns out. */
char *hi_probed_text(char out[HI_PROBED_TEXT], const struct hi_probed *place);
/* Returns "at gc: … in python3.11, thread 4242 python3, after 1.2 s". Safe. */
const char *hi_stopped_text(const struct hi_stopped *stopped, struct hi_page *page);
/* Writes the member `stop`: an object; null for NULL. */
void hi_stopped_json(const struct hi_stopped *stopped, struct hi_json *json);
/* Fields of struct hi_probed. */
extern const struct hi_doc_fields hi_probed_fields;

#endif
