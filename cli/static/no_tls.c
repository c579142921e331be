/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the portable program: libmicrohttpd refers to GnuTLS, of whose parts there are no
 * archives. The server speaks to this machine only, without TLS, so that nothing of it is
 * called but gnutls_global_init() and gnutls_global_deinit(). Whatever is asked for has
 * failed.
 */
#include <stddef.h>

#define FAILED (-1)

/* Each of them; the types of their arguments do not matter. */
#define FUNCTIONS(X)                                                                     \
	X(gnutls_alpn_set_protocols)                                                     \
	X(gnutls_bye)                                                                    \
	X(gnutls_certificate_allocate_credentials)                                       \
	X(gnutls_certificate_free_credentials)                                           \
	X(gnutls_certificate_server_set_request)                                         \
	X(gnutls_certificate_set_dh_params)                                              \
	X(gnutls_certificate_set_retrieve_function2)                                     \
	X(gnutls_certificate_set_retrieve_function3)                                     \
	X(gnutls_certificate_set_x509_key_mem)                                           \
	X(gnutls_certificate_set_x509_key_mem2)                                          \
	X(gnutls_certificate_set_x509_trust_mem)                                         \
	X(gnutls_cipher_get)                                                             \
	X(gnutls_credentials_set)                                                        \
	X(gnutls_deinit)                                                                 \
	X(gnutls_dh_params_deinit)                                                       \
	X(gnutls_dh_params_import_pkcs3)                                                 \
	X(gnutls_dh_params_init)                                                         \
	X(gnutls_global_deinit)                                                          \
	X(gnutls_handshake)                                                              \
	X(gnutls_init)                                                                   \
	X(gnutls_priority_deinit)                                                        \
	X(gnutls_priority_init)                                                          \
	X(gnutls_priority_set)                                                           \
	X(gnutls_protocol_get_version)                                                   \
	X(gnutls_psk_allocate_server_credentials)                                        \
	X(gnutls_psk_free_server_credentials)                                            \
	X(gnutls_psk_set_server_credentials_function)                                    \
	X(gnutls_record_check_pending)                                                   \
	X(gnutls_record_get_direction)                                                   \
	X(gnutls_record_recv)                                                            \
	X(gnutls_record_send)                                                            \
	X(gnutls_session_get_ptr)                                                        \
	X(gnutls_session_set_ptr)                                                        \
	X(gnutls_transport_set_int2)

#define REFUSE(name)                                                                     \
	long name(void);                                                                 \
	long name(void)                                                                  \
	{                                                                                \
		return FAILED;                                                           \
	}
FUNCTIONS(REFUSE)

int gnutls_global_init(void);
int gnutls_global_init(void)
{
	return 0;
}

const char *gnutls_strerror(int error);
const char *gnutls_strerror(int error)
{
	(void)error;
	return "there is no TLS";
}

/* A variable of a function. */
extern void *(*gnutls_malloc)(size_t);
void *(*gnutls_malloc)(size_t) = NULL;
