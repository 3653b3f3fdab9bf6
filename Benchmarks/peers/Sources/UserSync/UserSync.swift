import Foundation
import GRDB

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Brings the users of a listing into SQLite, as a program that is written for this one listing would.
///
///     UserSync URL DATABASE record       each user is a record of GRDB, saved by its upsert
///     UserSync URL DATABASE statement    one statement for all, which writes only what has changed
///
/// A page is a transaction. The next page is fetched and decoded while the one before is written.
@main
struct UserSync {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let url = URL(string: arguments[1]), let way = Way(rawValue: arguments[3]) else {
            throw Wrong(message: "usage: UserSync URL DATABASE record|statement")
        }
        let pool = try DatabasePool(path: arguments[2])
        try await pool.write { db in try User.createTable(db) }

        var page = try await fetched(url)
        while true {
            let users = page.items
            guard let next = page.next else {
                try await pool.write { db in try way.save(users, db) }
                break
            }
            guard let following = URL(string: next, relativeTo: url) else {
                throw Wrong(message: "\(next) is not the address of a page")
            }
            async let coming = fetched(following)
            try await pool.write { db in try way.save(users, db) }
            page = try await coming
        }
        try pool.close()
    }

    static func fetched(_ url: URL) async throws -> Page {
        let (data, response) = try await URLSession.shared.data(from: url)
        guard let status = (response as? HTTPURLResponse)?.statusCode, status == 200 else {
            throw Wrong(message: "\(url) did not answer with a page: \(response)")
        }
        return try JSONDecoder().decode(Page.self, from: data)
    }
}

/// How rows are written.
enum Way: String {
    case record, statement

    func save(_ users: [User], _ db: Database) throws {
        switch self {
        case .record:
            for user in users { try user.upsert(db) }
        case .statement:
            let statement = try db.cachedStatement(sql: User.guardedUpsert)
            for user in users { try statement.execute(arguments: user.arguments) }
        }
    }
}

struct Wrong: Error, CustomStringConvertible {
    var message: String
    var description: String { message }
}
