/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The claims of a request about itself, as text: hostile. A page of another site that the
 * user's browser shows can send requests to this machine, under a name of that site which
 * leads here, too ("DNS rebinding"). So the names in Host and Origin must be names of
 * this machine, and the address must have the token.
 */
#ifndef HI_SERVER_REQUEST_H
#define HI_SERVER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* A name or an address, and a port of 1 to 65535 or none; size: as it was sent, which has
 * no zero byte. False: it is no Host at all. */
bool hi_request_host_is_well_formed(const char *host, size_t size);
/* "127.0.0.1", "localhost" or "[::1]", with a port or without. */
bool hi_request_host_is_local(const char *host);
/* "http://" and such a host, with this port or that of host, the header of the same
 * request. */
bool hi_request_origin_is_local(const char *origin, unsigned port, const char *host);

enum hi_request_target {
	HI_REQUEST_PAGE,     /* of an address */
	HI_REQUEST_BASE,     /* "/TOKEN" without the slash after it */
	HI_REQUEST_FOREIGN,  /* without the token */
	HI_REQUEST_NOT_TEXT, /* bytes that no address has */
};
/* Finds the address in "/TOKEN/ADDRESS", what the first line of a request asks for.
 * *address_ret: a part of target; "" is the first page. */
enum hi_request_target hi_request_split(const char *target, const char *token,
					const char **address_ret);

#endif
