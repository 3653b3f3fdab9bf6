/*
 * libpq, PostgreSQL's client library (https://www.postgresql.org/docs/current/libpq.html), for PostgreSQLStore. It is
 * loaded by cpq_load(), so that a program without a database of PostgreSQL neither needs it nor loads the libraries of
 * Kerberos and LDAP with it.
 */
#ifndef CPQ_H
#define CPQ_H

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#elif __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#error "libpq-fe.h is missing: install libpq-dev"
#endif

/*
 * Loads libpq unless it is loaded already; call it before any other function. Returns NULL, or the reason of a failure,
 * which stays valid. A failure is final. Any thread may call it.
 */
const char *cpq_load(void);

#ifndef LIBPQ_HAS_PIPELINING
#error "libpq-dev is older than PostgreSQL 14"
#endif

/* Whether the loaded libpq has the functions of the pipeline mode, which came with PostgreSQL 14. */
int cpq_has_pipelining(void);

/* The functions of libpq that CPQ forwards: X(result, name, parameters, arguments). */
#define CPQ_FUNCTIONS(X) \
    X(int, PQbackendPID, (const PGconn *connection), (connection)) \
    X(void, PQclear, (PGresult * result), (result)) \
    X(char *, PQcmdTuples, (PGresult * result), (result)) \
    X(PGconn *, PQconnectStartParams, (const char *const *names, const char *const *values, int expand), \
        (names, values, expand)) \
    X(PGconn *, PQconnectdbParams, (const char *const *names, const char *const *values, int expand), \
        (names, values, expand)) \
    X(PQconninfoOption *, PQconninfo, (PGconn * connection), (connection)) \
    X(void, PQconninfoFree, (PQconninfoOption * options), (options)) \
    X(PQconninfoOption *, PQconninfoParse, (const char *address, char **message), (address, message)) \
    X(char *, PQdb, (const PGconn *connection), (connection)) \
    X(char *, PQerrorMessage, (const PGconn *connection), (connection)) \
    X(PGresult *, PQexec, (PGconn * connection, const char *sql), (connection, sql)) \
    X(PGresult *, PQexecParams, \
        (PGconn * connection, const char *sql, int count, const Oid *types, const char *const *values, \
            const int *lengths, const int *formats, int format), \
        (connection, sql, count, types, values, lengths, formats, format)) \
    X(PGresult *, PQexecPrepared, \
        (PGconn * connection, const char *name, int count, const char *const *values, const int *lengths, \
            const int *formats, int format), \
        (connection, name, count, values, lengths, formats, format)) \
    X(void, PQfinish, (PGconn * connection), (connection)) \
    X(void, PQfreemem, (void *memory), (memory)) \
    X(PGresult *, PQgetResult, (PGconn * connection), (connection)) \
    X(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column)) \
    X(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column)) \
    X(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column)) \
    X(char *, PQhost, (const PGconn *connection), (connection)) \
    X(int, PQntuples, (const PGresult *result), (result)) \
    X(PGresult *, PQprepare, \
        (PGconn * connection, const char *name, const char *sql, int count, const Oid *types), \
        (connection, name, sql, count, types)) \
    X(char *, PQresultErrorField, (const PGresult *result, int code), (result, code)) \
    X(ExecStatusType, PQresultStatus, (const PGresult *result), (result)) \
    X(int, PQsendPrepare, \
        (PGconn * connection, const char *name, const char *sql, int count, const Oid *types), \
        (connection, name, sql, count, types)) \
    X(int, PQsendQueryParams, \
        (PGconn * connection, const char *sql, int count, const Oid *types, const char *const *values, \
            const int *lengths, const int *formats, int format), \
        (connection, sql, count, types, values, lengths, formats, format)) \
    X(int, PQsendQueryPrepared, \
        (PGconn * connection, const char *name, int count, const char *const *values, const int *lengths, \
            const int *formats, int format), \
        (connection, name, count, values, lengths, formats, format)) \
    X(int, PQserverVersion, (const PGconn *connection), (connection)) \
    X(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn * connection, PQnoticeProcessor processor, void *context), \
        (connection, processor, context)) \
    X(ConnStatusType, PQstatus, (const PGconn *connection), (connection)) \
    X(PGTransactionStatusType, PQtransactionStatus, (const PGconn *connection), (connection))

/* Those that an older libpq lacks. */
#define CPQ_PIPELINE_FUNCTIONS(X) \
    X(int, PQenterPipelineMode, (PGconn * connection), (connection)) \
    X(int, PQexitPipelineMode, (PGconn * connection), (connection)) \
    X(int, PQpipelineSync, (PGconn * connection), (connection))

/* The functions have symbols of their own, so that a program may link libpq as well. */
#define CPQ_DECLARE(type, function, parameters, arguments) type function parameters __asm__("cpq_" #function);
CPQ_FUNCTIONS(CPQ_DECLARE)
CPQ_PIPELINE_FUNCTIONS(CPQ_DECLARE)
#undef CPQ_DECLARE

#endif
