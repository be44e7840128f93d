// SPDX-License-Identifier: Apache-2.0
/*
 * Hashes of keys: XXH64, of which each use makes 32 bits of its own, or CRC-32
 * with a polynomial for each use. See src/store/hashes.ts of @int/dart. Uses go
 * through loops that compilers turn into vector instructions.
 */
#include "dart.h"

#include <stdlib.h>
#include <string.h>

#define P1 0x9e3779b185ebca87u
#define P2 0xc2b2ae3d27d4eb4fu
#define P3 0x165667b19e3779f9u
#define P4 0x85ebca77c2b2ae63u
#define P5 0x27d4eb2f165667c5u

/* A table for each byte of a 13-byte key, so that the look-ups do not wait for one another. */
enum { TABLES = DART_FLOW_KEY_BYTES, LANES = 4 };

/* The registers of four CRCs side by side. */
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

struct dart_crc {
	/* [use][zeros that follow][byte] */
	uint32_t one[DART_MAX_COPIES + 1][TABLES][256];
	/* The same for uses 0 to 3 and 4 to 7. */
	lanes four[2][TABLES][256];
};

static inline uint64_t rotl(uint64_t word, int by)
{
	return word << by | word >> (64 - by);
}

static inline uint32_t load32(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static inline uint64_t load64(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static inline uint64_t round_lane(uint64_t accumulator, uint64_t lane)
{
	return rotl(accumulator + lane * P2, 31) * P1;
}

static inline uint64_t merge(uint64_t hash, uint64_t accumulator)
{
	return (hash ^ round_lane(0, accumulator)) * P1 + P4;
}

static inline uint64_t mix_lane(uint64_t hash, uint64_t lane)
{
	return rotl(hash ^ round_lane(0, lane), 27) * P1 + P4;
}

static inline uint64_t mix_word(uint64_t hash, uint32_t word)
{
	return rotl(hash ^ word * P1, 23) * P2 + P3;
}

static inline uint64_t mix_byte(uint64_t hash, uint8_t byte)
{
	return rotl(hash ^ byte * P5, 11) * P1;
}

static inline uint64_t avalanche(uint64_t hash)
{
	hash = (hash ^ hash >> 33) * P2;
	hash = (hash ^ hash >> 29) * P3;
	return hash ^ hash >> 32;
}

static inline uint64_t xxh64_13(const uint8_t *key, uint64_t seed)
{
	const uint64_t hash = mix_lane(seed + P5 + DART_FLOW_KEY_BYTES, load64(key));

	return avalanche(mix_byte(mix_word(hash, load32(key + 8)), key[12]));
}

static uint64_t xxh64(const uint8_t *bytes, uint32_t length, uint64_t seed)
{
	const uint8_t *const end = bytes + length;
	uint64_t hash = seed + P5;

	if (length >= 32) {
		uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;

		for (; end - bytes >= 32; bytes += 32) {
			a = round_lane(a, load64(bytes));
			b = round_lane(b, load64(bytes + 8));
			c = round_lane(c, load64(bytes + 16));
			d = round_lane(d, load64(bytes + 24));
		}
		hash = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18);
		hash = merge(merge(merge(merge(hash, a), b), c), d);
	}
	hash += length;
	for (; end - bytes >= 8; bytes += 8)
		hash = mix_lane(hash, load64(bytes));
	if (end - bytes >= 4) {
		hash = mix_word(hash, load32(bytes));
		bytes += 4;
	}
	for (; bytes < end; bytes++)
		hash = mix_byte(hash, *bytes);
	return avalanche(hash);
}

/* The finaliser of MurmurHash3. */
static inline uint32_t finalise(uint32_t word)
{
	word = (word ^ word >> 16) * 0x85ebca6bu;
	word = (word ^ word >> 13) * 0xc2b2ae35u;
	return word ^ word >> 16;
}

/* Eight bytes a step, then one. */
static uint32_t crc32(const uint32_t (*table)[256], const uint8_t *bytes, uint32_t length)
{
	uint32_t crc = ~0u;

	for (; length >= 8; length -= 8, bytes += 8) {
		const uint32_t a = crc ^ load32(bytes), b = load32(bytes + 4);

		crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^
		      table[4][a >> 24] ^ table[3][b & 255] ^ table[2][b >> 8 & 255] ^
		      table[1][b >> 16 & 255] ^ table[0][b >> 24];
	}
	while (length--)
		crc = crc >> 8 ^ table[0][(crc ^ *bytes++) & 255];
	return ~crc;
}

/* All bits of the initial register are ones: those of the first four bytes turn over. */
static inline uint32_t crc32_13(const uint32_t (*table)[256], const uint8_t *key)
{
	const uint32_t a = ~load32(key);

	return ~(table[12][a & 255] ^ table[11][a >> 8 & 255] ^ table[10][a >> 16 & 255] ^
		 table[9][a >> 24] ^ table[8][key[4]] ^ table[7][key[5]] ^ table[6][key[6]] ^
		 table[5][key[7]] ^ table[4][key[8]] ^ table[3][key[9]] ^ table[2][key[10]] ^
		 table[1][key[11]] ^ table[0][key[12]]);
}

static inline lanes crc32_13_lanes(const lanes (*table)[256], const uint8_t *key)
{
	const uint32_t a = ~load32(key);

	return ~(table[12][a & 255] ^ table[11][a >> 8 & 255] ^ table[10][a >> 16 & 255] ^
		 table[9][a >> 24] ^ table[8][key[4]] ^ table[7][key[5]] ^ table[6][key[6]] ^
		 table[5][key[7]] ^ table[4][key[8]] ^ table[3][key[9]] ^ table[2][key[10]] ^
		 table[1][key[11]] ^ table[0][key[12]]);
}

static uint32_t reverse(uint32_t word)
{
	uint32_t reversed = 0, bit;

	for (bit = 0; bit < 32; bit++, word >>= 1)
		reversed = reversed << 1 | (word & 1);
	return reversed;
}

static void make_table(uint32_t (*table)[256], uint32_t polynomial)
{
	const uint32_t reflected = reverse(polynomial);
	uint32_t byte, k;

	for (byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? reflected : 0);
		table[0][byte] = crc;
	}
	for (k = 1; k < TABLES; k++)
		for (byte = 0; byte < 256; byte++)
			table[k][byte] = table[k - 1][byte] >> 8 ^ table[0][table[k - 1][byte] & 255];
}

int dart_hashes_init(struct dart_hashes *hashes, int crc, uint32_t count, const uint32_t *slots,
		     uint32_t checksum, uint32_t key)
{
	uint32_t use, k, byte;

	hashes->count = count;
	hashes->key = key;
	memcpy(hashes->parameter, slots, count * sizeof(*slots));
	hashes->parameter[count] = checksum;
	hashes->crc = NULL;
	if (!crc)
		return 1;
	hashes->crc = aligned_alloc(64, (sizeof(*hashes->crc) + 63) / 64 * 64);
	if (!hashes->crc)
		return 0;
	memset(hashes->crc, 0, sizeof(*hashes->crc));
	for (use = 0; use <= count; use++) {
		make_table(hashes->crc->one[use], hashes->parameter[use]);
		if (use == DART_MAX_COPIES)
			break;
		for (k = 0; k < TABLES; k++)
			for (byte = 0; byte < 256; byte++)
				hashes->crc->four[use / LANES][k][byte][use % LANES] =
					hashes->crc->one[use][k][byte];
	}
	return 1;
}

void dart_hashes_free(struct dart_hashes *hashes)
{
	free(hashes->crc);
	hashes->crc = NULL;
}

static void xxh64_block(const struct dart_hashes *hashes, const struct dart_keys *keys,
			uint32_t from, uint32_t count, uint32_t slots, struct dart_block *out)
{
	uint32_t low[DART_BLOCK], high[DART_BLOCK];
	uint32_t use, k;

	for (k = 0; k < count; k++) {
		const uint8_t *key = keys->bytes + keys->offsets[from + k];
		const uint32_t length = keys->lengths[from + k];
		const uint64_t hash = length == DART_FLOW_KEY_BYTES ? xxh64_13(key, hashes->key) :
								      xxh64(key, length, hashes->key);

		low[k] = hash;
		high[k] = hash >> 32;
	}
	for (use = 0; use <= hashes->count; use = use + 1 == slots ? hashes->count : use + 1) {
		const uint32_t seed = hashes->parameter[use];
		uint32_t *restrict hashed = out->hash[use];

		for (k = 0; k < count; k++)
			hashed[k] = low[k] ^ finalise(high[k] + seed);
	}
}

/* Four hashes at a time; one that is left over by itself. */
static void crc32_block_13(const struct dart_hashes *hashes, const struct dart_keys *keys,
			   uint32_t from, uint32_t count, uint32_t slots, struct dart_block *out)
{
	const struct dart_crc *crc = hashes->crc;
	uint32_t use, k;

	for (k = 0; k < count; k++) {
		const uint8_t *key = keys->bytes + keys->offsets[from + k];

		for (use = 0; use + LANES <= slots; use += LANES) {
			const lanes four = crc32_13_lanes(crc->four[use / LANES], key);
			uint32_t lane;

			for (lane = 0; lane < LANES; lane++)
				out->hash[use + lane][k] = four[lane];
		}
		for (; use < slots; use++)
			out->hash[use][k] = crc32_13(crc->one[use], key);
		out->hash[hashes->count][k] = crc32_13(crc->one[hashes->count], key);
	}
}

void dart_hash_block(const struct dart_hashes *hashes, const struct dart_keys *keys, uint32_t from,
		     uint32_t count, uint32_t slots, struct dart_block *out)
{
	uint32_t other = 0, use, k;

	if (!hashes->crc) {
		xxh64_block(hashes, keys, from, count, slots, out);
		return;
	}
	for (k = 0; k < count; k++)
		other |= keys->lengths[from + k] ^ DART_FLOW_KEY_BYTES;
	if (!other) {
		crc32_block_13(hashes, keys, from, count, slots, out);
		return;
	}
	for (k = 0; k < count; k++) {
		const uint8_t *key = keys->bytes + keys->offsets[from + k];
		const uint32_t length = keys->lengths[from + k];

		for (use = 0; use <= hashes->count; use = use + 1 == slots ? hashes->count : use + 1)
			out->hash[use][k] = crc32(hashes->crc->one[use], key, length);
	}
}
