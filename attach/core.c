/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/core.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "attach/core_arguments.h"
#include "attach/core_notes.h"
#include "attach/frozen_memory.h"
#include "attach/image.h"
#include "attach/image_internal.h"
#include "attach/maps.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"

/* [vvar] and [vvar_vclock] lie right below [vdso]; 4 + 2 pages in 6.18. */
#define VVAR_SIZE (16u * 4096u)
#define VSYSCALL 0xffffffffff600000ull

/*
 * Note [Cores]
 *
 * The file is mapped and its segments are the spans of the image: nothing is copied.
 * Segments are used only as far as the file reaches. A segment that was not dumped
 * (p_filesz less than p_memsz) is no zeros: it is not held. The kernel leaves out clean
 * file pages (coredump_filter), for which there is the file; anything else that may hold
 * data and is left out or cut short counts as missing. Truncating the file while it is
 * read causes SIGBUS, as in any program that maps a file.
 */
struct load {
	uint64_t start, end; /* target addresses */
	uint64_t held;	     /* bytes from start on that are in the file */
	uint64_t offset;     /* of them, in the file */
	uint32_t flags;	     /* PF_* */
	bool cut;	     /* the file ends before its bytes do */
};

struct core {
	unsigned char *bytes;
	size_t size;
	uint64_t mtime_ns;
	struct loads HI_VECTOR(struct load) loads;
	struct hi_core_notes notes;
};

static enum hi_status fail_core_data(struct hi_error *err, const char *path,
				     const char *what)
{
	return hi_fail(err, HI_BAD_DATA, 0, "%.150s: %s", path, what);
}

static enum hi_status map_file(struct core *core, const char *path, struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_files_open(path);
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st) != 0)
		return hi_fail_errno(err, "%.150s", path);
	if (!S_ISREG(st.st_mode))
		return fail_core_data(err, path, "not a regular file");
	if (st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return fail_core_data(err, path, "too short for a core");
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return hi_fail_errno(err, "mapping %.150s", path);
	core->bytes = bytes;
	core->size = (size_t)st.st_size;
	core->mtime_ns =
		(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return HI_OK;
}

static enum hi_status check_magic(const struct core *core, const char *path,
				  struct hi_error *err)
{
	static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	static const unsigned char lz4[] = {0x04, 0x22, 0x4d, 0x18};

	if (memcmp(core->bytes, ELFMAG, SELFMAG) == 0)
		return HI_OK;
	if (memcmp(core->bytes, zstd, 4) == 0 || memcmp(core->bytes, lz4, 4) == 0 ||
	    memcmp(core->bytes, "\x1f\x8b", 2) == 0 ||
	    memcmp(core->bytes,
		   "\xfd"
		   "7zXZ",
		   5) == 0)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "%.150s: compressed: unpack it first", path);
	return fail_core_data(err, path, "not an ELF file");
}

static enum hi_status check_core_header(const struct core *core, const char *path,
					Elf64_Ehdr *header, struct hi_error *err)
{
	enum hi_status status = check_magic(core, path, err);

	if (status != HI_OK)
		return status;
	memcpy(header, core->bytes, sizeof(*header));
	if (header->e_ident[EI_CLASS] == ELFCLASS32)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "%.150s: a 32-bit file: only x86-64 cores are supported",
			       path);
	if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_ident[EI_DATA] != ELFDATA2LSB)
		return fail_core_data(err, path, "damaged ELF header");
	if (header->e_type != ET_CORE)
		return fail_core_data(err, path, "an ELF file, but not a core");
	if (header->e_machine != EM_X86_64)
		return hi_fail(
			err, HI_UNSUPPORTED, 0,
			"%.150s: a core of %s: only x86-64 cores are supported", path,
			header->e_machine == EM_AARCH64 ? "aarch64" : "another machine");
	return HI_OK;
}

/* With 65535 and more segments their number is in section header 0. */
static enum hi_status count_segments(const struct core *core, const char *path,
				     const Elf64_Ehdr *header, uint64_t *ret,
				     struct hi_error *err)
{
	uint64_t n = header->e_phnum;
	Elf64_Shdr section;

	if (n == PN_XNUM) {
		if (header->e_shoff > core->size - sizeof(section))
			return fail_core_data(err, path, "truncated: no section header");
		memcpy(&section, core->bytes + header->e_shoff, sizeof(section));
		n = section.sh_info;
	}
	if (n == 0 || header->e_phentsize != sizeof(Elf64_Phdr))
		return fail_core_data(err, path, "no program headers");
	if (header->e_phoff > core->size ||
	    n > (core->size - header->e_phoff) / sizeof(Elf64_Phdr))
		return fail_core_data(err, path,
				      "truncated: the program headers are cut off");
	*ret = n;
	return HI_OK;
}

static enum hi_status add_load(struct core *core, const char *path, const Elf64_Phdr *ph,
			       struct hi_error *err)
{
	struct load load = {.start = ph->p_vaddr,
			    .held = ph->p_filesz,
			    .offset = ph->p_offset,
			    .flags = ph->p_flags};

	if (ph->p_memsz == 0)
		return HI_OK;
	if (__builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &load.end))
		return hi_fail(err, HI_BAD_DATA, ph->p_vaddr,
			       "%.150s: a segment wraps around the address space", path);
	if (load.held > ph->p_memsz)
		load.held = ph->p_memsz;
	if (load.held && load.offset >= core->size) {
		load.held = 0;
		load.cut = true;
	} else if (load.held > core->size - load.offset) {
		load.held = core->size - load.offset;
		load.cut = true;
	}
	if (!hi_vector_push(&core->loads, load))
		return hi_fail_memory(err, "segments of the core");
	return HI_OK;
}

static enum hi_status add_notes(struct core *core, const char *path, const Elf64_Phdr *ph,
				struct hi_error *err)
{
	if (ph->p_offset > core->size || ph->p_filesz > core->size - ph->p_offset)
		return fail_core_data(err, path, "truncated: the notes are cut off");
	return hi_core_notes_parse(&core->notes, core->bytes + ph->p_offset, ph->p_filesz,
				   err);
}

static int compare_loads(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_files(const void *a, const void *b)
{
	const struct hi_core_file *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static enum hi_status sort_parts(struct core *core, const char *path,
				 struct hi_error *err)
{
	struct hi_core_notes *notes = &core->notes;
	size_t kept = 0;

	if (core->loads.count)
		qsort(core->loads.items, core->loads.count, sizeof(*core->loads.items),
		      compare_loads);
	for (size_t i = 1; i < core->loads.count; i++)
		if (core->loads.items[i].start < core->loads.items[i - 1].end)
			return hi_fail(err, HI_BAD_DATA, core->loads.items[i].start,
				       "%.150s: segments overlap at 0x%llx", path,
				       (unsigned long long)core->loads.items[i].start);
	if (notes->files.count)
		qsort(notes->files.items, notes->files.count, sizeof(*notes->files.items),
		      compare_files);
	for (size_t i = 0; i < notes->files.count; i++)
		if (!kept ||
		    notes->files.items[i].start >= notes->files.items[kept - 1].end)
			notes->files.items[kept++] = notes->files.items[i];
	notes->files.count = kept;
	return HI_OK;
}

static enum hi_status read_segments(struct core *core, const char *path,
				    struct hi_error *err)
{
	enum hi_status status;
	Elf64_Ehdr header;
	uint64_t n = 0;

	status = check_core_header(core, path, &header, err);
	if (status == HI_OK)
		status = count_segments(core, path, &header, &n, err);
	for (uint64_t i = 0; status == HI_OK && i < n; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, core->bytes + header.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD)
			status = add_load(core, path, &ph, err);
		else if (ph.p_type == PT_NOTE)
			status = add_notes(core, path, &ph, err);
	}
	if (status == HI_OK)
		status = sort_parts(core, path, err);
	if (status == HI_OK && !core->notes.threads.count)
		status = fail_core_data(err, path, "the core has no threads");
	return status;
}

static bool find_core_auxv(const struct core *core, uint64_t type, uint64_t *ret)
{
	for (size_t i = 0; i + 1 < core->notes.auxv.count; i += 2)
		if (core->notes.auxv.items[i] == type) {
			*ret = core->notes.auxv.items[i + 1];
			return true;
		}
	return false;
}

/* Special mappings have no name in a core: they are recognized by the auxiliary
 * vector. */
static void name_special(const struct core *core, const struct load *load,
			 struct hi_mapping *m)
{
	uint64_t addr;

	if (m->start == VSYSCALL) {
		m->path = "[vsyscall]";
	} else if (find_core_auxv(core, AT_SYSINFO_EHDR, &addr) && addr >= m->start &&
		   addr < m->end) {
		m->path = "[vdso]";
	} else if (find_core_auxv(core, AT_SYSINFO_EHDR, &addr) && m->end <= addr &&
		   load && load->flags == PF_R && addr - m->start <= VVAR_SIZE) {
		m->path = "[vvar]";
	} else if ((find_core_auxv(core, AT_EXECFN, &addr) ||
		    find_core_auxv(core, AT_RANDOM, &addr)) &&
		   addr >= m->start && addr < m->end) {
		m->path = "[stack]";
	}
}

/* One mapping: the part [start, end) of load (NULL: none) and file (NULL). */
static enum hi_status add_core_mapping(const struct core *core, struct hi_image *image,
				       uint64_t start, uint64_t end,
				       const struct load *load,
				       const struct hi_core_file *file,
				       struct hi_error *err)
{
	struct hi_mapping m = {
		.start = start,
		.end = end,
		.path = "",
		.resident = UINT64_MAX,
		.swapped = UINT64_MAX,
	};
	char *path HI_GUARD(free) = NULL;

	/* gcore leaves clean file mappings out altogether: most are code. */
	m.prot = HI_PROT_READ | HI_PROT_EXEC;
	if (load) {
		uint64_t held_end = load->start + load->held;

		m.prot = (uint8_t)((load->flags & PF_R ? HI_PROT_READ : 0) |
				   (load->flags & PF_W ? HI_PROT_WRITE : 0) |
				   (load->flags & PF_X ? HI_PROT_EXEC : 0));
		if (held_end > start)
			m.copied = (held_end < end ? held_end : end) - start;
	}
	m.held = m.copied > 0;
	if (file) {
		path = hi_strdup(file->path);
		if (!path)
			return hi_fail_memory(err, "mapping");
		hi_path_cut_deleted(path, strlen(path), &m.deleted);
		m.path = path;
		m.file_offset = file->offset + (start - file->start);
	} else {
		name_special(core, load, &m);
	}
	m.kind = hi_mapping_kind_of(&m);
	image->stats.bytes_copied += m.copied;
	if (load && m.kind != HI_MAPPING_OTHER &&
	    (load->cut || (m.copied < end - start && !file && (load->flags & PF_W))))
		image->stats.segments_missing++;
	return hi_image_add_mapping(image, &m, err);
}

/* Cuts at the borders of both segments and mapped files. */
static enum hi_status add_core_mappings(const struct core *core, struct hi_image *image,
					struct hi_error *err)
{
	const struct load *loads = core->loads.items;
	const struct hi_core_file *files = core->notes.files.items;
	size_t n_loads = core->loads.count, n_files = core->notes.files.count;
	size_t l = 0, f = 0;
	uint64_t at = 0;

	for (;;) {
		const struct load *load = NULL;
		const struct hi_core_file *file = NULL;
		uint64_t end = UINT64_MAX;
		enum hi_status status = HI_OK;

		while (l < n_loads && loads[l].end <= at)
			l++;
		while (f < n_files && files[f].end <= at)
			f++;
		if (l == n_loads && f == n_files)
			return HI_OK;
		if (l < n_loads && loads[l].start <= at)
			load = &loads[l];
		if (f < n_files && files[f].start <= at)
			file = &files[f];
		if (l < n_loads)
			end = load ? load->end : loads[l].start;
		if (f < n_files && (file ? file->end : files[f].start) < end)
			end = file ? file->end : files[f].start;
		if (load || file)
			status = add_core_mapping(core, image, at, end, load, file, err);
		if (status != HI_OK)
			return status;
		at = end;
	}
}

static enum hi_status add_spans(const struct core *core, struct hi_frozen *frozen,
				struct hi_error *err)
{
	enum hi_status status = HI_OK;
	const struct load *loads = core->loads.items;

	for (size_t i = 0, next; status == HI_OK && i < core->loads.count; i = next) {
		uint64_t end = loads[i].start + loads[i].held;

		/* Segments that follow each other here and in the file are one span. */
		for (next = i + 1; next < core->loads.count; next++) {
			if (loads[next].start != end || !loads[next].held ||
			    loads[next].offset !=
				    loads[i].offset + (end - loads[i].start))
				break;
			end = loads[next].start + loads[next].held;
		}
		if (end > loads[i].start)
			status = hi_frozen_add_span(frozen, loads[i].start, end,
						    core->bytes + loads[i].offset, err);
	}
	return status;
}

/* Takes ownership of the mapped file from core. */
static enum hi_status freeze_core(struct core *core, struct hi_memory **ret,
				  struct hi_error *err)
{
	struct hi_frozen *frozen = NULL;
	enum hi_status status = hi_frozen_create("core file", &frozen, err);

	if (status != HI_OK)
		return status;
	status = add_spans(core, frozen, err);
	if (status == HI_OK)
		status = hi_frozen_own(frozen, core->bytes, core->size, err);
	if (status != HI_OK) {
		hi_memory_destroy(hi_frozen_memory(frozen));
		return status;
	}
	*ret = hi_frozen_memory(frozen);
	status = hi_frozen_seal(frozen, NULL, 0, err);
	/* The bytes belong to frozen now, but the notes are still read. */
	return status;
}

static enum hi_status add_core_threads(const struct core *core, struct hi_image *image,
				       struct hi_error *err)
{
	const struct hi_core_notes *notes = &core->notes;
	enum hi_status status = HI_OK;
	size_t leader = 0;

	/* The kernel writes the thread that died first, and the leader's pid. */
	for (size_t i = 0; i < notes->threads.count; i++)
		if (notes->pid && notes->threads.items[i].tid == notes->pid)
			leader = i;
	memcpy(notes->threads.items[leader].name, notes->name, sizeof(notes->name));
	status = hi_image_add_thread(image, &notes->threads.items[leader], err);
	for (size_t i = 0; status == HI_OK && i < notes->threads.count; i++)
		if (i != leader)
			status =
				hi_image_add_thread(image, &notes->threads.items[i], err);
	image->pid = notes->pid;
	return status;
}

static enum hi_status add_auxv(struct core *core, struct hi_image *image)
{
	image->n_auxv = core->notes.auxv.count / 2;
	image->auxv = hi_take(core->notes.auxv.items);
	core->notes.auxv.count = core->notes.auxv.capacity = 0;
	return HI_OK;
}

/* The file that holds the entry point or the program headers. */
static enum hi_status find_exe(const struct core *core, struct hi_image *image,
			       const struct hi_core_options *options,
			       struct hi_error *err)
{
	const struct hi_mapping *m = NULL;
	uint64_t addr;
	char *exe;

	if (hi_image_auxv(image, AT_ENTRY, &addr))
		m = hi_image_mapping_at(image, addr);
	if ((!m || !*m->path) && hi_image_auxv(image, AT_PHDR, &addr))
		m = hi_image_mapping_at(image, addr);
	if (m && *m->path)
		exe = hi_strdup(m->path);
	else
		exe = hi_strndup(core->notes.args, strcspn(core->notes.args, " "));
	if (!exe)
		return hi_fail_memory(err, "path of the executable");
	free(image->exe);
	image->exe = exe;
	if (options && options->exe) {
		image->priv->core_exe = hi_strdup(options->exe);
		if (!image->priv->core_exe)
			return hi_fail_memory(err, "path of the executable");
	}
	if (options && options->sysroot) {
		image->priv->sysroot = hi_strdup(options->sysroot);
		if (!image->priv->sysroot)
			return hi_fail_memory(err, "path of the system root");
	}
	return HI_OK;
}

/* In the note where the stack has none. */
static enum hi_status find_command_line(const struct core *core, struct hi_image *image,
					struct hi_error *err)
{
	enum hi_status status = hi_core_arguments_read(image, &image->command_line, err);

	if (status == HI_OK || status == HI_NO_MEMORY)
		return status;
	return hi_command_line_of_note(&image->command_line, core->notes.args,
				       HI_CORE_NOTE_ARGUMENTS)
		       ? HI_OK
		       : hi_fail_memory(err, "command line");
}

static enum hi_status fill_core_image(struct core *core, struct hi_image *image,
				      const struct hi_core_options *options,
				      struct hi_error *err)
{
	enum hi_status status = add_core_mappings(core, image, err);

	if (status == HI_OK)
		status = add_core_threads(core, image, err);
	if (status == HI_OK)
		status = add_auxv(core, image);
	if (status == HI_OK)
		status = find_exe(core, image, options, err);
	if (status == HI_OK)
		status = find_command_line(core, image, err);
	image->stats.time_ns = core->mtime_ns;
	image->complete = image->stats.segments_missing == 0;
	return status;
}

static enum hi_status make_core_image(struct core *core,
				      const struct hi_core_options *options,
				      struct hi_image **ret, struct hi_error *err)
{
	struct hi_memory *memory = NULL;
	struct hi_image *image = NULL;
	enum hi_status status = freeze_core(core, &memory, err);

	if (status != HI_OK && memory) {
		core->bytes = NULL; /* frozen owned it */
		hi_memory_destroy(memory);
	}
	if (status != HI_OK)
		return status;
	status = hi_image_create(memory, HI_SNAPSHOT_CORE, &image, err);
	if (status == HI_OK)
		status = fill_core_image(core, image, options, err);
	core->bytes = NULL;
	if (status != HI_OK) {
		hi_image_destroy(image);
		return status;
	}
	*ret = image;
	return HI_OK;
}

static enum hi_status check_exe(const char *path, struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_files_open(path);

	return fd < 0 ? hi_fail_errno(err, "--exe %.150s", path) : HI_OK;
}

enum hi_status hi_core_open(const char *path, const struct hi_core_options *options,
			    struct hi_image **ret, struct hi_error *err)
{
	struct core core = {};
	enum hi_status status = map_file(&core, path, err);

	if (status == HI_OK && options && options->exe)
		status = check_exe(options->exe, err);
	if (status == HI_OK)
		status = read_segments(&core, path, err);
	if (status == HI_OK)
		status = make_core_image(&core, options, ret, err);
	hi_core_notes_free(&core.notes);
	hi_vector_free(&core.loads);
	if (core.bytes)
		munmap(core.bytes, core.size);
	return status;
}
