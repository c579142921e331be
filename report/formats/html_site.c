/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats/html_site.h"

#include <string.h>

#include "report/formats/html_page.h"
#include "report/views/svg.h"

const char hi_html_policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const struct hi_html_asset *hi_html_asset(const char *name)
{
	static const char style[] = "body{font:14px system-ui,sans-serif}\n";
	static const struct hi_html_asset assets[] = {
		{"style.css", "text/css; charset=utf-8", (const unsigned char *)style,
		 sizeof(style) - 1},
		{"app.js", "text/javascript; charset=utf-8", (const unsigned char *)"\n",
		 1},
	};

	for (size_t i = 0; i < sizeof(assets) / sizeof(*assets); i++)
		if (strcmp(assets[i].name, name) == 0)
			return &assets[i];
	return NULL;
}

static void put_site_link(const struct hi_html_site *site,
			  const struct hi_html_link *link, bool is_current, FILE *out)
{
	const char *href = site->links.href(site->links.arg, link->address);

	if (!href)
		return;
	fputs("<a href=\"", out);
	hi_svg_text(out, href, 0);
	fprintf(out, "\"%s>", is_current ? " aria-current=\"page\"" : "");
	hi_svg_text(out, link->label, 0);
	fputs("</a>\n", out);
}

static void put_site_nav(const struct hi_html_site *site, const char *address, FILE *out)
{
	fputs("<nav>\n", out);
	for (size_t i = 0; i < site->n_nav; i++)
		put_site_link(site, &site->nav[i],
			      address && strcmp(site->nav[i].address, address) == 0, out);
	fputs("</nav>\n", out);
}

static void begin_site(const struct hi_html_site *site, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
	      "<title>",
	      out);
	hi_svg_text(out, site->title, 200);
	fputs("</title>\n", out);
}

enum hi_status hi_html_document(const struct hi_page *page,
				const struct hi_html_site *site, const char *address,
				FILE *out, struct hi_error *err)
{
	enum hi_status status;

	begin_site(site, out);
	fprintf(out, "<link rel=\"stylesheet\" href=\"%s\"/>\n",
		site->links.href(site->links.arg, "style.css"));
	fprintf(out, "<script defer=\"defer\" src=\"%s\"></script></head><body>\n",
		site->links.href(site->links.arg, "app.js"));
	put_site_nav(site, address, out);
	fputs("<main>\n", out);
	status = hi_html_linked_page(page, &site->links, out, err);
	fputs("</main></body></html>\n", out);
	return status;
}

void hi_html_file_begin(const struct hi_html_site *site, FILE *out)
{
	begin_site(site, out);
	fputs("</head><body>\n", out);
	put_site_nav(site, NULL, out);
	fputs("<main>\n", out);
}

enum hi_status hi_html_file_page(const struct hi_page *page,
				 const struct hi_html_site *site, const char *id,
				 FILE *out, struct hi_error *err)
{
	enum hi_status status;

	fprintf(out, "<section id=\"%s\">\n", id);
	status = hi_html_linked_page(page, &site->links, out, err);
	fputs("</section>\n", out);
	return status;
}

void hi_html_file_end(FILE *out)
{
	fputs("</main></body></html>\n", out);
}
