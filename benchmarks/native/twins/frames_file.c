// SPDX-License-Identifier: Apache-2.0
#include "frames_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_WORDS = 16 };

static void fail(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	exit(1);
}

void frames_file_read(struct frames_file *file, const char *path)
{
	FILE *in = fopen(path, "rb");
	uint32_t *words;
	size_t size, need;
	long end;

	if (!in)
		fail(path, "cannot open");
	if (fseek(in, 0, SEEK_END) || (end = ftell(in)) < 0 ||
	    fseek(in, 0, SEEK_SET))
		fail(path, "cannot seek");
	size = (size_t)end;
	words = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
	if (!words || fread(words, 1, size, in) != size)
		fail(path, "cannot read");
	fclose(in);
	if (size < HEADER_WORDS * 4 || memcmp(words, "INTF", 4))
		fail(path, "not a frames file");
	file->settings.ethernet = words[1];
	file->settings.report_port = words[2];
	file->settings.int_port[0] = words[3];
	file->settings.int_port[1] = words[4];
	file->settings.tos_mask = words[5];
	file->settings.tos_value = words[6];
	file->frames = words[7];
	file->reports = words[8];
	file->hops = words[9];
	file->count = words[10];
	file->size = words[11];
	file->arena_size = words[12];
	need = HEADER_WORDS * 4 + (size_t)file->count * 8 +
	       ((size_t)file->size + 3) / 4 * 4 + file->arena_size;
	if (size != need)
		fail(path, "wrong size");
	file->offsets = words + HEADER_WORDS;
	file->lengths = file->offsets + file->count;
	file->bytes = (const uint8_t *)(file->lengths + file->count);
	file->arena = file->bytes + ((size_t)file->size + 3) / 4 * 4;
}
