/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/core_notes.h"

#include <elf.h>
#include <string.h>
#include <sys/procfs.h>

struct note {
	const unsigned char *desc;
	size_t size;
	uint32_t type;
};

static enum hi_status fail_core_notes(struct hi_error *err, const char *what)
{
	return hi_fail(err, HI_BAD_DATA, 0, "core: %s", what);
}

static enum hi_status add_thread_note(struct hi_core_notes *notes,
				      const struct note *note, struct hi_error *err)
{
	struct hi_thread thread = {};
	struct elf_prstatus status;

	_Static_assert(sizeof(status.pr_reg) == sizeof(thread.regs),
		       "both are the 27 registers of user_regs_struct");
	if (note->size < sizeof(status))
		return fail_core_notes(err, "a thread's note is too short");
	memcpy(&status, note->desc, sizeof(status));
	memcpy(&thread.regs, &status.pr_reg, sizeof(thread.regs));
	thread.tid = status.pr_pid;
	if (!hi_vector_push(&notes->threads, thread))
		return hi_fail_memory(err, "threads of the core");
	return HI_OK;
}

static enum hi_status take_psinfo(struct hi_core_notes *notes, const struct note *note,
				  struct hi_error *err)
{
	struct elf_prpsinfo info;

	if (note->size < sizeof(info))
		return fail_core_notes(err, "the process's note is too short");
	memcpy(&info, note->desc, sizeof(info));
	notes->pid = info.pr_pid;
	memcpy(notes->name, info.pr_fname, sizeof(info.pr_fname));
	memcpy(notes->args, info.pr_psargs, sizeof(info.pr_psargs));
	return HI_OK;
}

static enum hi_status take_auxv(struct hi_core_notes *notes, const struct note *note,
				struct hi_error *err)
{
	notes->auxv.count = 0;
	for (size_t at = 0; at + 16 <= note->size; at += 16) {
		uint64_t pair[2];

		memcpy(pair, note->desc + at, sizeof(pair));
		if (pair[0] == AT_NULL)
			break;
		if (!hi_vector_push(&notes->auxv, pair[0]) ||
		    !hi_vector_push(&notes->auxv, pair[1]))
			return hi_fail_memory(err, "auxv of the core");
	}
	return HI_OK;
}

/* count, page size, count triples (start, end, offset in pages), count names. */
static enum hi_status take_files(struct hi_core_notes *notes, const struct note *note,
				 struct hi_error *err)
{
	const char *names, *end = (const char *)note->desc + note->size;
	uint64_t header[2], triple[3];

	if (note->size < sizeof(header))
		return fail_core_notes(err, "the note of mapped files is too short");
	memcpy(header, note->desc, sizeof(header));
	if (header[0] > (note->size - sizeof(header)) / sizeof(triple))
		return fail_core_notes(err, "the note of mapped files is cut off");
	names = (const char *)note->desc + sizeof(header) + header[0] * sizeof(triple);
	notes->files.count = 0;
	for (uint64_t i = 0; i < header[0]; i++) {
		const char *nul = memchr(names, 0, (size_t)(end - names));
		struct hi_core_file file;

		if (!nul)
			return fail_core_notes(
				err, "a name in the note of mapped files has no end");
		memcpy(triple, note->desc + sizeof(header) + i * sizeof(triple),
		       sizeof(triple));
		file = (struct hi_core_file){triple[0], triple[1], 0, names};
		if (__builtin_mul_overflow(triple[2], header[1], &file.offset))
			return fail_core_notes(
				err, "an offset in the note of mapped files wraps");
		names = nul + 1;
		if (file.start < file.end && !hi_vector_push(&notes->files, file))
			return hi_fail_memory(err, "mapped files of the core");
	}
	return HI_OK;
}

static enum hi_status parse_core_note(struct hi_core_notes *notes,
				      const struct note *note, struct hi_error *err)
{
	switch (note->type) {
	case NT_PRSTATUS:
		return add_thread_note(notes, note, err);
	case NT_PRPSINFO:
		return take_psinfo(notes, note, err);
	case NT_AUXV:
		return take_auxv(notes, note, err);
	case NT_FILE:
		return take_files(notes, note, err);
	default:
		return HI_OK;
	}
}

static uint64_t align_note_size(uint64_t n)
{
	return (n + 3) & ~3ull;
}

enum hi_status hi_core_notes_parse(struct hi_core_notes *notes,
				   const unsigned char *bytes, size_t size,
				   struct hi_error *err)
{
	for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
		enum hi_status status = HI_OK;
		struct note note;
		Elf64_Nhdr header;
		uint64_t name_size, desc_size;

		memcpy(&header, bytes + at, sizeof(header));
		at += sizeof(header);
		name_size = align_note_size(header.n_namesz);
		desc_size = align_note_size(header.n_descsz);
		if (name_size > size - at || header.n_descsz > size - at - name_size)
			return fail_core_notes(err, "a note reaches beyond its segment");
		note = (struct note){bytes + at + name_size, header.n_descsz,
				     header.n_type};
		if (header.n_namesz == 5 && memcmp(bytes + at, "CORE", 5) == 0)
			status = parse_core_note(notes, &note, err);
		if (status != HI_OK)
			return status;
		at += name_size;
		at += desc_size < size - at ? desc_size : size - at;
	}
	return HI_OK;
}

void hi_core_notes_free(struct hi_core_notes *notes)
{
	hi_vector_free(&notes->threads);
	hi_vector_free(&notes->files);
	hi_vector_free(&notes->auxv);
}
