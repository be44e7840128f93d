// SPDX-License-Identifier: Apache-2.0
/*
 * Batches: see batch.h.
 */
#include "batch.h"

#include "binding.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH_MAGIC 0x78736b32u

static void finalize_batch(napi_env env, void *data, void *hint)
{
	(void)env;
	(void)hint;
	free(data);
}

struct int_batch *int_get_batch(napi_env env, napi_value value)
{
	void *data = NULL;

	if (napi_get_value_external(env, value, &data) != napi_ok || data == NULL ||
	    ((struct int_batch *)data)->magic != BATCH_MAGIC) {
		napi_throw_type_error(env, NULL, "a batch is needed");
		return NULL;
	}
	return data;
}

/* batchCreate(offsets, lengths): two Uint32Arrays that live as long as the handle; their owner sees to that. */
static napi_value batch_create(napi_env env, napi_callback_info info)
{
	napi_value arguments[2], external;
	size_t offsets_bytes, lengths_bytes;
	struct int_batch *handle;
	void *offsets, *lengths;

	if (int_arguments(env, info, 2, arguments) != 0 ||
	    (offsets = int_get_bytes(env, arguments[0], &offsets_bytes)) == NULL ||
	    (lengths = int_get_bytes(env, arguments[1], &lengths_bytes)) == NULL)
		return NULL;
	if (offsets_bytes != lengths_bytes || offsets_bytes / 4 > UINT32_MAX)
		return int_throw_range(env, "columns of the same length are needed");
	handle = calloc(1, sizeof(*handle));
	if (handle == NULL)
		return int_throw_errno(env, "malloc", ENOMEM, NULL);
	handle->magic = BATCH_MAGIC;
	handle->capacity = (uint32_t)(offsets_bytes / 4);
	handle->offsets = offsets;
	handle->lengths = lengths;
	if (napi_create_external(env, handle, finalize_batch, NULL, &external) != napi_ok) {
		free(handle);
		return NULL;
	}
	return external;
}

napi_status int_batch_register(napi_env env, napi_value exports)
{
	static const struct int_function functions[] = {
		{ "batchCreate", batch_create },
	};

	return int_define(env, exports, functions, sizeof(functions) / sizeof(functions[0]));
}
