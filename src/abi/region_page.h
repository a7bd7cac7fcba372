/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that all parts of the region use; see region.h. */
#ifndef KYMO_ABI_REGION_PAGE_H
#define KYMO_ABI_REGION_PAGE_H

#define KYMO_PAGE		4096u
/* two 64-byte lines: the adjacent-line prefetcher pairs them */
#define KYMO_LINE		128u
#define KYMO_NAME_MAX		16u	/* a Linux thread name with its NUL */

#endif
