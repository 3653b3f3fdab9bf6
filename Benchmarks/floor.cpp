// The floor: the least that a program must do to bring the users into SQLite. It reads the pages from disk (no HTTP),
// parses with simdjson's on-demand API, and binds straight into one prepared, guarded upsert, in one transaction.
//
//   floor DATABASE PAGE.json...      prints the number of rows written
#include <simdjson.h>
#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace simdjson;

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "floor: %s\n", what.c_str());
    std::exit(1);
}

const char *const schema = R"(
    CREATE TABLE IF NOT EXISTS User(
        id INTEGER PRIMARY KEY NOT NULL, name TEXT, username TEXT, email TEXT, phone TEXT, website TEXT, company TEXT,
        born TEXT, registered TEXT, score REAL, active INTEGER, city TEXT, zip TEXT
    ) STRICT)";

const char *const upsert = R"(
    INSERT INTO User VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
        name = excluded.name, username = excluded.username, email = excluded.email, phone = excluded.phone,
        website = excluded.website, company = excluded.company, born = excluded.born,
        registered = excluded.registered, score = excluded.score, active = excluded.active,
        city = excluded.city, zip = excluded.zip
    WHERE name IS NOT excluded.name OR username IS NOT excluded.username OR email IS NOT excluded.email
        OR phone IS NOT excluded.phone OR website IS NOT excluded.website OR company IS NOT excluded.company
        OR born IS NOT excluded.born OR registered IS NOT excluded.registered OR score IS NOT excluded.score
        OR active IS NOT excluded.active OR city IS NOT excluded.city OR zip IS NOT excluded.zip)";

class Database {
public:
    explicit Database(const char *path) {
        check(sqlite3_open(path, &connection_));
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = NORMAL");
        run("PRAGMA cache_size = -65536");
        run(schema);
        check(sqlite3_prepare_v3(connection_, upsert, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
    }

    ~Database() {
        sqlite3_finalize(statement_);
        sqlite3_close(connection_);
    }

    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    void run(const char *sql) { check(sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr)); }

    void bind_text(int column, std::string_view text) {
        check(sqlite3_bind_text(statement_, column, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
    }
    void bind_integer(int column, int64_t value) { check(sqlite3_bind_int64(statement_, column, value)); }
    void bind_real(int column, double value) { check(sqlite3_bind_double(statement_, column, value)); }

    void step() {
        if (sqlite3_step(statement_) != SQLITE_DONE) {
            fail(sqlite3_errmsg(connection_));
        }
        sqlite3_reset(statement_);
    }

    int changes() const { return sqlite3_total_changes(connection_); }

private:
    void check(int code) {
        if (code != SQLITE_OK) {
            fail(sqlite3_errmsg(connection_));
        }
    }

    sqlite3 *connection_ = nullptr;
    sqlite3_stmt *statement_ = nullptr;
};

void load(Database &database, ondemand::parser &parser, const char *path) {
    const char *const texts_before[] = {"name", "username", "email", "phone", "website", "company", "born", "registered"};
    padded_string page = padded_string::load(path);
    ondemand::document document = parser.iterate(page);
    // Fields are looked for in the order in which they come: the fastest that on-demand has.
    for (ondemand::object user : document["items"].get_array()) {
        database.bind_integer(1, user.find_field("id").get_int64());
        int column = 2;
        for (const char *name : texts_before) {
            database.bind_text(column++, user.find_field(name).get_string());
        }
        database.bind_real(column++, user.find_field("score").get_double());
        database.bind_integer(column++, bool(user.find_field("active").get_bool()) ? 1 : 0);
        ondemand::object address = user.find_field("address").get_object();
        database.bind_text(column++, address.find_field("city").get_string());
        database.bind_text(column++, address.find_field("zip").get_string());
        database.step();
    }
}

} // namespace

int main(int count, char **arguments) {
    if (count < 3) {
        fail("usage: floor DATABASE PAGE.json...");
    }
    try {
        Database database(arguments[1]);
        ondemand::parser parser;
        database.run("BEGIN IMMEDIATE");
        for (int index = 2; index < count; index++) {
            load(database, parser, arguments[index]);
        }
        database.run("COMMIT");
        std::printf("%d\n", database.changes());
    } catch (const simdjson_error &error) {
        fail(error.what());
    }
}
