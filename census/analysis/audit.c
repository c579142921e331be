/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/audit.h"

#include <stdlib.h>

const char *hi_known_loss_name(enum hi_known_loss loss)
{
	static const char *const names[HI_KNOWN_LOSSES] = {
		[HI_LOSS_UNKNOWN] = "",
		[HI_LOSS_CYTHON] = "constants of Cython",
		[HI_LOSS_F2PY] = "texts of f2py",
		[HI_LOSS_SIP] = "bound signals of sip"};

	return loss < HI_KNOWN_LOSSES ? names[loss] : "";
}

void hi_audit_deinit(struct hi_audit *audit)
{
	free(audit->rows);
	free(audit->short_rows);
	free(audit->known_rows);
	*audit = (struct hi_audit){};
}
