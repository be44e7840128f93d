// SPDX-License-Identifier: Apache-2.0
/*
 * XDP programs for JavaScript. A program is an external value; functions that
 * take one throw an Error with errno EBADF once it is closed.
 *
 *   programLoad(name, sizes: [map, entries, ...]) -> program
 *   programAttach(program, interface name, driver)
 *   programDetach(program)
 *   programClose(program)
 *   programMaps(program) -> [{ name, keySize, valueBytes, entries, fd }]
 *   programRun(program, frame, repeat, out) -> [action, length, metaLength, nanoseconds]
 *   mapLookup(program, map, key, value) -> boolean
 *   mapRead(program, map, first u32 key, values)
 *   mapUpdate(program, map, key, value)
 *   mapDelete(program, map, key) -> boolean
 *   mapNextKey(program, map, key or null, next) -> boolean
 *   possibleCpus() -> number
 */
#include "binding.h"

#include "../xsk/interface.h"
#include "../xsk/program.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

static const napi_type_tag program_tag = { 0x1c4b8d2f60a54e73, 0x9b0e52a7d81f4c36 };

/* At the end of an environment (a worker that is ended, too) programs are detached. */
static void clean_up(void *data)
{
	xsk_program_close(data);
}

static void finalize(napi_env env, void *data, void *hint)
{
	(void)hint;
	napi_remove_env_cleanup_hook(env, clean_up, data);
	xsk_program_close(data);
	free(data);
}

static napi_value undefined(napi_env env)
{
	napi_value value;

	return napi_get_undefined(env, &value) == napi_ok ? value : NULL;
}

static napi_value boolean(napi_env env, int truth)
{
	napi_value value;

	return napi_get_boolean(env, truth != 0, &value) == napi_ok ? value : NULL;
}

/* Also if it is closed. */
static struct xsk_program *get_program(napi_env env, napi_value value)
{
	bool is_program = false;
	napi_valuetype type;
	void *data = NULL;

	if (napi_typeof(env, value, &type) != napi_ok || type != napi_external ||
	    napi_check_object_type_tag(env, value, &program_tag, &is_program) != napi_ok || !is_program ||
	    napi_get_value_external(env, value, &data) != napi_ok) {
		int_throw_type(env, "a program is needed");
		return NULL;
	}
	return data;
}

static struct xsk_program *get_open_program(napi_env env, napi_value value)
{
	struct xsk_program *program = get_program(env, value);

	if (program && program->fd < 0) {
		int_throw_errno(env, "bpf", EBADF, NULL);
		return NULL;
	}
	return program;
}

/* [map, entries, ...]; the names are kept in `names`. Returns how many, or -1. */
static int get_sizes(napi_env env, napi_value list, struct xsk_program_size *sizes, char (*names)[32])
{
	uint32_t length, k;
	napi_value item;

	if (napi_get_array_length(env, list, &length) != napi_ok || length % 2 ||
	    length / 2 > XSK_PROGRAM_MAPS) {
		int_throw_type(env, "a list of map names and sizes is needed");
		return -1;
	}
	for (k = 0; k < length / 2; k++) {
		if (napi_get_element(env, list, 2 * k, &item) != napi_ok ||
		    int_get_string(env, item, names[k], sizeof(names[k])) ||
		    napi_get_element(env, list, 2 * k + 1, &item) != napi_ok ||
		    int_get_u32(env, item, &sizes[k].max_entries))
			return -1;
		sizes[k].map = names[k];
	}
	return length / 2;
}

static napi_value program_load(napi_env env, napi_callback_info info)
{
	struct xsk_program_size sizes[XSK_PROGRAM_MAPS];
	char names[XSK_PROGRAM_MAPS][32], name[32];
	const struct xsk_program_image *image;
	struct xsk_program_failure failure;
	napi_value arguments[2], external;
	struct xsk_program *program;
	int count, result;

	if (int_arguments(env, info, 2, arguments) || int_get_string(env, arguments[0], name, sizeof(name)))
		return NULL;
	count = get_sizes(env, arguments[1], sizes, names);
	if (count < 0)
		return NULL;
	image = xsk_program_find(name);
	if (!image)
		return int_throw_type(env, "no program of that name");
	program = malloc(sizeof(*program));
	if (!program)
		return int_throw_errno(env, "malloc", ENOMEM, NULL);
	result = xsk_program_load(program, image, sizes, count, &failure);
	if (result < 0) {
		free(program);
		return int_throw_errno(env, failure.step, -result, failure.log[0] ? failure.log : NULL);
	}
	if (napi_add_env_cleanup_hook(env, clean_up, program) != napi_ok ||
	    napi_create_external(env, program, finalize, NULL, &external) != napi_ok) {
		napi_remove_env_cleanup_hook(env, clean_up, program);
		xsk_program_close(program);
		free(program);
		return NULL;
	}
	if (napi_type_tag_object(env, external, &program_tag) != napi_ok)
		return NULL;
	return external;
}

static napi_value program_attach(napi_env env, napi_callback_info info)
{
	struct xsk_program_failure failure;
	struct xsk_program *program;
	napi_value arguments[3];
	char name[IF_NAMESIZE];
	int ifindex, result;
	bool driver;

	if (int_arguments(env, info, 3, arguments))
		return NULL;
	program = get_open_program(env, arguments[0]);
	if (!program || int_get_string(env, arguments[1], name, sizeof(name)))
		return NULL;
	if (napi_get_value_bool(env, arguments[2], &driver) != napi_ok)
		return int_throw_type(env, "a boolean is needed");
	ifindex = int_interface_index(name);
	if (ifindex < 0)
		return int_throw_errno(env, "if_nametoindex", ifindex, NULL);
	result = xsk_program_attach(program, ifindex, driver, &failure);
	if (result < 0)
		return int_throw_errno(env, failure.step, -result, NULL);
	return undefined(env);
}

static napi_value program_detach(napi_env env, napi_callback_info info)
{
	struct xsk_program *program;
	napi_value arguments[1];

	if (int_arguments(env, info, 1, arguments))
		return NULL;
	program = get_open_program(env, arguments[0]);
	if (!program)
		return NULL;
	xsk_program_detach(program);
	return undefined(env);
}

static napi_value program_close(napi_env env, napi_callback_info info)
{
	struct xsk_program *program;
	napi_value arguments[1];

	if (int_arguments(env, info, 1, arguments))
		return NULL;
	program = get_program(env, arguments[0]);
	if (!program)
		return NULL;
	xsk_program_close(program);
	return undefined(env);
}

static napi_value program_maps(napi_env env, napi_callback_info info)
{
	napi_value arguments[1], list, item, name;
	struct xsk_program *program;
	uint32_t k;

	if (int_arguments(env, info, 1, arguments))
		return NULL;
	program = get_open_program(env, arguments[0]);
	if (!program || napi_create_array(env, &list) != napi_ok)
		return NULL;
	for (k = 0; k < program->image->map_count; k++) {
		const struct xsk_program_map *map = &program->image->maps[k];

		if (napi_create_object(env, &item) != napi_ok ||
		    napi_create_string_utf8(env, map->name, NAPI_AUTO_LENGTH, &name) != napi_ok ||
		    napi_set_named_property(env, item, "name", name) != napi_ok)
			return NULL;
		int_set_number(env, item, "keySize", map->key_size);
		int_set_number(env, item, "valueBytes", xsk_program_value_bytes(program, k));
		int_set_number(env, item, "entries", program->max_entries[k]);
		int_set_number(env, item, "fd", program->maps[k]);
		if (napi_set_element(env, list, k, item) != napi_ok)
			return NULL;
	}
	return list;
}

static napi_value program_run(napi_env env, napi_callback_info info)
{
	struct xsk_bpf_run run = { 0 };
	struct xsk_program *program;
	napi_value arguments[4], list;
	size_t length, out;
	double results[4];
	uint32_t k;
	int result;

	if (int_arguments(env, info, 4, arguments))
		return NULL;
	program = get_open_program(env, arguments[0]);
	if (!program || int_get_u32(env, arguments[2], &run.repeat))
		return NULL;
	run.frame = int_get_bytes(env, arguments[1], &length);
	if (!run.frame)
		return NULL;
	run.out = int_get_bytes(env, arguments[3], &out);
	if (!run.out)
		return NULL;
	if (length > UINT32_MAX || out > UINT32_MAX)
		return int_throw_range(env, "the frame is too long");
	run.length = length;
	run.out_size = out;
	result = xsk_bpf_program_run(program->fd, &run);
	if (result < 0)
		return int_throw_errno(env, "BPF_PROG_TEST_RUN", -result, NULL);
	results[0] = run.action;
	results[1] = run.out_length;
	results[2] = run.meta_length;
	results[3] = run.nanoseconds;
	if (napi_create_array(env, &list) != napi_ok)
		return NULL;
	for (k = 0; k < 4; k++) {
		if (napi_set_element(env, list, k, int_number(env, results[k])) != napi_ok)
			return NULL;
	}
	return list;
}

/* A program's map, and where key and value are. */
struct element {
	int map;
	void *key;
	void *value;
};

/* Arguments 0 to 2: program, map, key; with `values` also 3: value. The key may be null where `no_key` allows it. */
static int get_element(napi_env env, napi_callback_info info, int values, int no_key, struct element *element)
{
	const struct xsk_program_map *definition;
	napi_value arguments[4];
	struct xsk_program *program;
	napi_valuetype type;
	uint32_t index;
	size_t length;

	if (int_arguments(env, info, values ? 4 : 3, arguments))
		return -1;
	program = get_open_program(env, arguments[0]);
	if (!program || int_get_u32(env, arguments[1], &index))
		return -1;
	if (index >= program->image->map_count) {
		int_throw_range(env, "no such map");
		return -1;
	}
	definition = &program->image->maps[index];
	element->map = program->maps[index];
	element->key = NULL;
	if (napi_typeof(env, arguments[2], &type) != napi_ok)
		return -1;
	if (type != napi_null || !no_key) {
		element->key = int_get_bytes(env, arguments[2], &length);
		if (!element->key)
			return -1;
		if (length != definition->key_size) {
			int_throw_range(env, "the key is not as long as the map's keys");
			return -1;
		}
	}
	if (!values)
		return 0;
	element->value = int_get_bytes(env, arguments[3], &length);
	if (!element->value)
		return -1;
	if (length != (no_key ? definition->key_size : xsk_program_value_bytes(program, index))) {
		int_throw_range(env, "the value is not as long as the map's values");
		return -1;
	}
	return 0;
}

/* Whether the element is there; throws for all other failures. */
static napi_value found(napi_env env, const char *step, int result)
{
	if (result < 0 && result != -ENOENT)
		return int_throw_errno(env, step, -result, NULL);
	return boolean(env, result >= 0);
}

static napi_value map_lookup(napi_env env, napi_callback_info info)
{
	struct element element;

	if (get_element(env, info, 1, 0, &element))
		return NULL;
	return found(env, "BPF_MAP_LOOKUP_ELEM", xsk_bpf_map_lookup(element.map, element.key, element.value));
}

static napi_value map_read(napi_env env, napi_callback_info info)
{
	struct xsk_program *program;
	napi_value arguments[4];
	uint32_t index, first;
	size_t length, bytes;
	void *values;
	int result;

	if (int_arguments(env, info, 4, arguments))
		return NULL;
	program = get_open_program(env, arguments[0]);
	if (!program || int_get_u32(env, arguments[1], &index) || int_get_u32(env, arguments[2], &first))
		return NULL;
	values = int_get_bytes(env, arguments[3], &length);
	if (!values)
		return NULL;
	if (index >= program->image->map_count)
		return int_throw_range(env, "no such map");
	bytes = xsk_program_value_bytes(program, index);
	if (program->image->maps[index].key_size != 4 || length % bytes || length / bytes > UINT32_MAX - first)
		return int_throw_range(env, "the values are not as long as the map's values");
	result = xsk_program_read(program, index, first, length / bytes, values);
	if (result < 0)
		return int_throw_errno(env, "BPF_MAP_LOOKUP_ELEM", -result, NULL);
	return undefined(env);
}

static napi_value map_update(napi_env env, napi_callback_info info)
{
	struct element element;
	int result;

	if (get_element(env, info, 1, 0, &element))
		return NULL;
	result = xsk_bpf_map_update(element.map, element.key, element.value, BPF_ANY);
	if (result < 0)
		return int_throw_errno(env, "BPF_MAP_UPDATE_ELEM", -result, NULL);
	return undefined(env);
}

static napi_value map_delete(napi_env env, napi_callback_info info)
{
	struct element element;

	if (get_element(env, info, 0, 0, &element))
		return NULL;
	return found(env, "BPF_MAP_DELETE_ELEM", xsk_bpf_map_delete(element.map, element.key));
}

static napi_value map_next_key(napi_env env, napi_callback_info info)
{
	struct element element;

	if (get_element(env, info, 1, 1, &element))
		return NULL;
	return found(env, "BPF_MAP_GET_NEXT_KEY", xsk_bpf_map_next_key(element.map, element.key, element.value));
}

static napi_value possible_cpus(napi_env env, napi_callback_info info)
{
	(void)info;
	return int_number(env, xsk_bpf_possible_cpus());
}

napi_status int_program_register(napi_env env, napi_value exports)
{
	static const struct int_function functions[] = {
		{ "programLoad", program_load },
		{ "programAttach", program_attach },
		{ "programDetach", program_detach },
		{ "programClose", program_close },
		{ "programMaps", program_maps },
		{ "programRun", program_run },
		{ "mapLookup", map_lookup },
		{ "mapRead", map_read },
		{ "mapUpdate", map_update },
		{ "mapDelete", map_delete },
		{ "mapNextKey", map_next_key },
		{ "possibleCpus", possible_cpus },
	};

	return int_define(env, exports, functions, sizeof(functions) / sizeof(functions[0]));
}
