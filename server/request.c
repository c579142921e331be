/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/request.h"

#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "server/token.h"

/* 1 to 65535; 0: it is none. */
static unsigned parse_port(const char *text)
{
	uint64_t port;

	return strlen(text) <= 5 && hi_parse_number(text, 1, 65535, &port)
		       ? (unsigned)port
		       : 0;
}

/* False: a name of another machine. *port_ret: 0: there is none. */
static bool split_local_host(const char *host, unsigned *port_ret)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) != 0)
			continue;
		*port_ret = 0;
		if (!host[n])
			return true;
		*port_ret = host[n] == ':' ? parse_port(host + n + 1) : 0;
		return *port_ret != 0;
	}
	return false;
}

bool hi_request_host_is_local(const char *host)
{
	unsigned port;

	return split_local_host(host, &port);
}

/* Bytes of a name, an IPv4 address, or an IPv6 address in brackets (RFC 3986). */
static size_t measure_host_name(const char *host)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789-._~%!$&'()*+,;=";
	size_t n;

	if (*host != '[')
		return strspn(host, name);
	n = 1 + strspn(host + 1, "0123456789abcdefABCDEF:.");
	return n > 1 && host[n] == ']' ? n + 1 : 0;
}

bool hi_request_host_is_well_formed(const char *host, size_t size)
{
	size_t n = measure_host_name(host);

	if (!n || strlen(host) != size)
		return false;
	return !host[n] || (host[n] == ':' && parse_port(host + n + 1));
}

bool hi_request_origin_is_local(const char *origin, unsigned port, const char *host)
{
	static const char scheme[] = "http://";
	unsigned of_origin, of_host;

	if (strncasecmp(origin, scheme, sizeof(scheme) - 1) != 0 ||
	    !split_local_host(origin + sizeof(scheme) - 1, &of_origin) ||
	    !split_local_host(host, &of_host))
		return false;
	/* Browsers leave 80 out. */
	of_origin = of_origin ? of_origin : 80;
	of_host = of_host ? of_host : 80;
	return of_origin == port || of_origin == of_host;
}

enum hi_request_target hi_request_split(const char *target, const char *token,
					const char **address_ret)
{
	size_t n;

	for (const char *c = target; *c; c++)
		if (*c <= ' ' || *c > '~')
			return HI_REQUEST_NOT_TEXT;
	if (*target != '/')
		return HI_REQUEST_FOREIGN;
	n = strcspn(target + 1, "/?");
	if (!hi_token_is(token, target + 1, n))
		return HI_REQUEST_FOREIGN;
	target += 1 + n;
	*address_ret = *target == '/' ? target + 1 : target;
	return *target == '/' ? HI_REQUEST_PAGE : HI_REQUEST_BASE;
}
