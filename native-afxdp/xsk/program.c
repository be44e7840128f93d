// SPDX-License-Identifier: Apache-2.0
/*
 * XDP programs and their maps. See program.h.
 */
#include "program.h"

#include <errno.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the programs in xdp/generated are for little-endian machines"
#endif

#include "../xdp/generated/prefilter_array.h"
#include "../xdp/generated/prefilter_hash.h"
#include "../xdp/generated/steer.h"

enum {
	LOG_BYTES = 1 << 20,
};

const struct xsk_program_image *xsk_program_find(const char *name)
{
	static const struct xsk_program_image *const images[] = {
		&steer_image,
		&prefilter_array_image,
		&prefilter_hash_image,
	};
	size_t k;

	for (k = 0; k < sizeof(images) / sizeof(images[0]); k++) {
		if (!strcmp(images[k]->name, name))
			return images[k];
	}
	return NULL;
}

static int create_map(const struct xsk_program_map *map, uint32_t max_entries,
		      struct xsk_program_failure *failure)
{
	const uint32_t first = 0;
	int fd, result;

	failure->step = "BPF_MAP_CREATE";
	fd = xsk_bpf_map_create(map->name, map->type, map->key_size, map->value_size,
				max_entries, map->flags);
	if (fd < 0)
		return fd;
	if (map->contents) {
		failure->step = "BPF_MAP_UPDATE_ELEM";
		result = xsk_bpf_map_update(fd, &first, map->contents, BPF_ANY);
		if (!result && map->flags & BPF_F_RDONLY_PROG) {
			failure->step = "BPF_MAP_FREEZE";
			result = xsk_bpf_map_freeze(fd);
		}
		if (result < 0) {
			close(fd);
			return result;
		}
	}
	return fd;
}

/* The last lines of a log, as many as fit. */
static void keep_end(char *to, size_t size, const char *log)
{
	size_t length = strlen(log);
	const char *line;

	if (length >= size) {
		log += length - size + 1;
		line = strchr(log, '\n');
		if (line && line[1])
			log = line + 1;
	}
	strcpy(to, log);
}

static int load_code(struct xsk_program *program, struct xsk_program_failure *failure)
{
	const struct xsk_program_image *image = program->image;
	struct bpf_insn *code = malloc(image->count * sizeof(*code));
	uint32_t k;
	char *log;
	int fd;

	failure->step = "BPF_PROG_LOAD";
	if (!code)
		return -ENOMEM;
	memcpy(code, image->code, image->count * sizeof(*code));
	for (k = 0; k < image->count; k++) {
		if (code[k].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (code[k].src_reg == BPF_PSEUDO_MAP_FD || code[k].src_reg == BPF_PSEUDO_MAP_VALUE)
			code[k].imm = program->maps[code[k].imm];
		k++;
	}
	fd = xsk_bpf_program_load(image->name, code, image->count, NULL, 0);
	if (fd < 0 && (log = malloc(LOG_BYTES))) {
		/* Once more, for the reason; it may also be that it works now. */
		fd = xsk_bpf_program_load(image->name, code, image->count, log, LOG_BYTES);
		log[LOG_BYTES - 1] = 0;
		keep_end(failure->log, sizeof(failure->log), log);
		free(log);
	}
	free(code);
	return fd;
}

int xsk_program_load(struct xsk_program *program, const struct xsk_program_image *image,
		     const struct xsk_program_size *sizes, size_t count,
		     struct xsk_program_failure *failure)
{
	int result = 0;
	uint32_t k;
	size_t s;

	failure->log[0] = 0;
	program->image = image;
	program->fd = program->link = -1;
	for (k = 0; k < XSK_PROGRAM_MAPS; k++)
		program->maps[k] = -1;
	for (k = 0; k < image->map_count; k++) {
		program->max_entries[k] = image->maps[k].max_entries;
		for (s = 0; s < count; s++) {
			if (!strcmp(sizes[s].map, image->maps[k].name))
				program->max_entries[k] = sizes[s].max_entries;
		}
		result = create_map(&image->maps[k], program->max_entries[k], failure);
		if (result < 0)
			break;
		program->maps[k] = result;
	}
	if (result >= 0)
		result = load_code(program, failure);
	if (result < 0) {
		xsk_program_close(program);
		return result;
	}
	program->fd = result;
	return 0;
}

int xsk_program_attach(struct xsk_program *program, uint32_t ifindex, int driver,
		       struct xsk_program_failure *failure)
{
	int link;

	failure->step = "BPF_LINK_CREATE";
	failure->log[0] = 0;
	if (program->fd < 0 || program->link >= 0)
		return -EBADF;
	link = xsk_bpf_link_create(program->fd, ifindex, driver ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE);
	if (link < 0)
		return link;
	program->link = link;
	return 0;
}

int xsk_program_map_index(const struct xsk_program *program, const char *name)
{
	uint32_t k;

	for (k = 0; k < program->image->map_count; k++) {
		if (!strcmp(program->image->maps[k].name, name))
			return k;
	}
	return -1;
}

size_t xsk_program_value_bytes(const struct xsk_program *program, unsigned int map)
{
	const struct xsk_program_map *definition = &program->image->maps[map];

	if (definition->type == BPF_MAP_TYPE_PERCPU_ARRAY || definition->type == BPF_MAP_TYPE_PERCPU_HASH)
		return (size_t)(definition->value_size + 7) / 8 * 8 * xsk_bpf_possible_cpus();
	return definition->value_size;
}

/* One call of the kernel each: that works with all kinds of arrays and all kernels. */
int xsk_program_read(const struct xsk_program *program, unsigned int map, uint32_t first,
		     uint32_t count, void *values)
{
	const size_t bytes = xsk_program_value_bytes(program, map);
	uint32_t k;

	for (k = 0; k < count; k++) {
		const uint32_t key = first + k;
		int result = xsk_bpf_map_lookup(program->maps[map], &key, (uint8_t *)values + k * bytes);

		if (result < 0)
			return result;
	}
	return 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void xsk_program_detach(struct xsk_program *program)
{
	close_one(&program->link);
}

void xsk_program_close(struct xsk_program *program)
{
	uint32_t k;

	close_one(&program->link);
	close_one(&program->fd);
	for (k = 0; k < XSK_PROGRAM_MAPS; k++)
		close_one(&program->maps[k]);
}
