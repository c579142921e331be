/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/live_screen.h"

#include <string.h>

#include "base/text.h"

struct hi_live_screen hi_live_screen_make(const struct hi_text_options *looks, FILE *out)
{
	return (struct hi_live_screen){
		.style = {out, looks->width, looks->color, looks->utf8}};
}

void hi_live_end_line(const struct hi_live_screen *s)
{
	fputs(s->plain ? "\n" : "\033[K\n", s->style.out);
}

void hi_live_put_text(struct hi_live_screen *s, const char *text, unsigned columns,
		      bool fill)
{
	char safe[4 * 1024];
	const char *fit;
	unsigned taken;

	hi_text_escape(safe, sizeof(safe), text, strnlen(text, sizeof(safe) / 4));
	fit = hi_text_fit(&s->style, &s->arena, safe, columns);
	s->failed |= !fit;
	if (!fit)
		return;
	fputs(fit, s->style.out);
	taken = hi_text_columns(&s->style, fit);
	if (fill && taken < columns)
		fprintf(s->style.out, "%*s", (int)(columns - taken), "");
}

void hi_live_put_line_text(struct hi_live_screen *s, const char *text, char color)
{
	if (color)
		hi_text_color(&s->style, color);
	hi_live_put_text(s, text, s->style.width - 1, false);
	if (color)
		hi_text_color(&s->style, 0);
}

void hi_live_put_line(struct hi_live_screen *s, const char *text, char color)
{
	hi_live_put_line_text(s, text, color);
	hi_live_end_line(s);
}

void hi_live_put_block(const struct hi_live_screen *s, uint64_t value, uint64_t largest)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {" ", "_", "_", ".", "-", "=", "+", "*", "#"};
	/* Anything that is there is seen. */
	unsigned height = value ? 1 + (unsigned)((double)value * 7 / (double)largest) : 0;

	fputs(s->style.utf8 ? blocks[height] : ascii[height], s->style.out);
}
