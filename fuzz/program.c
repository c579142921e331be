/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program of any bytes that is mapped, with a thread in it: modules, symbols, debug
 * information of code, frames with their variables, and places for probes, as they are
 * found in a process without rights. The seed is fuzz/seeds/program.c.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attach/mock.h"
#include "attach/target_internal.h"
#include "decode/describe/frame_names.h"
#include "decode/frames/frames.h"
#include "decode/modules/call_file.h"
#include "decode/modules/functions.h"
#include "decode/types/function_types.h"
#include "probes/call_sites.h"
#include "probes/events/functions.h"
#include "probes/events/unwind_find.h"
#include "probes/target_code.h"
#include "probes/use_functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START 0x555500000000ull
#define STACK 0x7ff000000000ull
enum { STACK_SIZE = 8192, PAGE = 4096, ADDRESSES = 64, MOST = 1 << 17, THREADS = 5 };

static int file = -1;
static char path[64];
static size_t file_size;
static uint64_t entry;

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Return addresses into the program, words of the stack, and its entry. */
static void fill_stack(struct hi_memory *memory)
{
	uint64_t words[STACK_SIZE / 8];

	for (size_t i = 0; i < STACK_SIZE / 8; i++)
		words[i] = i % 3 ? STACK + (i * 40) % STACK_SIZE
				 : entry + i * 16 % (file_size + 1);
	expect(hi_memory_mock_add(memory, STACK, words, sizeof(words), NULL) == HI_OK);
}

/* Some before the entry: there are the functions of the seed. */
static void add_threads(struct hi_image *image)
{
	for (int i = 0; i < THREADS; i++) {
		const struct hi_thread thread = {.tid = i + 1,
						 .regs = {.rip = entry + i * 20ull - 80,
							  .rsp = STACK + 256,
							  .rbp = STACK + 512,
							  .rdi = STACK + 640,
							  .rsi = 3}};

		expect(hi_image_add_thread(image, &thread, NULL) == HI_OK);
	}
}

static struct hi_image *make_image(void)
{
	struct stat st;
	struct hi_mapping program = {.start = START,
				     .end = START + ((file_size + PAGE - 1) & ~4095ul),
				     .prot = HI_PROT_READ | HI_PROT_EXEC,
				     .kind = HI_MAPPING_FILE,
				     .path = path};
	const struct hi_mapping stack = {.start = STACK,
					 .end = STACK + STACK_SIZE,
					 .prot = HI_PROT_READ | HI_PROT_WRITE,
					 .kind = HI_MAPPING_STACK,
					 .held = true,
					 .path = ""};
	struct hi_memory *memory;
	struct hi_image *image;

	expect(hi_memory_create_mock(&memory, NULL) == HI_OK);
	expect(hi_image_create_mock(memory, &image, NULL) == HI_OK);
	image->mode = HI_SNAPSHOT_CORE; /* files are opened by their paths */
	expect(fstat(file, &st) == 0);
	program.inode = st.st_ino;
	program.dev_major = major(st.st_dev);
	program.dev_minor = minor(st.st_dev);
	fill_stack(memory);
	expect(hi_image_add_mapping(image, &program, NULL) == HI_OK);
	expect(hi_image_add_mapping(image, &stack, NULL) == HI_OK);
	add_threads(image);
	return image;
}

/* ---- frames ---- */

static void check_stack(const struct hi_stack *stack)
{
	expect(stack->n_frames >= 1 && stack->n_frames <= HI_FRAMES_MAX);
	for (size_t i = 0; i < stack->n_locals; i++) {
		const struct hi_local *l = &stack->locals[i];

		expect(l->name && l->frame < stack->n_frames);
		expect(l->in_memory || l->size <= sizeof(l->value) || l->value_mask);
	}
}

static void name_frames(struct hi_modules *modules)
{
	struct hi_frames_builder *builder = NULL;
	uint64_t addresses[ADDRESSES];
	struct hi_frames frames;

	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = entry + i * 7;
	expect(hi_frames_builder_create(&builder, NULL) == HI_OK);
	if (hi_frame_names_add(modules, NULL, addresses, ADDRESSES, builder, NULL) ==
	    HI_OK) {
		frames = hi_frames_builder_view(builder);
		expect(frames.n_frames == ADDRESSES);
	}
	hi_frames_builder_destroy(builder);
}

static void ask_about_functions(struct hi_types *types, struct hi_module *module)
{
	struct hi_line_location *lines = NULL;
	struct hi_parameter parameters[8];
	bool is_known = false;
	size_t n = 0;

	if (hi_module_line_locations(module, "program.c", 20, 8, &lines, &n, &is_known,
				     NULL) == HI_OK)
		expect(n <= 8);
	free(lines);
	if (hi_function_parameters(types, module, entry, parameters, 8, &n, NULL) ==
	    HI_OK)
		expect(n <= 8);
	if (hi_function_locals(types, module, entry, parameters, 8, &n, NULL) == HI_OK)
		expect(n <= 8);
	(void)hi_function_value_in_place(types, module, entry);
	(void)hi_function_subject(types, module, entry);
	(void)hi_module_next_symbol(module, entry);
}

static void read_frames(void)
{
	const struct hi_modules_options options = {.cache_dir = "",
						   .debug_dir = "/nowhere"};
	struct hi_image *image = make_image();
	struct hi_modules *modules = NULL;
	struct hi_types *types = NULL;
	uint64_t start, size;

	if (hi_modules_open(image, &options, &modules, NULL) == HI_OK &&
	    hi_types_open(modules, &types, NULL) == HI_OK) {
		struct hi_module *module = hi_modules_get(modules, 0);

		for (uint32_t i = 0; i < THREADS; i++) {
			struct hi_stack *stack = NULL;

			if (hi_stack_read(types, image, i, &stack, NULL) == HI_OK)
				check_stack(stack);
			hi_stack_destroy(stack);
		}
		name_frames(modules);
		if (hi_modules_count(modules) && module) {
			ask_about_functions(types, module);
			(void)!hi_tls_block(modules, image, module, 0, &start, &size,
					    NULL);
		}
	}
	hi_types_close(types);
	hi_modules_close(modules);
	hi_image_destroy(image);
}

/* ---- places for probes ---- */

static void check_sites(struct hi_target *target, struct hi_probe_sites *sites)
{
	for (size_t i = 0; i < sites->count; i++) {
		const struct hi_probe_site *s = &sites->items[i];

		expect(s->mapping < target->n_mappings && s->address >= START &&
		       s->address < target->mappings[s->mapping].end);
	}
	hi_probe_sites_free(sites);
}

static bool matches(const char *function, const char *pattern)
{
	return strncmp(function, pattern, 1) == 0;
}

static void find_safepoints(struct hi_target *target)
{
	static const char *const texts[] = {"visit if node->value > 3", "program.c:20",
					    "usdt:fuzz:visit", "gc", "sum%return"};
	struct hi_known_safepoint *list = NULL;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct hi_probe_sites sites = {};
		struct hi_safepoint safepoint;

		expect(hi_safepoint_parse(texts[i], &safepoint, NULL) == HI_OK);
		if (hi_safepoint_find_in(target, make_image(), &safepoint, &sites,
					 NULL) == HI_OK)
			check_sites(target, &sites);
	}
	if (hi_safepoints_list_in(target, make_image(), &list, &n, NULL) == HI_OK)
		hi_safepoints_free(list, n);
}

static void find_functions(struct hi_target *target)
{
	static const char *const patterns[] = {"v"};
	static struct hi_event_functions functions;
	static struct hi_use_functions uses;
	const struct hi_call_patterns calls = {patterns, 1, matches};
	const struct hi_followed followed = {.mappings = true};
	struct hi_probe_sites sites = {};
	struct hi_unwind_tables tables = {};

	memset(&uses, 0, sizeof(uses));
	(void)!hi_event_functions_find_in(target, make_image(), &followed, &functions,
					  NULL);
	if (hi_call_sites_find_in(target, make_image(), &calls, &sites, NULL) == HI_OK)
		check_sites(target, &sites);
	(void)!hi_use_functions_find_in(target, make_image(), &uses, NULL);
	if (hi_unwind_tables_find_in(target, make_image(), &tables, NULL) == HI_OK)
		expect(hi_unwind_tables_check(&tables, target, NULL) == HI_OK);
	hi_unwind_tables_free(&tables);
}

static void find_places(void)
{
	struct hi_image *image = make_image();
	struct hi_target_private priv = {.mem_fd = -1,
					 .pagemap_fd = -1,
					 .maps_fd = -1,
					 .root_fd = open("/", O_PATH | O_CLOEXEC)};
	struct hi_target target = {.exe = path,
				   .started_as = path,
				   .mappings = image->mappings,
				   .n_mappings = image->n_mappings,
				   .priv = &priv};

	find_safepoints(&target);
	find_functions(&target);
	hi_image_destroy(image);
	close(priv.root_fd);
}

static void look_at_calls(void)
{
	struct hi_call_file *calls = NULL;
	uint64_t target;

	if (hi_call_file_open(path, "00112233445566778899aabbccddeeff00112233", &calls,
			      NULL) == HI_OK)
		for (uint64_t offset = 0; offset < file_size && offset < 2048; offset++) {
			(void)hi_call_file_kind(calls, offset, &target);
			(void)hi_call_file_function(calls, offset);
			(void)hi_call_file_exports(calls, offset);
		}
	hi_call_file_close(calls);
}

static void remove_file(void)
{
	(void)unlink(path);
}

static void make_file(void)
{
	snprintf(path, sizeof(path), "/tmp/hi-fuzz-XXXXXX");
	file = mkstemp(path);
	expect(file >= 0 && atexit(remove_file) == 0);
	/* Neither the cache of this user nor a server is asked. */
	setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
	unsetenv("DEBUGINFOD_URLS");
}

static bool begin_file(const uint8_t *data, size_t size)
{
	Elf64_Ehdr header = {};

	if (file < 0)
		make_file();
	memcpy(&header, data, size < sizeof(header) ? size : sizeof(header));
	entry = START + header.e_entry % (size + 1);
	file_size = size;
	return ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > MOST || !begin_file(data, size))
		return 0;
	read_frames();
	find_places();
	look_at_calls();
	return 0;
}
