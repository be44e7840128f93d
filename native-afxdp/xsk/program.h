/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An XDP program with its maps: created, loaded, attached to an interface by a
 * BPF link, run on frames for tests. The programs are part of the library.
 */
#ifndef XSK_PROGRAM_H
#define XSK_PROGRAM_H

#include "bpf.h"

#include <stddef.h>
#include <stdint.h>

enum {
	XSK_PROGRAM_MAPS = 16,
	XSK_PROGRAM_LOG = 1024,
};

/* A map of an image. */
struct xsk_program_map {
	const char *name;
	uint32_t type;
	uint32_t key_size;
	uint32_t value_size;
	uint32_t max_entries;		/* whoever loads the program can ask for another number */
	uint32_t flags;
	const void *contents;		/* of the first entry, or NULL: zeros. Frozen if the program only reads it */
};

/* A program as scripts/embed-xdp.mjs writes it: a load of a map has the map's index as immediate. */
struct xsk_program_image {
	const char *name;
	const struct bpf_insn *code;
	uint32_t count;
	const struct xsk_program_map *maps;
	uint32_t map_count;
};

/* A wish for a map's size. */
struct xsk_program_size {
	const char *map;
	uint32_t max_entries;
};

struct xsk_program {
	const struct xsk_program_image *image;
	int fd;				/* -1: closed */
	int link;			/* -1: not attached */
	int maps[XSK_PROGRAM_MAPS];
	uint32_t max_entries[XSK_PROGRAM_MAPS];
};

struct xsk_program_failure {
	const char *step;		/* name of the bpf command */
	char log[XSK_PROGRAM_LOG];	/* the last lines that the verifier said, or empty */
};

/* The image of that name, or NULL. */
const struct xsk_program_image *xsk_program_find(const char *name);

/* Creates the maps and loads the program. 0, or a negative error number: then nothing is left. */
int xsk_program_load(struct xsk_program *program, const struct xsk_program_image *image,
		     const struct xsk_program_size *sizes, size_t count,
		     struct xsk_program_failure *failure);

/* Attaches the program to an interface, in driver mode or generic mode. */
int xsk_program_attach(struct xsk_program *program, uint32_t ifindex, int driver,
		       struct xsk_program_failure *failure);

/* Detaches the program, which stays loaded with its maps; again: nothing. */
void xsk_program_detach(struct xsk_program *program);

/* Reads the values of the u32 keys from `first` on, `count` of them, one behind the other. */
int xsk_program_read(const struct xsk_program *program, unsigned int map, uint32_t first,
		     uint32_t count, void *values);

/* Index of a map, or -1. */
int xsk_program_map_index(const struct xsk_program *program, const char *name);

/* Bytes of a value as user space sees it: with per-CPU maps, of the values of all CPUs. */
size_t xsk_program_value_bytes(const struct xsk_program *program, unsigned int map);

/* Detaches and frees everything; may be called again. */
void xsk_program_close(struct xsk_program *program);

#endif
