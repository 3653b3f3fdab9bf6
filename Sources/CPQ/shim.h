// libpq, PostgreSQL's client library (https://www.postgresql.org/docs/current/libpq.html), for PostgreSQLStore.

#include <libpq-fe.h>
