// SPDX-License-Identifier: Apache-2.0
#include "dart_rnic.h"

#include <string.h>

enum {
	ETHERNET_BYTES = 14,
	IP_BYTES = 20,
	UDP_BYTES = 8,
	BTH_BYTES = 12,
	RETH_BYTES = 16,
	ICRC_BYTES = 4,
	LEAST_TOTAL = IP_BYTES + UDP_BYTES + BTH_BYTES + RETH_BYTES + ICRC_BYTES,
	PROTOCOL_UDP = 17,
	UC_WRITE_ONLY = 0x2a,
};

/* Register of the CRC behind the eight bytes of ones that stand for the local route header. */
#define ICRC_SEED 0xdebb20e3u

static inline uint32_t little32(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static inline uint32_t big16(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

static inline uint32_t big32(const uint8_t *bytes)
{
	return __builtin_bswap32(little32(bytes));
}

void dart_rnic_init(struct dart_rnic *rnic, struct dart_store *store, uint32_t *state)
{
	uint32_t byte, k;

	rnic->store = store;
	rnic->state = state;
	rnic->last = state + DART_RNIC_QUEUE_PAIRS_AT;
	for (byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
		rnic->table[0][byte] = crc;
	}
	for (k = 1; k < 8; k++)
		for (byte = 0; byte < 256; byte++)
			rnic->table[k][byte] = rnic->table[k - 1][byte] >> 8 ^
					       rnic->table[0][rnic->table[k - 1][byte] & 255];
}

static inline uint32_t step8(const uint32_t (*table)[256], uint32_t a, uint32_t b)
{
	return table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^
	       table[3][b & 255] ^ table[2][b >> 8 & 255] ^ table[1][b >> 16 & 255] ^ table[0][b >> 24];
}

/* Of a packet from its IP header, without options, to the end of its padding: `length` bytes, 40 or more. */
static inline uint32_t icrc(const uint32_t (*table)[256], const uint8_t *packet, uint32_t length)
{
	const uint8_t *const end = packet + length;
	uint32_t crc = ICRC_SEED;

	/* What routers may change counts as ones: type of service; time to live and header checksum; */
	crc = step8(table, crc ^ (little32(packet) | 0x0000ff00u), little32(packet + 4));
	crc = step8(table, crc ^ (little32(packet + 8) | 0xffff00ffu), little32(packet + 12));
	/* checksum of UDP; congestion bits of the BTH. */
	crc = step8(table, crc ^ little32(packet + 16), little32(packet + 20));
	crc = step8(table, crc ^ (little32(packet + 24) | 0xffff0000u), little32(packet + 28));
	crc = step8(table, crc ^ (little32(packet + 32) | 0x000000ffu), little32(packet + 36));
	for (packet += 40; end - packet >= 8; packet += 8)
		crc = step8(table, crc ^ little32(packet), little32(packet + 4));
	for (; packet < end; packet++)
		crc = crc >> 8 ^ table[0][(crc ^ *packet) & 255];
	return ~crc;
}

static inline uint32_t *queue_pair(struct dart_rnic *rnic, uint32_t number)
{
	uint32_t *pair = rnic->state + DART_RNIC_QUEUE_PAIRS_AT, k;

	if (rnic->state[DART_RNIC_QUEUE_PAIRS] && rnic->last[DART_QP_NUMBER] == number)
		return rnic->last;
	for (k = 0; k < rnic->state[DART_RNIC_QUEUE_PAIRS]; k++, pair += DART_RNIC_ENTRY_WORDS)
		if (pair[DART_QP_NUMBER] == number)
			return rnic->last = pair;
	return NULL;
}

static inline const uint32_t *region(const struct dart_rnic *rnic, uint32_t remote_key)
{
	const uint32_t *entry = rnic->state + DART_RNIC_REGIONS_AT;
	uint32_t k;

	for (k = 0; k < rnic->state[DART_RNIC_REGIONS]; k++, entry += DART_RNIC_ENTRY_WORDS)
		if (entry[DART_REGION_REMOTE_KEY] == remote_key)
			return entry;
	return NULL;
}

static inline uint64_t pair64(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

/* What a frame writes. */
struct write {
	uint64_t offset;
	const uint8_t *payload;
	uint32_t length;
};

static int take(struct dart_rnic *rnic, const uint8_t *frame, uint32_t length, struct write *write)
{
	const uint32_t *state = rnic->state, *entry;
	const uint8_t *ip = frame + ETHERNET_BYTES, *udp = ip + IP_BYTES, *bth = udp + UDP_BYTES;
	const uint8_t *reth = bth + BTH_BYTES;
	uint32_t total, payload, *pair;
	uint64_t offset, size;

	if (length < ETHERNET_BYTES + LEAST_TOTAL || big16(frame + 12) != 0x0800 || ip[0] != 0x45 ||
	    big16(ip + 6) & 0x3fff || ip[9] != PROTOCOL_UDP)
		return 0;
	total = big16(ip + 2);
	if (total < LEAST_TOTAL || total > length - ETHERNET_BYTES || big16(udp + 2) != state[DART_RNIC_PORT] ||
	    big16(udp + 4) != total - IP_BYTES)
		return 0;
	if (bth[0] != UC_WRITE_ONLY || bth[1] & 15 || (big16(bth + 2) ^ state[DART_RNIC_PARTITION_KEY]) & 0x7fff)
		return 0;
	pair = queue_pair(rnic, big32(bth + 4) & 0xffffff);
	if (!pair || pair[DART_QP_SERVICE] || pair[DART_QP_IS_SYNCHRONISED] != 1 || pair[DART_QP_STALE_RUN] ||
	    (big32(bth + 8) & 0xffffff) != pair[DART_QP_EXPECTED])
		return 0;
	entry = region(rnic, big32(reth + 8));
	payload = big32(reth + 12);
	if (!entry || !entry[DART_REGION_CAN_WRITE] || !payload ||
	    payload + (uint64_t)(bth[1] >> 4 & 3) != total - LEAST_TOTAL)
		return 0;
	offset = ((uint64_t)big32(reth) << 32 | big32(reth + 4)) - pair64(entry + DART_REGION_BASE_LOW);
	size = pair64(entry + DART_REGION_SIZE_LOW);
	if (offset > size || payload > size - offset)
		return 0;
	if (state[DART_RNIC_CHECKS_ICRC] &&
	    icrc(rnic->table, ip, total - ICRC_BYTES) != little32(ip + total - ICRC_BYTES))
		return 0;
	pair[DART_QP_EXPECTED] = (pair[DART_QP_EXPECTED] + 1) & 0xffffff;
	*write = (struct write){ offset, reth + RETH_BYTES, payload };
	return 1;
}

uint32_t dart_rnic_run(struct dart_rnic *rnic, const struct dart_keys *frames, uint32_t from, uint32_t to)
{
	struct write writes[DART_BLOCK];
	uint32_t count, k;

	/*
	 * Checked first and written then: so close together, many writes wait for
	 * memory at the same time.
	 */
	do {
		const uint32_t most = to - from < DART_BLOCK ? to - from : DART_BLOCK;

		for (count = 0; count < most; count++, from++)
			if (!take(rnic, frames->bytes + frames->offsets[from], frames->lengths[from], &writes[count]))
				break;
		for (k = 0; k < count; k++)
			dart_write_bytes(rnic->store, writes[k].offset, writes[k].payload, writes[k].length);
	} while (count == DART_BLOCK);
	return from;
}
