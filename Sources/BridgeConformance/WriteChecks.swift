internal import BridgeHost
internal import Model
internal import RecordBatch

/// Checks a bridge's writes, with the objects that the settings allow.
enum WriteChecks {
    static let all = [
        Check("write.create", "an object that is created can be read", .full) { subject in
            try await lives(subject, until: .created)
        },
        Check("write.update", "an update changes what it names and nothing else", .full) { subject in
            try await lives(subject, until: .updated)
        },
        Check("write.delete", "an object that is deleted is gone", .full) { subject in
            try await lives(subject, until: .deleted)
        },
        Check("write.again", "deleting a missing object is not an error", .full) { subject in
            try await lives(subject, until: .deletedAgain)
        },
        Check("write.user_info", "a user info that it does not know changes nothing of a write", .full) { subject in
            guard subject.plugin.can("user_info") else { throw NotApplicable("it takes no user info") }
            let last: Stage =
                subject.plugin.can("delete") ? .deleted : subject.plugin.can("update") ? .updated : .created
            try await lives(subject, until: last, withUserInfo: true)
        },
        Check("write.unknown", "an update of a missing object is refused as such", .strict) { subject in
            var (entity, write, connection) = try await start(subject, "update")
            try await connection.closing {
                if write.create[write.key] == nil {
                    // A deleted object is as unknown as one that never existed.
                    guard subject.plugin.can("create"), subject.plugin.can("delete") else {
                        throw NotApplicable("the settings name no key, and the bridge cannot create or delete")
                    }
                    write = try await create(entity, write, connection, subject)
                    _ = try await connection.write(try request("delete", entity, write, [:], subject))
                }
                do {
                    _ = try await connection.write(try request("update", entity, write, write.update, subject))
                } catch let error as BridgeFailure {
                    let good: [BridgeFailure.Code] = [.notFound, .conflict]
                    try require(
                        good.contains(error.code),
                        "the failure has the code \(error.code.rawValue): \(error.message)")
                    return
                }
                throw Violation("it reports success")
            }
        },
    ]

    private enum Stage: Int {
        case created, updated, deleted, deletedAgain
    }

    private static func start(
        _ subject: Subject, _ operation: String
    ) async throws -> (Entity, ConformanceSettings.Write, BridgeConnection) {
        guard subject.plugin.can(operation) else { throw NotApplicable("it cannot \(operation)") }
        guard
            let (entity, write) = try subject.entities().lazy.compactMap({ entity in
                subject.settings.writes[entity.name].map { (entity, $0) }
            }).first
        else { throw NotApplicable("the settings have no `writes` of an entity of the config") }
        return (entity, write, try await subject.connect())
    }

    /// Creates, updates and deletes an object up to `stage`, checks the remote after each step, and cleans up.
    ///
    /// - Parameter withUserInfo: Whether each write has a user info, which must not change what the bridge explains of it.
    private static func lives(_ subject: Subject, until stage: Stage, withUserInfo: Bool = false) async throws {
        let operation = stage == .created ? "create" : stage == .updated ? "update" : "delete"
        guard subject.plugin.can(operation) else { throw NotApplicable("it cannot \(operation)") }
        var (entity, write, connection) = try await start(subject, "create")
        try await connection.closing {
            func send(_ operation: String, _ values: [String: ConformanceSettings.Scalar] = [:]) async throws {
                if withUserInfo { try await compare(operation, entity, write, values, connection, subject) }
                _ = try await connection.write(
                    try request(operation, entity, write, values, subject, withUserInfo: withUserInfo))
            }
            let others = try await objects(subject, entity, write, connection).filter { $0.key != key(write) }
            if withUserInfo { try await compare("create", entity, write, write.create, connection, subject) }
            write = try await create(entity, write, connection, subject, withUserInfo: withUserInfo)
            var expected = write.create
            do {
                try await expect(expected, subject, entity, write, connection, "after the create")
                if stage.rawValue >= Stage.updated.rawValue, subject.plugin.can("update") {
                    try await send("update", write.update)
                    expected.merge(write.update) { _, new in new }
                    try await expect(expected, subject, entity, write, connection, "after the update")
                }
                guard subject.plugin.can("delete") else { return }
                try await send("delete")
            } catch {
                _ = try? await connection.write(try request("delete", entity, write, [:], subject))
                throw error
            }
            guard stage.rawValue >= Stage.deleted.rawValue else { return }
            let left = try await objects(subject, entity, write, connection)
            try require(left[key(write)] == nil, "\(entity.name) \(key(write)) is still there after the delete")
            try require(left == others, "the delete removed other objects too")
            guard stage == .deletedAgain else { return }
            _ = try await connection.write(try request("delete", entity, write, [:], subject))
        }
    }

    /// Creates the object; takes the key from the reply if the remote assigns it.
    private static func create(
        _ entity: Entity, _ write: ConformanceSettings.Write, _ connection: BridgeConnection, _ subject: Subject,
        withUserInfo: Bool = false
    ) async throws -> ConformanceSettings.Write {
        let answer = try await connection.write(
            try request("create", entity, write, write.create, subject, withUserInfo: withUserInfo))
        guard write.create[write.key] == nil else { return write }
        var write = write
        let value = answer.flatMap { $0.count > 0 ? $0[0][write.key] : nil }
        if let number = value?.integer {
            write.create[write.key] = .integer(Int(number))
        } else if let text = value?.text {
            write.create[write.key] = .text(text)
        } else {
            throw Violation(
                "\(entity.name): the answer to the create has no \"\(write.key)\": the created object is unknown; let "
                    + "`write` return the object, or name the key under `create` of the settings")
        }
        return write
    }

    private static func key(_ write: ConformanceSettings.Write) -> String {
        write.create[write.key]?.description ?? ""
    }

    /// Compares what the bridge explains of a write with a user info and without one, if it can explain writes.
    private static func compare(
        _ operation: String, _ entity: Entity, _ write: ConformanceSettings.Write,
        _ values: [String: ConformanceSettings.Scalar], _ connection: BridgeConnection, _ subject: Subject
    ) async throws {
        guard subject.plugin.can("plan_write") else { return }
        let key = newKey()
        func explanation(_ withUserInfo: Bool) async throws -> String? {
            let request = try request(
                operation, entity, write, values, subject, withUserInfo: withUserInfo, explains: true, key: key)
            return try await connection.write(request).flatMap { $0.count > 0 ? $0.json(0) : nil }
        }
        let alone = try await explanation(false)
        let told = try await explanation(true)
        try require(
            alone == told,
            "\(entity.name): with a user info, it explains the \(operation) as \((told ?? "nothing").prefix(200)), without one as "
                + "\((alone ?? "nothing").prefix(200))")
    }

    private static func newKey() -> String { "conformance-\(UInt64.random(in: .min ... .max))" }

    /// - Parameter key: The write's idempotency key. Each write needs its own: a remote that recognizes such keys would treat
    ///   a second write as a retry of the first.
    private static func request(
        _ operation: String, _ entity: Entity, _ write: ConformanceSettings.Write,
        _ values: [String: ConformanceSettings.Scalar], _ subject: Subject, withUserInfo: Bool = false,
        explains: Bool = false, key: String = newKey()
    ) throws -> RecordBatch {
        let section = try subject.request(entity).section
        let writer = RecordBatchWriter()
        func add(_ values: [String: ConformanceSettings.Scalar]) {
            writer.object {
                for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                    switch value {
                    case .integer(let value): writer.member(name, value)
                    case .bool(let value): writer.member(name, value)
                    case .text(let value): writer.member(name, value)
                    }
                }
            }
        }
        writer.object {
            writer.member("operation", operation)
            writer.member("entity", entity.name)
            writer.key("section")
            section.write(to: writer)
            writer.key("key")
            add(write.create.filter { $0.key == write.key })
            writer.key("values")
            add(values)
            writer.key("object")
            add(write.create.merging(values) { _, new in new })
            writer.key("key_paths")
            writer.object {
                writer.key(write.key)
                writer.array { writer.text(write.key) }
            }
            writer.member("idempotency_key", key)
            if withUserInfo {
                writer.key("user_info")
                Subject.unknownUserInfo.write(to: writer)
            }
            if explains { writer.member("explain", true) }
        }
        return try writer.finish()
    }

    /// Returns the members of the remote's objects by key.
    private static func objects(
        _ subject: Subject, _ entity: Entity, _ write: ConformanceSettings.Write, _ connection: BridgeConnection
    ) async throws -> [String: [String: String]] {
        var objects: [String: [String: String]] = [:]
        for batch in try await subject.scan(connection, try subject.request(entity)).batches {
            for index in 0..<batch.count {
                let members = batch[index].members.map { ($0.key, $0.value.json) }
                let object = Dictionary(members, uniquingKeysWith: { _, last in last })
                objects[object[write.key] ?? ""] = object
            }
        }
        return objects
    }

    private static func expect(
        _ values: [String: ConformanceSettings.Scalar], _ subject: Subject, _ entity: Entity,
        _ write: ConformanceSettings.Write, _ connection: BridgeConnection, _ when: String
    ) async throws {
        guard let object = try await objects(subject, entity, write, connection)[key(write)] else {
            throw Violation("\(entity.name) \(key(write)) does not exist \(when)")
        }
        for (name, value) in values where object[name] != value.description {
            throw Violation("\(entity.name).\(name) is \(object[name] ?? "absent") \(when), not \(value)")
        }
    }
}
