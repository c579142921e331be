/* SPDX-License-Identifier: BSD-2-Clause */
/* The notes of a core: threads, auxv, file mappings. Hostile input. */
#ifndef HI_ATTACH_CORE_NOTES_H
#define HI_ATTACH_CORE_NOTES_H

#include "attach/image.h"
#include "base/vector.h"

struct hi_core_file {
	uint64_t start, end, offset;
	const char *path; /* in the core's bytes, NUL-terminated */
};

enum { HI_CORE_NOTE_ARGUMENTS = 80 }; /* pr_psargs, with its NUL */

struct hi_core_notes {
	struct threads HI_VECTOR(struct hi_thread) threads;
	struct files HI_VECTOR(struct hi_core_file) files; /* as written */
	struct words HI_VECTOR(uint64_t) auxv;		   /* pairs, no AT_NULL */
	pid_t pid;					   /* of PRPSINFO; 0: none */
	char name[32], args[96];			   /* of PRPSINFO */
};

/* Adds the notes of one PT_NOTE. HI_BAD_DATA where they do not fit into it. */
enum hi_status hi_core_notes_parse(struct hi_core_notes *notes,
				   const unsigned char *bytes, size_t size,
				   struct hi_error *err);
/* Frees the lists; zero-initialised notes are fine. */
void hi_core_notes_free(struct hi_core_notes *notes);

#endif
