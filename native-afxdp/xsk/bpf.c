// SPDX-License-Identifier: Apache-2.0
/*
 * bpf(2), call by call. See bpf.h.
 */
#include "bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(enum bpf_cmd command, union bpf_attr *attr)
{
	int result;

	/* EAGAIN: the verifier was interrupted by a signal. */
	do {
		result = syscall(SYS_bpf, command, attr, sizeof(*attr));
	} while (result < 0 && errno == EAGAIN && command == BPF_PROG_LOAD);
	return result < 0 ? -errno : result;
}

static uint64_t pointer(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

/* The kernel takes letters, digits, '_' and '.', at most 15 of them. */
static void set_name(char *to, const char *name)
{
	snprintf(to, BPF_OBJ_NAME_LEN, "%s", name);
}

int xsk_bpf_map_create(const char *name, uint32_t type, uint32_t key_size,
		       uint32_t value_size, uint32_t max_entries, uint32_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_size;
	attr.value_size = value_size;
	attr.max_entries = max_entries;
	attr.map_flags = flags;
	set_name(attr.map_name, name);
	return call(BPF_MAP_CREATE, &attr);
}

static int element(enum bpf_cmd command, int map, const void *key, const void *value, uint64_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = pointer(key);
	attr.value = pointer(value);
	attr.flags = flags;
	return call(command, &attr);
}

int xsk_bpf_map_lookup(int map, const void *key, void *value)
{
	return element(BPF_MAP_LOOKUP_ELEM, map, key, value, 0);
}

int xsk_bpf_map_update(int map, const void *key, const void *value, uint64_t flags)
{
	return element(BPF_MAP_UPDATE_ELEM, map, key, value, flags);
}

int xsk_bpf_map_delete(int map, const void *key)
{
	return element(BPF_MAP_DELETE_ELEM, map, key, NULL, 0);
}

int xsk_bpf_map_next_key(int map, const void *key, void *next)
{
	return element(BPF_MAP_GET_NEXT_KEY, map, key, next, 0);
}

int xsk_bpf_map_freeze(int map)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	return call(BPF_MAP_FREEZE, &attr);
}

int xsk_bpf_program_load(const char *name, const struct bpf_insn *code, uint32_t count,
			 char *log, size_t log_size)
{
	/* What the program is under: the kernel keeps some helpers for the GPL, none of which is used. */
	static const char license[] = "Apache-2.0";
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.expected_attach_type = BPF_XDP;
	attr.insns = pointer(code);
	attr.insn_cnt = count;
	attr.license = pointer(license);
	set_name(attr.prog_name, name);
	if (log_size) {
		log[0] = 0;
		attr.log_level = 1;
		attr.log_buf = pointer(log);
		attr.log_size = log_size;
	}
	return call(BPF_PROG_LOAD, &attr);
}

int xsk_bpf_link_create(int program, uint32_t ifindex, uint32_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.target_ifindex = ifindex;
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = flags;
	return call(BPF_LINK_CREATE, &attr);
}

int xsk_bpf_program_run(int program, struct xsk_bpf_run *run)
{
	struct xdp_md in, out;
	union bpf_attr attr;
	int result;

	memset(&in, 0, sizeof(in));
	memset(&out, 0, sizeof(out));
	in.data_end = run->length;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = program;
	attr.test.data_in = pointer(run->frame);
	attr.test.data_size_in = run->length;
	attr.test.data_out = pointer(run->out);
	attr.test.data_size_out = run->out_size;
	attr.test.repeat = run->repeat;
	attr.test.ctx_in = pointer(&in);
	attr.test.ctx_size_in = sizeof(in);
	attr.test.ctx_out = pointer(&out);
	attr.test.ctx_size_out = sizeof(out);
	result = call(BPF_PROG_TEST_RUN, &attr);
	if (result == -EINVAL) {
		/* Before 5.15: no context, hence no meta data. */
		attr.test.ctx_in = attr.test.ctx_out = 0;
		attr.test.ctx_size_in = attr.test.ctx_size_out = 0;
		out.data = 0;
		result = call(BPF_PROG_TEST_RUN, &attr);
	}
	if (result < 0)
		return result;
	run->out_length = attr.test.data_size_out;
	run->meta_length = out.data;
	run->action = attr.test.retval;
	run->nanoseconds = attr.test.duration;
	return 0;
}

/* The file holds a list of ranges, such as "0-3" or "0,2-5". */
unsigned int xsk_bpf_possible_cpus(void)
{
	int file = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	unsigned int number = 0, last = 0;
	char text[128];
	ssize_t length, at;

	if (file >= 0) {
		length = read(file, text, sizeof(text));
		close(file);
		for (at = 0; at < length; at++) {
			if (text[at] >= '0' && text[at] <= '9') {
				number = number * 10 + (text[at] - '0');
				last = number;
			} else {
				number = 0;
			}
		}
		if (length > 0)
			return last + 1;
	}
	length = sysconf(_SC_NPROCESSORS_CONF);
	return length > 0 ? length : 1;
}
