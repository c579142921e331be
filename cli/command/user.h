/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the user of the program what the session has to say (session/user.h): lines and
 * the progress on stderr, complaints where they go. */
#ifndef HI_CLI_COMMAND_USER_H
#define HI_CLI_COMMAND_USER_H

void hi_cli_user_be(void);

#endif
