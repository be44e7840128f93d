/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf(2), call by call. Functions return a descriptor or 0, or a negative error
 * number. All descriptors are closed on exec.
 */
#ifndef XSK_BPF_H
#define XSK_BPF_H

#include <linux/bpf.h>

#include <stddef.h>
#include <stdint.h>

int xsk_bpf_map_create(const char *name, uint32_t type, uint32_t key_size,
		       uint32_t value_size, uint32_t max_entries, uint32_t flags);
int xsk_bpf_map_lookup(int map, const void *key, void *value);
/* Flags: BPF_ANY, BPF_NOEXIST, BPF_EXIST. */
int xsk_bpf_map_update(int map, const void *key, const void *value, uint64_t flags);
int xsk_bpf_map_delete(int map, const void *key);
/* The key behind `key`, or the first one if that is NULL; -ENOENT behind the last. */
int xsk_bpf_map_next_key(int map, const void *key, void *next);
/* No more changes by user space. */
int xsk_bpf_map_freeze(int map);

/* Loads an XDP program. What the verifier says goes to `log`, unless its size is 0. */
int xsk_bpf_program_load(const char *name, const struct bpf_insn *code, uint32_t count,
			 char *log, size_t log_size);

/* Attaches an XDP program; it is detached when the descriptor is closed, also by a crash. XDP_FLAGS_* of if_link.h. */
int xsk_bpf_link_create(int program, uint32_t ifindex, uint32_t flags);

/* A run of a program on one frame. */
struct xsk_bpf_run {
	const void *frame;
	uint32_t length;
	uint32_t repeat;
	void *out;			/* meta data, then the frame, as the program leaves them */
	uint32_t out_size;
	uint32_t out_length;		/* results from here on */
	uint32_t meta_length;		/* bytes of meta data at the start of `out`; 0 with kernels before 5.15 */
	uint32_t action;
	uint32_t nanoseconds;		/* of one repetition, on average */
};

int xsk_bpf_program_run(int program, struct xsk_bpf_run *run);

/* CPUs that there can be: a per-CPU value has as many parts, of 8 bytes or a multiple each. At least 1. */
unsigned int xsk_bpf_possible_cpus(void);

#endif
