internal import ArgumentParser
internal import BMO
internal import Foundation
internal import Importer
internal import Mapping
internal import RecordBatch
internal import SQLiteStore

/// How an edit is saved: here only, here and there, or only if there.
struct SaveOptions: ParsableArguments {
    @Flag(help: "Send at once what waits for this entity; the exit code is 1 unless this edit was accepted.")
    var push = false

    @Flag(help: "As --push, and roll back here what the remote did not accept.")
    var orRollback = false

    @Flag(help: "Print what was done, a JSON object a line.")
    var outputJson = false
}

/// Where the values of objects come from.
struct ValueOptions: ParsableArguments {
    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp(
            "Set an attribute; of a relationship to one the target's key, of one to many a JSON list of keys.",
            valueName: "name=value"))
    var set: [String] = []

    @Option(
        name: .customLong("set-null"), parsing: .singleValue,
        help: ArgumentHelp("Clear an attribute or a relationship.", valueName: "name"))
    var setNull: [String] = []

    @Option(
        name: .customLong("json"),
        help: ArgumentHelp(
            "Read objects by local names from a JSON file (- is stdin): one, a list, or one a line.", valueName: "file"
        ))
    var json: String?

    func validate() throws {
        if json != nil, !set.isEmpty || !setNull.isEmpty {
            throw ValidationError("--json and --set exclude each other")
        }
    }

    /// The objects of the JSON file: one, those of a list, or those of its lines.
    func objects() throws -> [RecordBatch] {
        guard let json else { return [] }
        let bytes: Data
        do {
            bytes =
                json == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data()
                : try Data(contentsOf: URL(fileURLWithPath: json))
        } catch {
            throw CommandFailure("\(json) cannot be read: \(error.localizedDescription)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure("\(json) is not UTF-8", exitCode: CommandFailure.usage)
        }
        // A whole file that is JSON is one object or a list; what goes on after a value is one a line.
        if let batch = try? JSONParser.batch(text) {
            return try withExtendedLifetime(batch) {
                guard batch[0].tag == .array else { return [batch] }
                return try batch[0].elements.map { element in
                    let writer = RecordBatchWriter()
                    writer.copy(element)
                    return try writer.finish()
                }
            }
        }
        var batches: [RecordBatch] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            do {
                batches.append(try JSONParser.batch(String(line)))
            } catch {
                throw CommandFailure("\(json), line \(number + 1): \(error)", exitCode: CommandFailure.usage)
            }
        }
        return batches
    }
}

extension String {
    /// The text in bytes; nil where they are not in the encoding.
    fileprivate init?(validating data: Data, as encoding: UTF8.Type) {
        guard let text = String(data: data, encoding: .utf8) else { return nil }
        self = text
    }
}

/// Makes edits, tells what was done, and sends them where that is wanted.
struct EditRun {
    let workspace: Workspace
    let options: WorkspaceOptions
    let save: SaveOptions

    func run(_ edits: [LocalEdit], command: String) async throws {
        guard !edits.isEmpty else {
            throw CommandFailure("there is nothing to do: no values are given", exitCode: CommandFailure.usage)
        }
        let store = try openStore()
        let receipts: [EditReceipt]
        do {
            receipts = try workspace.edit(edits, in: store)
        } catch let error as StoreError where error.code == .request {
            throw CommandFailure(error.description, exitCode: CommandFailure.usage)
        }
        let doesPush = save.push || save.orRollback
        for (edit, receipt) in zip(edits, receipts) {
            let isTemporary = try receipt.entry.flatMap { try store.outboxEntry($0) }?.hasTemporaryKey ?? false
            tell(edit, receipt, isTemporary: isTemporary, doesPush: doesPush)
        }
        guard doesPush else { return try store.close() }
        let failures = try await send(receipts, store, command)
        try store.close()
        if failures > 0 { throw ExitCode(CommandFailure.failed) }
    }

    /// A new object does not need a sync before it.
    private func openStore() throws -> SQLiteStore {
        try workspace.openStore()
    }

    // MARK: telling

    static func words(_ operation: OutboxEntry.Operation) -> String {
        switch operation {
        case .create: "created"
        case .update: "updated"
        case .delete: "deleted"
        }
    }

    static func name(_ entity: String, _ key: [StoredValue]) -> String {
        Terminal.printable("\(entity) \(key.map(\.description).joined(separator: " "))")
    }

    private func tell(_ edit: LocalEdit, _ receipt: EditReceipt, isTemporary: Bool, doesPush: Bool) {
        if save.outputJson {
            print(
                RecordBatchWriter.json { writer in
                    writer.member("entity", receipt.entity)
                    writer.key("key")
                    writer.array { for value in receipt.key { OutgoingValue.plain(value).write(to: writer) } }
                    writer.member("temporary_key", isTemporary)
                    writer.member("operation", edit.operation.rawValue)
                    writer.member("entry", receipt.entry.map { Int($0) })
                })
            return
        }
        let name = Self.name(receipt.entity, receipt.key)
        guard let entry = receipt.entry else {
            print("\(name): nothing to send")
            return
        }
        let temporary = isTemporary ? " (temporary key)" : ""
        print("\(name) \(Self.words(edit.operation))\(temporary)\(doesPush ? "" : ", to be sent: outbox \(entry)")")
    }

    // MARK: sending

    /// Sends what waits; returns how many of the edits were not accepted.
    private func send(_ receipts: [EditReceipt], _ store: SQLiteStore, _ command: String) async throws -> Int {
        let wanted = Set(receipts.compactMap(\.entry))
        let printer = PushPrinter(json: save.outputJson)
        let entities = Array(Set(receipts.map(\.entity)))
        let outcomes = Outcomes()
        do {
            let options = Workspace.PushOptions(entities: entities, patience: .atMost(.seconds(30)))
            _ = try await workspace.push(from: store, options, command: command) { edit in
                guard wanted.contains(edit.entry) else { return }
                outcomes.note(edit)
                printer.add(edit)
            }
        } catch let error as StoreError where error.code == .busy {
            Terminal.error(error.description, prefix: "bmo: warning: ")
        }
        // Another process may have sent it.
        let left = try wanted.sorted().compactMap { try store.outboxEntry($0) }
        guard !left.isEmpty else { return 0 }
        guard save.orRollback else { return left.count }
        let drop = left.filter { entry in
            let outcome = outcomes[entry.id]?.outcome
            return outcome != .unknown && entry.state != .unknown && entry.state != .sending
        }.map(\.id)
        if !drop.isEmpty {
            try store.dropOutbox(drop)
            Terminal.error(
                "rolled back here: outbox \(drop.map(String.init).joined(separator: ", "))", prefix: "bmo: note: ")
        }
        if drop.count < left.count {
            Terminal.error(
                "nobody knows whether the remote did it: the edit stays, and the next push looks",
                prefix: "bmo: warning: ")
        }
        return left.count
    }
}
