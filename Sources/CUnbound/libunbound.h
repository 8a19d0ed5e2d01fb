#pragma once

// What this program uses of libunbound 1.9 or later, as unbound.h declares it. The program loads the library with dlopen when it looks up
// SMIMEA records, so this header declares function types and no functions.

struct ub_ctx;

struct ub_result {
    char *qname;
    int qtype;
    int qclass;
    // The data of the records, ended by a null pointer.
    char **data;
    int *len;
    char *canonname;
    int rcode;
    void *answer_packet;
    int answer_len;
    int havedata;
    int nxdomain;
    int secure;
    int bogus;
    char *why_bogus;
    int was_ratelimited;
    // In seconds.
    int ttl;
};

typedef void (*ub_callback_function)(void *argument, int error, struct ub_result *result);

typedef struct ub_ctx *(*ub_ctx_create_function)(void);
typedef void (*ub_ctx_delete_function)(struct ub_ctx *context);
typedef int (*ub_ctx_set_option_function)(struct ub_ctx *context, const char *option, const char *value);
typedef int (*ub_ctx_resolvconf_function)(struct ub_ctx *context, const char *file);
typedef int (*ub_ctx_set_fwd_function)(struct ub_ctx *context, const char *address);
typedef int (*ub_ctx_add_ta_file_function)(struct ub_ctx *context, const char *file);
typedef int (*ub_ctx_async_function)(struct ub_ctx *context, int usesThread);
typedef int (*ub_resolve_async_function)(
    struct ub_ctx *context, const char *name, int type, int class_, void *argument, ub_callback_function callback, int *identifier);
typedef int (*ub_fd_function)(struct ub_ctx *context);
typedef int (*ub_process_function)(struct ub_ctx *context);
typedef void (*ub_resolve_free_function)(struct ub_result *result);
typedef const char *(*ub_strerror_function)(int error);
