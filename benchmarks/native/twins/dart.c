// SPDX-License-Identifier: Apache-2.0
#include "dart.h"

#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

int dart_attach(struct dart_store *store, void *segment, size_t bytes)
{
	uint32_t *header = segment;
	uint64_t pages;

	if (bytes < DART_HEADER_BYTES || header[DART_HEAD_MAGIC] != DART_MAGIC ||
	    header[DART_HEAD_VERSION] != DART_VERSION || header[DART_HEAD_SEGMENTS] != 1)
		return 0;
	*store = (struct dart_store){
		.header = header,
		.begun = (uint32_t *)((uint8_t *)segment + header[DART_HEAD_BEGUN_AT]),
		.done = (uint32_t *)((uint8_t *)segment + header[DART_HEAD_DONE_AT]),
		.slot = (uint8_t *)segment + header[DART_HEAD_SLOTS_AT],
		.slots = header[DART_HEAD_SLOTS],
		.copies = header[DART_HEAD_COPIES],
		.page_shift = header[DART_HEAD_PAGE_SHIFT],
		.value_bytes = header[DART_HEAD_VALUE_BYTES],
		.checksum_bits = header[DART_HEAD_CHECKSUM_BITS],
		.checksum_bytes = (header[DART_HEAD_CHECKSUM_BITS] + 7) / 8,
	};
	store->slot_bytes = store->checksum_bytes + store->value_bytes;
	if (!store->slots || store->page_shift > 31 || store->checksum_bits < 8 || store->checksum_bits > 32 ||
	    !store->value_bytes || store->value_bytes > DART_MAX_VALUE_BYTES || !store->copies ||
	    store->copies > DART_MAX_COPIES)
		return 0;
	pages = ((uint64_t)store->slots + (1u << store->page_shift) - 1) >> store->page_shift;
	if (header[DART_HEAD_PAGES] != pages || header[DART_HEAD_BEGUN_AT] + pages * 4 > bytes ||
	    header[DART_HEAD_DONE_AT] + pages * 4 > bytes ||
	    header[DART_HEAD_SLOTS_AT] + (uint64_t)store->slots * store->slot_bytes > bytes)
		return 0;
	store->reciprocal = UINT64_MAX / store->slots + 1;
	return dart_hashes_init(&store->hashes, header[DART_HEAD_FAMILY] == 1, store->copies,
				header + DART_HEAD_SLOT_PARAMETERS, header[DART_HEAD_CHECKSUM_PARAMETER],
				header[DART_HEAD_KEY_PARAMETER]);
}

void dart_detach(struct dart_store *store)
{
	dart_hashes_free(&store->hashes);
}

static inline void add(uint32_t *counter, uint64_t count)
{
	const uint64_t sum = (counter[0] | (uint64_t)counter[1] << 32) + count;

	counter[0] = sum;
	counter[1] = sum >> 32;
}

/* hash % slots (D. Lemire et al., "Faster remainder by direct computation", 2019). */
static inline uint32_t slot_of(const struct dart_store *store, uint32_t hash)
{
	return ((unsigned __int128)(store->reciprocal * hash) * store->slots) >> 64;
}

static inline uint32_t cut(uint32_t hash, uint32_t bits)
{
	hash &= ~0u >> (32 - bits);
	return hash ? hash : 1;
}

/* Hashes a block, turns hashes into slots and checksums, and asks for the slots if that is wanted. */
static ALWAYS_INLINE void locate(const struct dart_store *store, enum dart_mode mode, int to_write,
				 const struct dart_keys *keys, uint32_t from, uint32_t count,
				 uint32_t copies, uint32_t slot_bytes, struct dart_block *block)
{
	uint32_t *checksum = block->hash[store->copies];
	uint32_t copy, k;

	dart_hash_block(&store->hashes, keys, from, count, copies, block);
	for (copy = 0; copy < copies; copy++)
		for (k = 0; k < count; k++)
			block->hash[copy][k] = slot_of(store, block->hash[copy][k]);
	for (k = 0; k < count; k++)
		checksum[k] = cut(checksum[k], store->checksum_bits);
	if (mode != DART_PREFETCH)
		return;
	for (k = 0; k < count; k++) {
		for (copy = 0; copy < copies; copy++) {
			const uint8_t *slot = store->slot + (size_t)block->hash[copy][k] * slot_bytes;

			/* A slot of more than eight bytes may lie across two lines. */
			if (to_write) {
				__builtin_prefetch(slot, 1);
				__builtin_prefetch(slot + slot_bytes - 1, 1);
			} else {
				__builtin_prefetch(slot, 0);
				__builtin_prefetch(slot + slot_bytes - 1, 0);
			}
		}
	}
}

static ALWAYS_INLINE void put(struct dart_store *store, uint32_t slot, uint32_t checksum,
			      const uint8_t *value, uint32_t checksum_bytes, uint32_t value_bytes)
{
	const uint32_t big_endian = __builtin_bswap32(checksum << 8 * (4 - checksum_bytes));
	uint8_t *to = store->slot + (size_t)slot * (checksum_bytes + value_bytes);
	uint32_t *begun = store->begun + (slot >> store->page_shift);

	store->done[slot >> store->page_shift] = ++*begun;
	memcpy(to, &big_endian, checksum_bytes);
	memcpy(to + checksum_bytes, value, value_bytes);
}

/* The sizes are constants where this is called for the usual slots of 24 bytes. */
static ALWAYS_INLINE void write_rows(struct dart_store *store, enum dart_mode mode,
				     const struct dart_keys *keys, const uint8_t *values, uint32_t from,
				     uint32_t to, uint32_t copies, uint32_t checksum_bytes, uint32_t value_bytes)
{
	struct dart_block blocks[2];
	const uint32_t slot_bytes = checksum_bytes + value_bytes;
	uint32_t turn = 0, copy, k;

	if (mode == DART_PREFETCH && from < to)
		locate(store, mode, 1, keys, from, to - from < DART_BLOCK ? to - from : DART_BLOCK, copies,
		       slot_bytes, &blocks[0]);
	for (; from < to; turn ^= 1) {
		const uint32_t count = to - from < DART_BLOCK ? to - from : DART_BLOCK;
		const uint32_t next = from + count;
		struct dart_block *block = &blocks[turn];

		if (mode != DART_PREFETCH)
			locate(store, mode, 1, keys, from, count, copies, slot_bytes, block);
		else if (next < to)
			locate(store, mode, 1, keys, next, to - next < DART_BLOCK ? to - next : DART_BLOCK,
			       copies, slot_bytes, &blocks[turn ^ 1]);
		for (k = 0; k < count; k++)
			for (copy = 0; copy < copies; copy++)
				put(store, block->hash[copy][k], block->hash[store->copies][k],
				    values + (size_t)(from + k) * value_bytes, checksum_bytes, value_bytes);
		from = next;
	}
}

void dart_write(struct dart_store *store, enum dart_mode mode, const struct dart_keys *keys,
		const uint8_t *values, uint32_t from, uint32_t to, uint32_t copies)
{
	const int usual = store->checksum_bytes == 4 && store->value_bytes == 20;

	if (usual && copies == 2)
		write_rows(store, mode, keys, values, from, to, 2, 4, 20);
	else if (usual && copies == 4)
		write_rows(store, mode, keys, values, from, to, 4, 4, 20);
	else
		write_rows(store, mode, keys, values, from, to, copies, store->checksum_bytes,
			   store->value_bytes);
	add(store->header + DART_HEAD_KEY_WRITES, to - from);
	add(store->header + DART_HEAD_SLOT_WRITES, (uint64_t)(to - from) * copies);
}

void dart_write_copy(struct dart_store *store, enum dart_mode mode, const struct dart_keys *keys,
		     const uint8_t *values, const uint8_t *which, uint32_t from, uint32_t to)
{
	const uint32_t rows = to - from;
	struct dart_block block;
	uint32_t k;

	while (from < to) {
		const uint32_t count = to - from < DART_BLOCK ? to - from : DART_BLOCK;
		uint32_t copies = 0;

		for (k = 0; k < count; k++)
			if (which[from + k] >= copies)
				copies = which[from + k] + 1;
		locate(store, mode, 1, keys, from, count, copies, store->slot_bytes, &block);
		for (k = 0; k < count; k++)
			put(store, block.hash[which[from + k]][k], block.hash[store->copies][k],
			    values + (size_t)(from + k) * store->value_bytes, store->checksum_bytes,
			    store->value_bytes);
		from += count;
	}
	add(store->header + DART_HEAD_KEY_WRITES, rows);
	add(store->header + DART_HEAD_SLOT_WRITES, rows);
}

/* Which of the values is the answer: -1 for none, though there are some. */
static ALWAYS_INLINE int decide(const uint8_t *const *value, uint32_t count, uint32_t value_bytes,
				uint32_t policy, uint32_t *agreeing)
{
	uint32_t most = 0, first = 0, tied = 0, k, other;

	if (count == 1) {
		*agreeing = 1;
		return policy <= 1 ? 0 : -1;
	}
	for (k = 0; k < count; k++) {
		uint32_t found = 1;

		/* Counted from its first occurrence, which has the whole count. */
		for (other = 0; other < k; other++)
			if (!memcmp(value[other], value[k], value_bytes))
				break;
		if (other < k)
			continue;
		for (other = k + 1; other < count; other++)
			found += !memcmp(value[other], value[k], value_bytes);
		if (found == most) {
			tied = 1;
		} else if (found > most) {
			most = found;
			first = k;
			tied = 0;
		}
	}
	*agreeing = most;
	return (policy ? !tied && most >= policy : most == count) ? (int)first : -1;
}

static ALWAYS_INLINE void answer(const struct dart_store *store, const struct dart_block *block,
				 uint32_t k, uint32_t policy, const struct dart_answers *out, uint32_t row,
				 uint32_t copies, uint32_t checksum_bytes, uint32_t value_bytes)
{
	const uint32_t checksum = block->hash[copies][k];
	const uint32_t big_endian = __builtin_bswap32(checksum << 8 * (4 - checksum_bytes));
	const uint8_t *value[DART_MAX_COPIES];
	uint32_t count = 0, agreeing, copy, other;
	int chosen;

	for (copy = 0; copy < copies; copy++) {
		const uint32_t slot = block->hash[copy][k];
		const uint8_t *at = store->slot + (size_t)slot * (checksum_bytes + value_bytes);

		if (memcmp(at, &big_endian, checksum_bytes))
			continue;
		/* A slot that two hashes choose counts once. */
		for (other = 0; other < copy && block->hash[other][k] != slot; other++)
			;
		if (other == copy)
			value[count++] = at + checksum_bytes;
	}
	out->matching[row] = count;
	out->agreeing[row] = 0;
	if (!count) {
		out->status[row] = DART_ABSENT;
		return;
	}
	chosen = decide(value, count, value_bytes, policy, &agreeing);
	if (chosen < 0) {
		out->status[row] = DART_CONFLICT;
		return;
	}
	out->status[row] = DART_VALUE;
	out->agreeing[row] = agreeing;
	memcpy(out->values + (size_t)row * value_bytes, value[chosen], value_bytes);
}

static ALWAYS_INLINE void query_rows(const struct dart_store *store, enum dart_mode mode,
				     const struct dart_keys *keys, uint32_t policy,
				     const struct dart_answers *out, uint32_t from, uint32_t to,
				     uint32_t copies, uint32_t checksum_bytes, uint32_t value_bytes)
{
	struct dart_block blocks[2];
	const uint32_t slot_bytes = checksum_bytes + value_bytes;
	uint32_t turn = 0, k;

	if (mode == DART_PREFETCH && from < to)
		locate(store, mode, 0, keys, from, to - from < DART_BLOCK ? to - from : DART_BLOCK, copies,
		       slot_bytes, &blocks[0]);
	for (; from < to; turn ^= 1) {
		const uint32_t count = to - from < DART_BLOCK ? to - from : DART_BLOCK;
		const uint32_t next = from + count;

		if (mode != DART_PREFETCH)
			locate(store, mode, 0, keys, from, count, copies, slot_bytes, &blocks[turn]);
		else if (next < to)
			locate(store, mode, 0, keys, next, to - next < DART_BLOCK ? to - next : DART_BLOCK,
			       copies, slot_bytes, &blocks[turn ^ 1]);
		for (k = 0; k < count; k++)
			answer(store, &blocks[turn], k, policy, out, from + k, copies, checksum_bytes,
			       value_bytes);
		from = next;
	}
}

void dart_query(const struct dart_store *store, enum dart_mode mode, const struct dart_keys *keys,
		uint32_t policy, const struct dart_answers *out, uint32_t from, uint32_t to)
{
	const int usual = store->checksum_bytes == 4 && store->value_bytes == 20;

	if (usual && store->copies == 2)
		query_rows(store, mode, keys, policy, out, from, to, 2, 4, 20);
	else if (usual && store->copies == 4)
		query_rows(store, mode, keys, policy, out, from, to, 4, 4, 20);
	else
		query_rows(store, mode, keys, policy, out, from, to, store->copies, store->checksum_bytes,
			   store->value_bytes);
}

void dart_write_bytes(struct dart_store *store, uint64_t offset, const uint8_t *source, uint32_t length)
{
	uint64_t first, last;
	uint32_t page;

	if (!length)
		return;
	first = offset / store->slot_bytes;
	last = (offset + length - 1) / store->slot_bytes;
	for (page = first >> store->page_shift; page <= last >> store->page_shift; page++)
		store->done[page] = ++store->begun[page];
	memcpy(store->slot + offset, source, length);
	add(store->header + DART_HEAD_SLOT_WRITES, last - first + 1);
}
