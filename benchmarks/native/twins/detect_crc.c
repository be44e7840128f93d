// SPDX-License-Identifier: Apache-2.0
#include "detect_crc.h"

uint32_t detect_crc_table[DETECT_CRC_TABLES][256];

void detect_crc_init(void)
{
	uint32_t byte, k;

	for (byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
		detect_crc_table[0][byte] = crc;
	}
	for (k = 1; k < DETECT_CRC_TABLES; k++) {
		for (byte = 0; byte < 256; byte++) {
			uint32_t crc = detect_crc_table[k - 1][byte];

			detect_crc_table[k][byte] =
				crc >> 8 ^ detect_crc_table[0][crc & 255];
		}
	}
}
