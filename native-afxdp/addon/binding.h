/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the addon share: registering functions, and failures of the kernel as JavaScript errors.
 */
#ifndef INT_BINDING_H
#define INT_BINDING_H

#include <node_api.h>

#include <stddef.h>
#include <stdint.h>

/*
 * A group of functions registers itself with these, called once per environment (main thread, each worker).
 * int_program_register is optional at link time, so that the addon links without programs.
 */
napi_status int_batch_register(napi_env env, napi_value exports);
napi_status int_packet_register(napi_env env, napi_value exports);
napi_status int_socket_register(napi_env env, napi_value exports);
napi_status int_program_register(napi_env env, napi_value exports) __attribute__((weak));

struct int_function {
	const char *name;
	napi_callback callback;
};

napi_status int_define(napi_env env, napi_value exports, const struct int_function *functions, size_t count);

/*
 * Throws an Error with the properties `syscall` (the step that failed, such as "bind" or "BPF_PROG_LOAD"), `errno` (a
 * positive number) and, unless it is NULL, `log` (what the kernel said, such as the verifier's last lines). Always NULL,
 * to be returned from the callback. `number` may be negative, as the functions in xsk/ return it.
 */
napi_value int_throw_errno(napi_env env, const char *step, int number, const char *log);

/* Throws a TypeError or a RangeError; NULL. */
napi_value int_throw_type(napi_env env, const char *message);
napi_value int_throw_range(napi_env env, const char *message);

/* Reads exactly `count` arguments; throws a TypeError and returns -1 if there are fewer. */
int int_arguments(napi_env env, napi_callback_info info, size_t count, napi_value *arguments);
/* Each throws a TypeError and returns -1 if the value is of another type or out of range. */
int int_get_u32(napi_env env, napi_value value, uint32_t *number);
int int_get_i32(napi_env env, napi_value value, int32_t *number);
/* A string of fewer than `size` bytes, ended by a zero byte. */
int int_get_string(napi_env env, napi_value value, char *text, size_t size);

napi_value int_number(napi_env env, double number);
/* Sets a number as a property of an object. */
void int_set_number(napi_env env, napi_value object, const char *name, double number);
/* An ArrayBuffer view's bytes: any typed array or DataView. NULL and a TypeError otherwise. */
void *int_get_bytes(napi_env env, napi_value value, size_t *length);

/*
 * Memory as an ArrayBuffer that unmaps it when nobody looks at it any more. NULL with an exception pending if there is
 * none.
 */
void *int_map_memory(napi_env env, size_t bytes, napi_value *buffer);

#endif
