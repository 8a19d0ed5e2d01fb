#pragma once

// What this program uses of libpq 14 or later, as https://www.postgresql.org/docs/current/libpq.html declares it. The program loads the
// library with dlopen when it opens a store in PostgreSQL, so this header declares function types and no functions.

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned int Oid;

typedef struct {
    char *keyword;
    char *envvar;
    char *compiled;
    // Null if the option is not given.
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

enum { CONNECTION_OK = 0 };
enum { PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2, PGRES_PIPELINE_SYNC = 10, PGRES_PIPELINE_ABORTED = 11 };
enum { PQTRANS_IDLE = 0 };
enum { PG_DIAG_SQLSTATE = 'C', PG_DIAG_MESSAGE_PRIMARY = 'M' };
// pg_type.h
enum { BOOLOID = 16, BYTEAOID = 17, INT8OID = 20, INT4OID = 23, TEXTOID = 25 };

typedef PQconninfoOption *(*PQconninfoParseFunction)(const char *conninfo, char **message);
typedef void (*PQconninfoFreeFunction)(PQconninfoOption *options);
typedef void (*PQfreememFunction)(void *memory);

typedef PGconn *(*PQconnectdbParamsFunction)(const char *const *keywords, const char *const *values, int expandsName);
typedef void (*PQfinishFunction)(PGconn *connection);
typedef int (*PQstatusFunction)(const PGconn *connection);
typedef int (*PQtransactionStatusFunction)(const PGconn *connection);
typedef const char *(*PQparameterStatusFunction)(const PGconn *connection, const char *name);
typedef char *(*PQerrorMessageFunction)(const PGconn *connection);
typedef void (*PQnoticeProcessorFunction)(void *context, const char *message);
typedef PQnoticeProcessorFunction (*PQsetNoticeProcessorFunction)(
    PGconn *connection, PQnoticeProcessorFunction processor, void *context);

typedef PGresult *(*PQexecFunction)(PGconn *connection, const char *statements);
typedef int (*PQenterPipelineModeFunction)(PGconn *connection);
typedef int (*PQexitPipelineModeFunction)(PGconn *connection);
typedef int (*PQpipelineSyncFunction)(PGconn *connection);
typedef int (*PQsendQueryParamsFunction)(
    PGconn *connection, const char *statement, int count, const Oid *types, const char *const *values, const int *lengths,
    const int *formats, int resultFormat);
typedef int (*PQsendPrepareFunction)(
    PGconn *connection, const char *name, const char *statement, int count, const Oid *types);
typedef int (*PQsendQueryPreparedFunction)(
    PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats,
    int resultFormat);
typedef PGresult *(*PQgetResultFunction)(PGconn *connection);

typedef void (*PQclearFunction)(PGresult *result);
typedef int (*PQresultStatusFunction)(const PGresult *result);
typedef char *(*PQresultErrorFieldFunction)(const PGresult *result, int field);
typedef char *(*PQcmdTuplesFunction)(PGresult *result);
typedef int (*PQntuplesFunction)(const PGresult *result);
typedef int (*PQnfieldsFunction)(const PGresult *result);
typedef char *(*PQfnameFunction)(const PGresult *result, int column);
typedef Oid (*PQftypeFunction)(const PGresult *result, int column);
typedef char *(*PQgetvalueFunction)(const PGresult *result, int row, int column);
typedef int (*PQgetlengthFunction)(const PGresult *result, int row, int column);
typedef int (*PQgetisnullFunction)(const PGresult *result, int row, int column);
