/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/elf_unpacked.h"

#include <endian.h>
#include <string.h>

/* ".zdebug_info" of older tools: "ZLIB", then the size, the highest byte first. */
static uint64_t old_unpacked_size(Elf_Scn *scn)
{
	static const char magic[] = {'Z', 'L', 'I', 'B'};
	Elf_Data *data = elf_rawdata(scn, NULL);
	uint64_t size;

	if (!data || !data->d_buf || data->d_size < sizeof(magic) + sizeof(size) ||
	    memcmp(data->d_buf, magic, sizeof(magic)) != 0)
		return 0;
	memcpy(&size, (const char *)data->d_buf + sizeof(magic), sizeof(size));
	return be64toh(size);
}

static uint64_t unpacked_size(Elf *elf, Elf_Scn *scn, size_t strings)
{
	GElf_Shdr shdr;
	GElf_Chdr chdr;
	const char *name;

	if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
		return 0;
	if (shdr.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &chdr) ? chdr.ch_size : 0;
	name = elf_strptr(elf, strings, shdr.sh_name);
	return name && strncmp(name, ".zdebug", 7) == 0 ? old_unpacked_size(scn) : 0;
}

enum hi_status hi_elf_unpacked_take(Elf *elf, const char *name, struct hi_unpacked *file,
				    uint64_t *bytes_ret, struct hi_error *err)
{
	uint64_t bytes = 0;
	Elf_Scn *scn = NULL;
	size_t strings, size = 0;
	enum hi_status status;

	*bytes_ret = 0;
	(void)elf_rawfile(elf, &size);
	file->file_size = size;
	if (elf_getshdrstrndx(elf, &strings) != 0)
		return HI_OK;
	while ((scn = elf_nextscn(elf, scn)) != NULL)
		if (__builtin_add_overflow(bytes, unpacked_size(elf, scn, strings),
					   &bytes))
			bytes = UINT64_MAX / 2;
	status = hi_unpacked_take(file, bytes, name, "its debug information", err);
	if (status == HI_OK)
		*bytes_ret = bytes;
	return status;
}
