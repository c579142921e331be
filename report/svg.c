/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/escape.h"

enum { TEXT_MAX = 4096 };

/* U+FFFE and U+FFFF are UTF-8 and no XML. */
static bool is_no_character(const char *s)
{
	return (unsigned char)s[0] == 0xef && (unsigned char)s[1] == 0xbf &&
	       (unsigned char)s[2] >= 0xbe;
}

static void put_safe(FILE *out, const char *s)
{
	switch (*s) {
	case '&':
		fputs("&amp;", out);
		return;
	case '<':
		fputs("&lt;", out);
		return;
	case '>':
		fputs("&gt;", out);
		return;
	case '"':
		fputs("&quot;", out);
		return;
	case '\'':
		fputs("&#39;", out);
		return;
	default:
		putc(*s, out);
	}
}

void hi_svg_text(FILE *out, const char *text, size_t most)
{
	char safe[4 * TEXT_MAX + 8];
	size_t characters = 0;

	hi_escape_again(safe, sizeof(safe), text, strnlen(text, TEXT_MAX));
	for (const char *s = safe; *s; s++) {
		bool begins = ((unsigned char)*s & 0xc0) != 0x80;

		if (begins && most && ++characters > most) {
			fputs("\xe2\x80\xa6", out);
			return;
		}
		if (is_no_character(s)) {
			fputs("\xef\xbf\xbd", out);
			s += 2;
			continue;
		}
		put_safe(out, s);
	}
}

/* value with that many decimals, rounded; zeros at the end only if asked for. The
 * locale's decimal mark and grouping play no role. */
static void format_fixed(char out[40], double value, unsigned decimals, bool zeros)
{
	double power = pow(10, decimals);
	int64_t scaled = llround(fmin(fabs(value), 9e15 / power) * power);
	int64_t unit = (int64_t)power;
	size_t n;

	n = (size_t)snprintf(out, 40, "%s%" PRId64, value < 0 && scaled ? "-" : "",
			     scaled / unit);
	if (!decimals)
		return;
	snprintf(out + n, 40 - n, ".%0*" PRId64, (int)decimals, scaled % unit);
	for (size_t i = strlen(out) - 1; !zeros && i > n && out[i] == '0'; i--)
		out[i] = 0;
	if (out[strlen(out) - 1] == '.')
		out[n] = 0;
}

void hi_svg_number(FILE *out, double number)
{
	char text[40];

	format_fixed(text, number, 2, false);
	fputs(text, out);
}

void hi_svg_attribute(FILE *out, const char *name, double number)
{
	fprintf(out, " %s=\"", name);
	hi_svg_number(out, number);
	putc('"', out);
}

void hi_svg_box(FILE *out, double x, double y, double width, double height)
{
	hi_svg_attribute(out, "x", x);
	hi_svg_attribute(out, "y", y);
	hi_svg_attribute(out, "width", width);
	hi_svg_attribute(out, "height", height);
}

void hi_svg_point(FILE *out, char letter, double x, double y)
{
	putc(letter, out);
	hi_svg_number(out, x);
	putc(' ', out);
	hi_svg_number(out, y);
}

void hi_svg_line(FILE *out, const char *attributes, double x1, double y1, double x2,
		 double y2)
{
	fprintf(out, "<line %s", attributes);
	hi_svg_attribute(out, "x1", x1);
	hi_svg_attribute(out, "y1", y1);
	hi_svg_attribute(out, "x2", x2);
	hi_svg_attribute(out, "y2", y2);
	fputs("/>\n", out);
}

void hi_svg_label(FILE *out, const char *attributes, double x, double y, const char *text,
		  size_t most)
{
	fprintf(out, "<text%s%s", *attributes ? " " : "", attributes);
	hi_svg_attribute(out, "x", x);
	hi_svg_attribute(out, "y", y);
	putc('>', out);
	hi_svg_text(out, text, most);
	fputs("</text>", out);
}

/* Neighbours differ in hue and in lightness, so that they also differ for red-green
 * colour blindness. */
const char *hi_svg_colour(size_t i)
{
	static const char *const palette[] = {
		"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2",
		"#edc948", "#b07aa1", "#9c755f", "#1f5a8a", "#ff9da7",
		"#86bc40", "#8c3b4a", "#a0cbe8", "#b8860b", "#2f6b4f",
		"#d4a6c8", "#6b5b95", "#ffbe7d", "#499894", "#d37295",
	};

	return palette[i % (sizeof(palette) / sizeof(*palette))];
}

/* Commas between groups of three digits, in front of a decimal point. */
static void group_digits(char out[40], const char *plain)
{
	size_t digits = strcspn(plain, "."), n = 0;

	for (size_t i = 0; plain[i] && n < 38; i++) {
		if (i && i < digits && (digits - i) % 3 == 0 && plain[i - 1] != '-')
			out[n++] = ',';
		out[n++] = plain[i];
	}
	out[n] = 0;
}

static char *format_value(char out[40], double value, struct hi_svg_unit unit, bool axis)
{
	static const char *const names[] = {"B",   "KiB", "MiB", "GiB",
					    "TiB", "PiB", "EiB"};
	char plain[40];
	unsigned i = 0;

	if (!unit.binary) {
		format_fixed(plain, value, fabs(value) < 100 ? 2 : 0, false);
		group_digits(out, plain);
		return out;
	}
	while (i < 6 && fabs(value) >= (axis ? 1024 : 1023.95)) {
		value /= 1024;
		i++;
	}
	if (axis)
		format_fixed(plain, value, 3, false);
	else
		format_fixed(plain, value, fabs(value) < 99.95, i > 0);
	snprintf(out, 40, "%.30s %s", plain, names[i]);
	return out;
}

char *hi_svg_value(char out[40], double value, struct hi_svg_unit unit)
{
	return format_value(out, value, unit, false);
}

char *hi_svg_axis_value(char out[40], double value, struct hi_svg_unit unit)
{
	return format_value(out, value, unit, true);
}

double hi_svg_step(double range, unsigned most, bool binary, bool whole)
{
	double step = binary || whole ? 1 : 1e-6;
	static const double factors[] = {2, 2.5, 2};

	for (unsigned i = 0; range / step > most && step < 1e300; i++)
		step *= binary ? 2 : factors[i % 3];
	return step;
}

char *hi_svg_tick(char out[40], double value, double step)
{
	unsigned decimals = 0;
	char plain[40];

	while (decimals < 6 && fabs(step - round(step)) > 1e-3 * step) {
		step *= 10;
		decimals++;
	}
	format_fixed(plain, value, decimals, true);
	group_digits(out, plain);
	return out;
}
