/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of a library with very large, compressed debug information (libjvm, from
 * openjdk-17-jre-headless and openjdk-17-dbg): the first use, a later one with
 * the cache, and a process in which no root needs it. Beside each time stands its
 * ratio to inflating .debug_info alone, by libelf, in the same run.
 *
 *	bench_types [ELF file [name of a type in it]]
 */
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/mock.h"
#include "bench/support.h"
#include "decode/types/types.h"

enum { ROUNDS = 4 }; /* the first is dropped */

static struct hi_error err;

static void check(enum hi_status status)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_types: %s\n", err.text);
	exit(1);
}

/* ---- an image in which two files are mapped and nothing else is known ---- */

static void map_file(struct hi_image *image, const char *path, uint64_t start)
{
	struct hi_mapping mapping = {.start = start,
				     .end = start + (1 << 30),
				     .prot = HI_PROT_READ | HI_PROT_EXEC,
				     .kind = HI_MAPPING_FILE,
				     .inode = start,
				     .path = path};

	check(hi_image_add_mapping(image, &mapping, &err));
}

struct world {
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_types *types;
};

static struct world world_open(const char *library, const char *cache)
{
	struct hi_modules_options options = {.cache_dir = cache};
	struct hi_memory *memory;
	struct world world;
	char own[4096];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n > 0 ? n : 0] = '\0';
	check(hi_memory_create_mock(&memory, &err));
	check(hi_image_create_mock(memory, &world.image, &err));
	world.image->mode = HI_SNAPSHOT_CORE; /* files by their paths */
	map_file(world.image, own, 1ull << 40);
	map_file(world.image, library, 2ull << 40);
	check(hi_modules_open(world.image, &options, &world.modules, &err));
	check(hi_types_open(world.modules, &world.types, &err));
	return world;
}

static void world_close(struct world *world)
{
	hi_types_close(world->types);
	hi_modules_close(world->modules);
	hi_image_destroy(world->image);
}

/* ---- what is measured ---- */

static uint64_t inflate_alone(const char *debug)
{
	int fd = open(debug, O_RDONLY | O_CLOEXEC);
	uint64_t start = bench_now_ns();
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	Elf_Scn *scn = NULL;
	size_t strings;

	if (!elf || elf_getshdrstrndx(elf, &strings) != 0)
		exit(1);
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && (shdr.sh_flags & SHF_COMPRESSED) &&
		    strcmp(elf_strptr(elf, strings, shdr.sh_name), ".debug_info") == 0 &&
		    elf_compress(scn, 0, 0) < 0)
			exit(1);
	}
	elf_end(elf);
	close(fd);
	return bench_now_ns() - start;
}

static uint64_t ask_library(const char *library, const char *cache, const char *type,
			    struct hi_types_stats *stats)
{
	uint64_t start = bench_now_ns();
	struct world world = world_open(library, cache);
	hi_type_id id;

	check(hi_types_find(world.types, type, &id, &err));
	start = bench_now_ns() - start;
	*stats = hi_types_stats(world.types);
	world_close(&world);
	return start;
}

static uint64_t ask_program(const char *library, const char *cache,
			    struct hi_types_stats *stats)
{
	uint64_t start = bench_now_ns();
	struct world world = world_open(library, cache);
	struct hi_variable var;

	check(hi_types_variable_named(world.types, "err", &var, &err));
	start = bench_now_ns() - start;
	*stats = hi_types_stats(world.types);
	world_close(&world);
	return start;
}

static void empty_cache(const char *cache)
{
	char line[300];

	snprintf(line, sizeof(line), "rm -rf '%s'", cache);
	if (system(line) != 0)
		exit(1);
}

static char *find_debug(const char *library)
{
	struct world world = world_open(library, "");
	struct hi_module *module = hi_modules_at(world.modules, 2ull << 40);
	char *path;

	if (!module)
		exit(1);
	check(hi_module_debug(module, &err));
	path = strdup(module->debug_path);
	world_close(&world);
	return path;
}

static void show(const char *what, uint64_t *times, uint64_t unit,
		 const struct hi_types_stats *stats)
{
	double time = (double)bench_median(times, ROUNDS);

	printf("%-12s %8.1f ms  %6.3f x inflating  index %6.1f ms  %5.1f MB of DWARF\n",
	       what, time / 1e6, time / (double)unit, (double)stats->index_ns / 1e6,
	       (double)stats->bytes_dwarf / 1e6);
}

int main(int argc, char **argv)
{
	char cache[] = "/tmp/bench-types-XXXXXX";
	const char *type = argc > 2 ? argv[2] : "Klass";
	uint64_t inflate[ROUNDS], times[ROUNDS], unit;
	struct hi_types_stats stats = {};
	glob_t found = {};
	char *library = argc > 1 ? argv[1] : NULL, *debug;

	elf_version(EV_CURRENT);
	if (!library && glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, NULL, &found) == 0)
		library = found.gl_pathv[0];
	if (!library || !mkdtemp(cache)) {
		fprintf(stderr, "bench_types: no libjvm.so (openjdk-17-jre-headless)\n");
		return 1;
	}
	debug = find_debug(library);
	printf("%s\n", debug);
	for (int i = 0; i < ROUNDS; i++)
		inflate[i] = inflate_alone(debug);
	unit = bench_median(inflate, ROUNDS);
	printf("%-12s %8.1f ms\n", "inflating", (double)unit / 1e6);
	for (int i = 0; i < ROUNDS; i++) {
		empty_cache(cache);
		times[i] = ask_library(library, cache, type, &stats);
	}
	show("first use", times, unit, &stats);
	for (int i = 0; i < ROUNDS; i++)
		times[i] = ask_library(library, cache, type, &stats);
	show("cached", times, unit, &stats);
	for (int i = 0; i < ROUNDS; i++)
		times[i] = ask_library(library, "", type, &stats);
	show("no cache", times, unit, &stats);
	for (int i = 0; i < ROUNDS; i++)
		times[i] = ask_program(library, cache, &stats);
	show("not needed", times, unit, &stats);
	empty_cache(cache);
	free(debug);
	globfree(&found);
	return 0;
}
