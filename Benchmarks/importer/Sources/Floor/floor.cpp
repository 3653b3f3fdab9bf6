#include "floor.h"

#include <sqlite3.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

class Statement {
public:
    Statement(sqlite3 *connection, const std::string &sql) : connection_(connection) {
        if (sqlite3_prepare_v3(connection, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &handle_, nullptr) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(connection));
        }
    }
    ~Statement() { sqlite3_finalize(handle_); }
    Statement(const Statement &) = delete;
    Statement &operator=(const Statement &) = delete;

    void bind(int index, const floor_cell &cell) {
        switch (cell.kind) {
        case FLOOR_INTEGER: sqlite3_bind_int64(handle_, index, cell.value.integer); break;
        case FLOOR_REAL: sqlite3_bind_double(handle_, index, cell.value.real); break;
        case FLOOR_TEXT:
            sqlite3_bind_text(handle_, index, cell.text, static_cast<int>(cell.value.length), SQLITE_STATIC);
            break;
        default: sqlite3_bind_null(handle_, index);
        }
    }

    bool step() {
        int status = sqlite3_step(handle_);
        if (status != SQLITE_ROW && status != SQLITE_DONE) {
            throw std::runtime_error(sqlite3_errmsg(connection_));
        }
        return status == SQLITE_ROW;
    }
    void reset() { sqlite3_reset(handle_); }

    bool matches(int column, const floor_cell &cell) const {
        int type = sqlite3_column_type(handle_, column);
        switch (cell.kind) {
        case FLOOR_INTEGER:
            return type == SQLITE_INTEGER && sqlite3_column_int64(handle_, column) == cell.value.integer;
        case FLOOR_REAL: return type == SQLITE_FLOAT && sqlite3_column_double(handle_, column) == cell.value.real;
        case FLOOR_TEXT: {
            if (type != SQLITE_TEXT) return false;
            const void *text = sqlite3_column_text(handle_, column);
            size_t length = static_cast<size_t>(sqlite3_column_bytes(handle_, column));
            return length == cell.value.length && std::memcmp(text, cell.text, length) == 0;
        }
        default: return type == SQLITE_NULL;
        }
    }

private:
    sqlite3 *connection_;
    sqlite3_stmt *handle_ = nullptr;
};

class Connection {
public:
    explicit Connection(const char *path) {
        // As GRDB opens its connections: each is used by one thread at a time.
        int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        if (sqlite3_open_v2(path, &handle_, flags, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(handle_));
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = NORMAL");
        run("PRAGMA foreign_keys = ON");
        run("PRAGMA cache_size = -12288");
        run("PRAGMA wal_autocheckpoint = 4000");
    }
    ~Connection() { sqlite3_close(handle_); }
    Connection(const Connection &) = delete;
    Connection &operator=(const Connection &) = delete;

    void run(const char *sql) {
        if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(handle_));
        }
    }
    sqlite3 *handle() const { return handle_; }
    int64_t changes() const { return sqlite3_total_changes64(handle_); }

private:
    sqlite3 *handle_ = nullptr;
};

std::string list(const floor_input &input, const char *before, const char *after, const char *between, size_t first) {
    std::string text;
    for (size_t column = first; column < input.columns; column++) {
        if (column > first) text += between;
        text += before + (std::string("\"") + input.names[column] + "\"") + after;
    }
    return text;
}

std::string insertion(const floor_input &input) {
    std::string sql = "INSERT INTO \"" + std::string(input.table) + "\" (" + list(input, "", "", ", ", 0) + ") VALUES (";
    for (size_t column = 0; column < input.columns; column++) sql += column == 0 ? "?" : ", ?";
    return sql + ")";
}

template <typename Body> void in_transactions(Connection &connection, const floor_input &input, Body body) {
    for (size_t first = 0; first < input.rows; first += input.rows_per_transaction) {
        connection.run("BEGIN IMMEDIATE");
        size_t end = first + input.rows_per_transaction;
        for (size_t row = first; row < end && row < input.rows; row++) body(input.cells + row * input.columns);
        connection.run("COMMIT");
    }
}

template <typename Body> int64_t guarded(const char *database, Body body) {
    try {
        Connection connection(database);
        body(connection);
        return connection.changes();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "floor: %s\n", error.what());
        return -1;
    }
}

} // namespace

int64_t floor_upsert(const char *database, const floor_input *input) {
    return guarded(database, [input](Connection &connection) {
        std::string sql = insertion(*input) + " ON CONFLICT DO UPDATE SET ";
        for (size_t column = 1; column < input->columns; column++) {
            std::string name = std::string("\"") + input->names[column] + "\"";
            sql += (column > 1 ? ", " : "") + name + " = excluded." + name;
        }
        sql += " WHERE ";
        for (size_t column = 1; column < input->columns; column++) {
            std::string name = std::string("\"") + input->names[column] + "\"";
            sql += (column > 1 ? " OR " : "") + name + " IS NOT excluded." + name;
        }
        Statement upsert(connection.handle(), sql);
        in_transactions(connection, *input, [&](const floor_cell *row) {
            for (size_t column = 0; column < input->columns; column++) {
                upsert.bind(static_cast<int>(column) + 1, row[column]);
            }
            upsert.step();
            upsert.reset();
        });
    });
}

int64_t floor_compare(const char *database, const floor_input *input) {
    return guarded(database, [input](Connection &connection) {
        Statement look_up(
            connection.handle(), "SELECT " + list(*input, "", "", ", ", 0) + " FROM \"" + input->table + "\" WHERE \""
                                     + input->names[0] + "\" = ?");
        Statement insert(connection.handle(), insertion(*input));
        in_transactions(connection, *input, [&](const floor_cell *row) {
            look_up.bind(1, row[0]);
            if (look_up.step()) {
                bool is_same = true;
                for (size_t column = 0; column < input->columns; column++) {
                    is_same = is_same && look_up.matches(static_cast<int>(column), row[column]);
                }
                look_up.reset();
                if (!is_same) throw std::runtime_error("a row changed: this floor compares only");
                return;
            }
            look_up.reset();
            for (size_t column = 0; column < input->columns; column++) {
                insert.bind(static_cast<int>(column) + 1, row[column]);
            }
            insert.step();
            insert.reset();
        });
    });
}
