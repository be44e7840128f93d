/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an XDP program needs of the kernel's interface, and no more: no kernel
 * headers are wanted to compile one. scripts/embed-xdp.mjs reads the object:
 *   section "xdp"        the program
 *   section "maps"       struct bpf_map_def, one for each map, named by its symbol
 *   section ".data.NAME" the map NAME: an array of one entry, addressed directly
 *   section ".rodata*"   constants, likewise, frozen
 * Compiled for the host, for tests, the helpers are functions that the test has.
 */
#ifndef INT_BPF_H
#define INT_BPF_H

#include <stdint.h>

#define SECTION(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Actions. */
enum {
	XDP_ABORTED = 0,
	XDP_DROP = 1,
	XDP_PASS = 2,
	XDP_TX = 3,
	XDP_REDIRECT = 4,
};

/* Kinds of maps. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_XSKMAP = 17,
};

/* Flag of a map: memory for entries as they come. An LPM trie must have it. */
enum {
	BPF_F_NO_PREALLOC = 1,
};

struct bpf_map_def {
	uint32_t type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;
	uint32_t flags;
};

#ifdef __bpf__
/* The kernel turns these into pointers. */
typedef uint32_t address;
#else
typedef uintptr_t address;
#endif

/* What the program gets. */
struct xdp_md {
	address data;
	address data_end;
	address data_meta;
	uint32_t ingress_ifindex;
	uint32_t rx_queue_index;
};

#ifdef __bpf__
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
					 uint64_t flags) = (void *)2;
static long (*const bpf_redirect_map)(void *map, uint64_t key, uint64_t flags) = (void *)51;
static long (*const bpf_xdp_adjust_meta)(struct xdp_md *ctx, int delta) = (void *)54;
#else
void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, uint64_t flags);
long bpf_redirect_map(void *map, uint64_t key, uint64_t flags);
long bpf_xdp_adjust_meta(struct xdp_md *ctx, int delta);
#endif

#endif
