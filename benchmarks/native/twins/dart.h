/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store of hashed slots: the C twin of @int/dart. Same layout, byte for byte,
 * same hashes, same marks, same answers. A store is one segment here.
 *
 * The segment lies in one block: a header of little-endian words, the marks, the
 * slots. See layout.ts of @int/dart, which says what each word is.
 */
#ifndef INT_DART_H
#define INT_DART_H

#include <stddef.h>
#include <stdint.h>

enum {
	DART_MAGIC = 0x54524144,
	DART_VERSION = 1,
	DART_HEADER_BYTES = 512,
	DART_MAX_COPIES = 8,
	DART_MAX_VALUE_BYTES = 1024,
	/* Rows that are hashed together, before their slots are touched. */
	DART_BLOCK = 64,
	DART_FLOW_KEY_BYTES = 13,
};

/* Words of the header. */
enum {
	DART_HEAD_MAGIC = 0,
	DART_HEAD_VERSION = 1,
	DART_HEAD_VALUE_BYTES = 2,
	DART_HEAD_CHECKSUM_BITS = 3,
	DART_HEAD_COPIES = 4,
	DART_HEAD_SLOTS = 5,
	DART_HEAD_SEGMENTS = 6,
	DART_HEAD_FIRST_SLOT = 8,
	DART_HEAD_SEGMENT_SLOTS = 9,
	DART_HEAD_PAGE_SHIFT = 10,
	DART_HEAD_PAGES = 11,
	DART_HEAD_BEGUN_AT = 12,
	DART_HEAD_DONE_AT = 13,
	DART_HEAD_SLOTS_AT = 14,
	DART_HEAD_FAMILY = 15,		/* 0 xxhash, 1 CRC-32 */
	DART_HEAD_SLOT_PARAMETERS = 16,
	DART_HEAD_CHECKSUM_PARAMETER = 24,
	DART_HEAD_SLOT_WRITES = 30,	/* 64 bits */
	DART_HEAD_KEY_WRITES = 32,	/* 64 bits */
	DART_HEAD_KEY_PARAMETER = 34,
};

/* What became of a query. */
enum { DART_VALUE = 0, DART_ABSENT = 1, DART_CONFLICT = 2 };

enum dart_mode {
	DART_PLAIN,
	/* Touches the slots of the next block while those of this one are written or read. */
	DART_PREFETCH,
};

struct dart_crc;

/* N hashes for the slots of a key, and one for its checksum: seeds or polynomials. */
struct dart_hashes {
	uint32_t count;		/* N */
	uint32_t key;		/* seed of XXH64 */
	uint32_t parameter[DART_MAX_COPIES + 1];	/* the checksum's comes last, at N */
	struct dart_crc *crc;	/* NULL: XXH64 */
};

struct dart_store {
	uint32_t *header, *begun, *done;
	uint8_t *slot;
	uint32_t slots, copies, page_shift;
	uint32_t value_bytes, checksum_bits, checksum_bytes, slot_bytes;
	/* 2^64 / slots, rounded up: a remainder without a division. */
	uint64_t reciprocal;
	struct dart_hashes hashes;
};

/* Key i is bytes[offsets[i] .. offsets[i] + lengths[i]). */
struct dart_keys {
	const uint8_t *bytes;
	const uint32_t *offsets, *lengths;
};

/* Answer i's value is values[i * value_bytes ..], undefined unless status[i] is DART_VALUE. */
struct dart_answers {
	uint8_t *status, *matching, *agreeing, *values;
};

/* Where the keys of a block lie: hashes while they are computed, then slots and checksums. */
struct dart_block {
	uint32_t hash[DART_MAX_COPIES + 1][DART_BLOCK];
};

/* Takes a segment as its header describes it; 0 if it is not a whole store of this layout. */
int dart_attach(struct dart_store *store, void *segment, size_t bytes);
void dart_detach(struct dart_store *store);

/* Writes rows from to to - 1 into the first `copies` slots of their keys. Value i is values[i * value_bytes ..]. */
void dart_write(struct dart_store *store, enum dart_mode mode, const struct dart_keys *keys,
		const uint8_t *values, uint32_t from, uint32_t to, uint32_t copies);

/* Writes each row into one slot of its key, that of copy which[i]. */
void dart_write_copy(struct dart_store *store, enum dart_mode mode, const struct dart_keys *keys,
		     const uint8_t *values, const uint8_t *which, uint32_t from, uint32_t to);

/* Policy 0: a single distinct value; else plurality of at least `policy` slots. */
void dart_query(const struct dart_store *store, enum dart_mode mode, const struct dart_keys *keys,
		uint32_t policy, const struct dart_answers *out, uint32_t from, uint32_t to);

/* Writes a range of the slots' bytes, as RDMA does; it must lie inside them. */
void dart_write_bytes(struct dart_store *store, uint64_t offset, const uint8_t *source, uint32_t length);

/* The hashes of up to DART_BLOCK keys: those of the first `slots` slots, and of the checksum. */
void dart_hash_block(const struct dart_hashes *hashes, const struct dart_keys *keys, uint32_t from,
		     uint32_t count, uint32_t slots, struct dart_block *out);

/* 0 if there is no memory for the tables. */
int dart_hashes_init(struct dart_hashes *hashes, int crc, uint32_t count, const uint32_t *slots,
		     uint32_t checksum, uint32_t key);
void dart_hashes_free(struct dart_hashes *hashes);

#endif
