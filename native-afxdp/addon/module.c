// SPDX-License-Identifier: Apache-2.0
/*
 * The addon's entry, and what its files share. Context-aware: loaded once per environment, with no state of its own.
 */
#include "binding.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

napi_status int_define(napi_env env, napi_value exports, const struct int_function *functions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		napi_value function;
		napi_status status;

		status = napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].callback, NULL, &function);
		if (status == napi_ok)
			status = napi_set_named_property(env, exports, functions[i].name, function);
		if (status != napi_ok)
			return status;
	}
	return napi_ok;
}

napi_value int_throw_errno(napi_env env, const char *step, int number, const char *log)
{
	napi_value message, error, text;
	int positive = number < 0 ? -number : number;

	if (napi_create_string_utf8(env, step, NAPI_AUTO_LENGTH, &message) != napi_ok ||
	    napi_create_error(env, NULL, message, &error) != napi_ok)
		return NULL;
	napi_set_named_property(env, error, "syscall", message);
	int_set_number(env, error, "errno", positive);
	if (log != NULL && napi_create_string_utf8(env, log, NAPI_AUTO_LENGTH, &text) == napi_ok)
		napi_set_named_property(env, error, "log", text);
	napi_throw(env, error);
	return NULL;
}

napi_value int_throw_type(napi_env env, const char *message)
{
	napi_throw_type_error(env, NULL, message);
	return NULL;
}

napi_value int_throw_range(napi_env env, const char *message)
{
	napi_throw_range_error(env, NULL, message);
	return NULL;
}

int int_arguments(napi_env env, napi_callback_info info, size_t count, napi_value *arguments)
{
	size_t given = count;

	if (napi_get_cb_info(env, info, &given, arguments, NULL, NULL) != napi_ok || given < count) {
		napi_throw_type_error(env, NULL, "too few arguments");
		return -1;
	}
	return 0;
}

int int_get_u32(napi_env env, napi_value value, uint32_t *number)
{
	double wide;

	if (napi_get_value_double(env, value, &wide) != napi_ok || !(wide >= 0 && wide <= UINT32_MAX)) {
		napi_throw_type_error(env, NULL, "an unsigned 32-bit number is needed");
		return -1;
	}
	*number = (uint32_t)wide;
	return 0;
}

int int_get_i32(napi_env env, napi_value value, int32_t *number)
{
	double wide;

	if (napi_get_value_double(env, value, &wide) != napi_ok || !(wide >= INT32_MIN && wide <= INT32_MAX)) {
		napi_throw_type_error(env, NULL, "a signed 32-bit number is needed");
		return -1;
	}
	*number = (int32_t)wide;
	return 0;
}

int int_get_string(napi_env env, napi_value value, char *text, size_t size)
{
	size_t length;

	if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok || length >= size ||
	    napi_get_value_string_utf8(env, value, text, size, &length) != napi_ok) {
		napi_throw_type_error(env, NULL, "a shorter string is needed");
		return -1;
	}
	return 0;
}

napi_value int_number(napi_env env, double number)
{
	napi_value value;

	return napi_create_double(env, number, &value) == napi_ok ? value : NULL;
}

void int_set_number(napi_env env, napi_value object, const char *name, double number)
{
	napi_value value = int_number(env, number);

	if (value != NULL)
		napi_set_named_property(env, object, name, value);
}

static size_t element_bytes(napi_typedarray_type type)
{
	switch (type) {
	case napi_int8_array:
	case napi_uint8_array:
	case napi_uint8_clamped_array:
		return 1;
	case napi_int16_array:
	case napi_uint16_array:
		return 2;
	case napi_int32_array:
	case napi_uint32_array:
	case napi_float32_array:
		return 4;
	default:
		return 8;
	}
}

void *int_get_bytes(napi_env env, napi_value value, size_t *length)
{
	napi_typedarray_type type;
	bool is_array = false;
	void *data = NULL;

	if (napi_is_typedarray(env, value, &is_array) != napi_ok || !is_array ||
	    napi_get_typedarray_info(env, value, &type, length, &data, NULL, NULL) != napi_ok) {
		napi_throw_type_error(env, NULL, "a typed array is needed");
		return NULL;
	}
	*length *= element_bytes(type);
	/* An empty array may have no memory at all; the caller needs something that is not NULL. */
	return data != NULL ? data : (void *)&element_bytes;
}

static void finalize_memory(napi_env env, void *data, void *hint)
{
	(void)env;
	munmap(data, (size_t)(uintptr_t)hint);
}

void *int_map_memory(napi_env env, size_t bytes, napi_value *buffer)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		int_throw_errno(env, "mmap", errno, NULL);
		return NULL;
	}
	/* A child process would have the pages copied. */
	madvise(memory, bytes, MADV_DONTFORK);
	if (napi_create_external_arraybuffer(env, memory, bytes, finalize_memory, (void *)(uintptr_t)bytes, buffer) !=
	    napi_ok) {
		munmap(memory, bytes);
		int_throw_errno(env, "napi_create_external_arraybuffer", ENOTSUP, NULL);
		return NULL;
	}
	return memory;
}

NAPI_MODULE_INIT()
{
	if (int_batch_register(env, exports) != napi_ok || int_socket_register(env, exports) != napi_ok ||
	    int_packet_register(env, exports) != napi_ok)
		return NULL;
	if (int_program_register != NULL && int_program_register(env, exports) != napi_ok)
		return NULL;
	return exports;
}
