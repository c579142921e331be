/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers with units, as people type them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

bool hi_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *ret)
{
	char *end;
	unsigned long long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || n < low || n > high)
		return false;
	*ret = n;
	return true;
}

struct unit {
	const char *name;
	double factor;
};

/* number × unit, in [0, 2^62]; the name of a unit may be in any case. */
static bool parse_units(const char *text, const struct unit *units, size_t n,
			uint64_t *ret)
{
	char *end;
	double value;

	/* No sign, hex, inf or nan: strtod takes more than people mean. */
	if (strspn(text, "0123456789.") == 0 || strpbrk(text, "xXpP"))
		return false;
	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text)
		return false;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(end, units[i].name) != 0)
			continue;
		value *= units[i].factor;
		if (!(value >= 0) || value > 0x1p62)
			return false;
		*ret = (uint64_t)value;
		return true;
	}
	return false;
}

bool hi_parse_duration(const char *text, uint64_t *ns_ret)
{
	static const struct unit units[] = {{"ns", 1},	{"us", 1e3},   {"ms", 1e6},
					    {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
	uint64_t ns;

	if (!parse_units(text, units, 6, &ns) || ns == 0)
		return false;
	*ns_ret = ns;
	return true;
}

bool hi_parse_size(const char *text, uint64_t *bytes_ret)
{
	static const struct unit units[] = {
		{"", 1},	 {"B", 1},	  {"K", 0x1p10},   {"KB", 0x1p10},
		{"KiB", 0x1p10}, {"M", 0x1p20},	  {"MB", 0x1p20},  {"MiB", 0x1p20},
		{"G", 0x1p30},	 {"GB", 0x1p30},  {"GiB", 0x1p30}, {"T", 0x1p40},
		{"TB", 0x1p40},	 {"TiB", 0x1p40},
	};

	return parse_units(text, units, sizeof(units) / sizeof(units[0]), bytes_ret);
}
