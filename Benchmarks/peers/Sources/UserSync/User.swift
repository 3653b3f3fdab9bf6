import Foundation
import GRDB

/// A page of the listing, and where the next one is.
struct Page: Decodable, Sendable {
    var items: [User]
    var next: String?
}

/// A row of the table, and a record of the listing but for the address, whose city and zip the row has.
struct User: Codable, PersistableRecord, Sendable {
    static let databaseTableName = "User"

    var id: Int64
    var name: String
    var username: String
    var email: String
    var phone: String
    var website: String
    var company: String
    var born: String
    var registered: String
    var score: Double
    var active: Bool
    var city: String
    var zip: String

    private enum Nested: String, CodingKey {
        case address
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int64.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name)
        username = try container.decode(String.self, forKey: .username)
        email = try container.decode(String.self, forKey: .email)
        phone = try container.decode(String.self, forKey: .phone)
        website = try container.decode(String.self, forKey: .website)
        company = try container.decode(String.self, forKey: .company)
        born = try container.decode(String.self, forKey: .born)
        registered = try container.decode(String.self, forKey: .registered)
        score = try container.decode(Double.self, forKey: .score)
        active = try container.decode(Bool.self, forKey: .active)
        let address = try decoder.container(keyedBy: Nested.self)
            .nestedContainer(keyedBy: CodingKeys.self, forKey: .address)
        city = try address.decode(String.self, forKey: .city)
        zip = try address.decode(String.self, forKey: .zip)
    }
}

extension User {
    static func createTable(_ db: Database) throws {
        try db.create(table: databaseTableName, options: [.ifNotExists, .strict]) { table in
            table.primaryKey("id", .integer)
            for name in ["name", "username", "email", "phone", "website", "company", "born", "registered"] {
                table.column(name, .text).notNull()
            }
            table.column("score", .real).notNull()
            table.column("active", .integer).notNull()
            table.column("city", .text).notNull()
            table.column("zip", .text).notNull()
        }
    }

    /// An upsert that writes no row that has the values already.
    static let guardedUpsert = {
        let others = [
            "name", "username", "email", "phone", "website", "company", "born", "registered", "score", "active", "city",
            "zip",
        ]
        return """
            INSERT INTO User(id, \(others.joined(separator: ", ")))
            VALUES(?\(String(repeating: ", ?", count: others.count)))
            ON CONFLICT(id) DO UPDATE SET \(others.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
            WHERE \(others.map { "\($0) IS NOT excluded.\($0)" }.joined(separator: " OR "))
            """
    }()

    var arguments: StatementArguments {
        [id, name, username, email, phone, website, company, born, registered, score, active, city, zip]
    }
}
