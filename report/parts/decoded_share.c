/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/decoded_share.h"

const char hi_heap_no_allocator_text[] =
	"no known allocator (glibc, jemalloc, tcmalloc, mimalloc, musl)";

static bool has_other_heaps(const struct hi_report_header *header)
{
	return header->not_decoded && *header->not_decoded;
}

enum hi_heap_known hi_heap_known(const struct hi_report_header *header)
{
	if (!header->allocator)
		return HI_HEAP_UNKNOWN;
	return has_other_heaps(header) || header->outside_objects ? HI_HEAP_KNOWN_IN_PART
								  : HI_HEAP_KNOWN;
}

uint64_t hi_heap_if_known(const struct hi_report_header *header, uint64_t n)
{
	return hi_heap_known(header) == HI_HEAP_KNOWN ? n : UINT64_MAX;
}

const char *hi_heap_unknown_text(const struct hi_report_header *header,
				 struct hi_page *page)
{
	char objects[32], bytes[24];

	if (hi_heap_known(header) == HI_HEAP_KNOWN)
		return "";
	if (has_other_heaps(header))
		return hi_page_printf(page, "%s: its heap is not decoded",
				      hi_page_safe(page, header->not_decoded));
	if (!header->allocator)
		return hi_heap_no_allocator_text;
	return hi_page_printf(page, "%s objects (%s) lie outside the known allocators",
			      hi_count(objects, header->outside_objects),
			      hi_bytes(bytes, header->outside_bytes));
}

const char *hi_heap_at_least(const struct hi_report_header *header)
{
	return hi_heap_known(header) == HI_HEAP_KNOWN ? "" : "≥ ";
}

const char *hi_heap_live_text(const struct hi_report_header *header, uint64_t bytes,
			      uint64_t objects, struct hi_page *page)
{
	const char *plural = objects == 1 ? "" : "s";
	char size[24], n[32];

	hi_bytes(size, bytes);
	hi_count(n, objects);
	if (hi_heap_known(header) == HI_HEAP_UNKNOWN)
		return hi_page_printf(page,
				      "≥ %s in ≥ %s object%s that %s lead to (a lower "
				      "bound: the heap itself is unknown)",
				      size, n, plural,
				      header->runtime ? "the runtime and typed pointers"
						      : "typed pointers");
	return hi_page_printf(page, "%s%s live in %s object%s", hi_heap_at_least(header),
			      size, n, plural);
}

void hi_heap_known_json(const struct hi_report_header *header, struct hi_json *json)
{
	static const char *const words[] = {[HI_HEAP_KNOWN] = "all",
					    [HI_HEAP_KNOWN_IN_PART] = "part",
					    [HI_HEAP_UNKNOWN] = "none"};

	hi_json_object(json, "heap");
	hi_json_text(json, "known", words[hi_heap_known(header)]);
	hi_json_text(json, "not_decoded",
		     has_other_heaps(header) ? header->not_decoded : NULL);
	hi_json_number(json, "outside_objects", header->outside_objects);
	hi_json_number(json, "outside_bytes", header->outside_bytes);
	hi_json_end(json);
}

void hi_heap_leaks_json(const struct hi_report_header *header, uint64_t bytes,
			uint64_t objects, struct hi_json *json)
{
	if (hi_heap_known(header) != HI_HEAP_KNOWN_IN_PART)
		return;
	hi_json_object(json, "at_least");
	hi_json_number(json, "bytes", bytes);
	hi_json_number(json, "objects", objects);
	hi_json_end(json);
}
