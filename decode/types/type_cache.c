/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Indexes kept in the cache directory, by build-id: BUILDID-IDENTITY.types, where
 * the identity is a hash of the debug sections' sizes and of samples of them. One
 * header with a checksum over all that follows: types, variables, thread-local
 * variables, variables by name. What does not fit exactly is ignored and replaced.
 */
#include "decode/modules/module.h"
#include "decode/types/types_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Below this an index takes milliseconds: not worth a file. */
#define CACHE_MIN (1ull << 20)
#define CACHE_ENTRIES_MAX (1ull << 28)
enum { CACHE_VERSION = 2, SAMPLE = 4096 };

struct header {
	char magic[8];
	uint32_t version, entry_size;
	uint64_t identity;
	uint64_t n_types, n_variables, n_tls, units;
	uint64_t checksum; /* of everything behind the header */
};
static const char magic[8] = "hitypes";

static uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
	return hi_dw_hash_name(h, data, n);
}

static uint64_t identity_of_type_module(const struct hi_type_module *module)
{
	uint64_t h = CACHE_VERSION;

	for (size_t i = 0; i < module->n_files; i++)
		for (unsigned k = 0; k < HI_DW_SECTIONS; k++) {
			const struct hi_dw_section *section =
				&module->files[i]->sections[k];
			size_t n = section->size < SAMPLE ? section->size : SAMPLE;

			h = hash_bytes(h, &section->size, sizeof(section->size));
			if (n == 0)
				continue;
			h = hash_bytes(h, section->data, n);
			h = hash_bytes(h, section->data + section->size - n, n);
			h = hash_bytes(h, section->data + (section->size - n) / 2, n);
		}
	return h;
}

static bool is_worth_it(const struct hi_type_module *module)
{
	/* Split files may change under the same build-id. */
	for (size_t i = 0; i < module->n_files; i++)
		if (module->files[i]->is_dwo)
			return false;
	return module->module->build_id_size > 0 &&
	       module->files[0]->sections[HI_DW_INFO].size >= CACHE_MIN;
}

static size_t body_size(const struct header *header)
{
	return header->n_types * sizeof(struct hi_index_type) +
	       (header->n_variables + header->n_tls) * sizeof(struct hi_index_variable) +
	       header->n_variables * sizeof(uint32_t);
}

static bool header_fits(const struct header *header, uint64_t identity)
{
	return memcmp(header->magic, magic, sizeof(magic)) == 0 &&
	       header->version == CACHE_VERSION &&
	       header->entry_size == sizeof(struct hi_index_type) &&
	       header->identity == identity && header->n_types < CACHE_ENTRIES_MAX &&
	       header->n_variables < CACHE_ENTRIES_MAX &&
	       header->n_tls < CACHE_ENTRIES_MAX;
}

/* Points the index into a body; false where its numbers cannot be. */
static bool take_body(struct hi_type_index *index, const struct header *header,
		      uint8_t *body)
{
	index->types = (struct hi_index_type *)body;
	index->n_types = header->n_types;
	body += header->n_types * sizeof(struct hi_index_type);
	index->variables = (struct hi_index_variable *)body;
	index->n_variables = header->n_variables;
	body += header->n_variables * sizeof(struct hi_index_variable);
	index->tls = (struct hi_index_variable *)body;
	index->n_tls = header->n_tls;
	body += header->n_tls * sizeof(struct hi_index_variable);
	index->by_name = (uint32_t *)body;
	index->units = header->units;
	for (size_t i = 0; i < index->n_variables; i++)
		if (index->by_name[i] >= index->n_variables)
			return false;
	return true;
}

static bool load_from(struct hi_type_module *module, int fd, uint64_t identity)
{
	struct hi_type_index index = {};
	struct header header;
	struct stat st;
	uint8_t *body;
	size_t size;

	if (fstat(fd, &st) != 0 || !hi_file_read_at(fd, 0, &header, sizeof(header)) ||
	    !header_fits(&header, identity))
		return false;
	size = body_size(&header);
	if ((uint64_t)st.st_size != sizeof(header) + size)
		return false;
	body = hi_alloc(size + 1);
	if (!body)
		return false;
	if (!hi_file_read_at(fd, sizeof(header), body, size) ||
	    hash_bytes(header.identity, body, size) != header.checksum ||
	    !take_body(&index, &header, body)) {
		free(body);
		return false;
	}
	index.mapped = body;
	module->index = index;
	return true;
}

bool hi_type_cache_load(struct hi_type_module *module)
{
	HI_GUARD(close) int dir = -1;
	HI_GUARD(close) int fd = -1;
	uint64_t identity;
	char name[128];

	if (!is_worth_it(module))
		return false;
	dir = hi_cache_open(hi_module_modules(module->module));
	if (dir < 0)
		return false;
	identity = identity_of_type_module(module);
	hi_cache_name(module->module, identity, "types", name);
	fd = hi_cache_open_file(dir, name);
	return fd >= 0 && load_from(module, fd, identity);
}

static uint8_t *make_body(const struct hi_type_index *index, size_t size)
{
	uint8_t *body = hi_alloc(size + 1), *at = body;

	if (!body)
		return NULL;
	memcpy(at, index->types, index->n_types * sizeof(*index->types));
	at += index->n_types * sizeof(*index->types);
	memcpy(at, index->variables, index->n_variables * sizeof(*index->variables));
	at += index->n_variables * sizeof(*index->variables);
	memcpy(at, index->tls, index->n_tls * sizeof(*index->tls));
	at += index->n_tls * sizeof(*index->tls);
	memcpy(at, index->by_name, index->n_variables * sizeof(*index->by_name));
	return body;
}

void hi_type_cache_store(const struct hi_type_module *module)
{
	const struct hi_type_index *index = &module->index;
	HI_GUARD(free) uint8_t *body = NULL;
	HI_GUARD(close) int dir = -1;
	HI_GUARD(close) int fd = -1;
	struct header header = {.version = CACHE_VERSION,
				.entry_size = sizeof(struct hi_index_type),
				.n_types = index->n_types,
				.n_variables = index->n_variables,
				.n_tls = index->n_tls,
				.units = index->units};
	char name[128], temporary[80];
	size_t size = body_size(&header);

	if (!is_worth_it(module))
		return;
	dir = hi_cache_open(hi_module_modules(module->module));
	body = dir < 0 ? NULL : make_body(index, size);
	if (!body)
		return;
	memcpy(header.magic, magic, sizeof(magic));
	header.identity = identity_of_type_module(module);
	header.checksum = hash_bytes(header.identity, body, size);
	hi_cache_name(module->module, header.identity, "types", name);
	fd = hi_cache_create(dir, temporary);
	if (fd < 0)
		return;
	hi_cache_commit(dir, temporary, name,
			hi_file_write_at(fd, 0, &header, sizeof(header)) &&
				hi_file_write_at(fd, sizeof(header), body, size));
}
