/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/tiny_core.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <unistd.h>

#include "tests/harness.h"

struct out {
	unsigned char *bytes;
	size_t size;
};

static void put(struct out *out, const void *bytes, size_t size)
{
	out->bytes = realloc(out->bytes, out->size + size + 1);
	HI_ASSERT(out->bytes);
	memcpy(out->bytes + out->size, bytes, size);
	out->size += size;
}

static void align(struct out *out, size_t to)
{
	while (out->size % to)
		put(out, "", 1);
}

static void put_note(struct out *out, uint32_t type, const void *desc, size_t size)
{
	Elf64_Nhdr header = {5, (uint32_t)size, type};

	put(out, &header, sizeof(header));
	put(out, "CORE\0\0\0", 8);
	put(out, desc, size);
	align(out, 4);
}

static void put_file_note(struct out *out, const struct hi_tiny_core *core)
{
	uint64_t head[5] = {1, 4096, core->file_start, core->file_end, core->file_page};
	struct out desc = {};

	put(&desc, head, sizeof(head));
	put(&desc, core->file_path, strlen(core->file_path) + 1);
	put_note(out, NT_FILE, desc.bytes, desc.size);
	free(desc.bytes);
}

static struct out build_notes(const struct hi_tiny_core *core)
{
	struct elf_prpsinfo info = {.pr_pid = core->pid,
				    .pr_fname = "tiny",
				    .pr_psargs = "/bin/tiny --small"};
	struct out out = {};

	for (size_t i = 0; i < core->n_tids; i++) {
		struct elf_prstatus status = {.pr_pid = core->tids[i]};
		struct user_regs_struct regs = {.rsp = 0x7000 + i,
						.rip = (unsigned)core->tids[i]};

		memcpy(&status.pr_reg, &regs, sizeof(regs));
		put_note(&out, NT_PRSTATUS, &status, sizeof(status));
		if (i == 0)
			put_note(&out, NT_PRPSINFO, &info, sizeof(info));
	}
	if (core->n_auxv)
		put_note(&out, NT_AUXV, core->auxv, core->n_auxv * 16);
	if (core->file_path)
		put_file_note(&out, core);
	return out;
}

unsigned char *hi_tiny_core_build(const struct hi_tiny_core *core, size_t *size_ret)
{
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)(core->n_segments + 1),
	};
	size_t heads = sizeof(header) + (core->n_segments + 1) * sizeof(Elf64_Phdr);
	struct out notes = build_notes(core), out = {};
	Elf64_Phdr ph = {.p_type = PT_NOTE, .p_offset = heads, .p_filesz = notes.size};
	uint64_t at = (heads + notes.size + 63) / 64 * 64;

	put(&out, &header, sizeof(header));
	put(&out, &ph, sizeof(ph));
	for (size_t i = 0; i < core->n_segments; i++) {
		const struct hi_tiny_segment *s = &core->segments[i];

		ph = (Elf64_Phdr){.p_type = PT_LOAD,
				  .p_flags = s->flags,
				  .p_offset = at,
				  .p_vaddr = s->addr,
				  .p_filesz = s->file_size,
				  .p_memsz = s->memory_size};
		put(&out, &ph, sizeof(ph));
		at += s->file_size;
	}
	put(&out, notes.bytes, notes.size);
	free(notes.bytes);
	align(&out, 64);
	for (size_t i = 0; i < core->n_segments; i++)
		if (core->segments[i].file_size)
			put(&out, core->segments[i].bytes, core->segments[i].file_size);
	*size_ret = out.size;
	return out.bytes;
}

static void remove_file(void *path)
{
	unlink(path);
	free(path);
}

void hi_tiny_core_save(const void *bytes, size_t size, char path[64])
{
	ssize_t n;
	int fd;

	snprintf(path, 64, "/tmp/hi-core-XXXXXX");
	fd = mkstemp(path);
	HI_ASSERT(fd >= 0);
	hi_test_defer(remove_file, strdup(path));
	n = write(fd, bytes, size);
	close(fd);
	HI_ASSERT(n == (ssize_t)size);
}
