internal import TextFormats
internal import ArgumentParser
internal import BMO
internal import Foundation
internal import Importer
internal import Mapping
internal import RecordBatch
internal import StoreContract

/// How to save an edit: only locally, locally and remotely, or only if the remote accepts it.
struct SaveOptions: ParsableArguments {
    @Flag(help: "Send the waiting edits of this entity at once; the exit code is 1 unless this edit was accepted.")
    var push = false

    @Flag(
        help: """
            As --push, and roll back here what the remote did not accept, object by object; refused where an edit of \
            the object waits already.
            """)
    var orRollback = false

    @Flag(
        name: [.long, .customLong("output-json")],
        help: "Print the result, a JSON object per line; --output-json is the same.")
    var json = false
}

/// The sources of objects' values.
struct ValueOptions: ParsableArguments {
    @Option(
        name: .customLong("set"), parsing: .singleValue,
        help: ArgumentHelp(
            "Set an attribute, or a relationship: to one object by its key, to many by a JSON list of keys.",
            valueName: "name=value"))
    var set: [String] = []

    @Option(
        name: .customLong("set-null"), parsing: .singleValue,
        help: ArgumentHelp("Clear an attribute or a relationship.", valueName: "name"))
    var setNull: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read objects by local names from a JSON file (- is stdin): one, a list, or one per line.",
            valueName: "file"
        ))
    var values: String?

    func validate() throws {
        if values != nil, !set.isEmpty || !setNull.isEmpty {
            throw ValidationError("--values and --set cannot be combined")
        }
    }

    /// Reads the objects of the JSON file: a single one, a list, or one per line.
    func objects() throws -> [RecordBatch] {
        guard let values else { return [] }
        let bytes: Data
        do {
            bytes =
                values == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data()
                : try Data(contentsOf: URL(fileURLWithPath: values))
        } catch {
            throw CommandFailure("\(values) cannot be read: \(error.localizedDescription)")
        }
        guard let text = String(validUTF8: bytes) else {
            throw CommandFailure("\(values) is not UTF-8", exitCode: CommandFailure.usage)
        }
        // A file that is a single JSON value is an object or a list; otherwise it has one object per line.
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
                throw CommandFailure("\(values), line \(number + 1): \(error)", exitCode: CommandFailure.usage)
            }
        }
        return batches
    }
}

extension String {
    /// Decodes bytes; nil if they are invalid in the encoding.
    fileprivate init?(validating data: Data, as encoding: UTF8.Type) {
        guard let text = String(data: data, encoding: .utf8) else { return nil }
        self = text
    }
}

/// Makes edits, reports them, and pushes them if requested.
struct EditRun {
    let workspace: Workspace
    let options: WorkspaceOptions
    let save: SaveOptions

    func run(_ edits: [LocalEdit], command: String) async throws {
        guard !edits.isEmpty else {
            throw CommandFailure("there is nothing to do: no values are given", exitCode: CommandFailure.usage)
        }
        let store = try openStore()
        let made: EditSave
        do {
            made = try workspace.save(edits, workflow: workflow, in: store)
        } catch let error as StoreError where error.code == .request {
            throw CommandFailure(error.description, exitCode: CommandFailure.usage)
        }
        // With a rollback the result is known only at the end.
        if workflow != .acceptedOnly {
            for (edit, receipt) in zip(edits, made.receipts) { tell(edit, receipt, store) }
        }
        guard workflow != .localOnly else { return try store.close() }
        let sent = try await send(made, store, command)
        if workflow == .acceptedOnly {
            for (edit, receipt) in zip(edits, made.receipts) {
                var receipt = receipt
                if let entry = receipt.entry, case .sent(let key?) = sent.outcomes[entry] { receipt.key = key }
                tell(edit, receipt, store, rolledBack: sent.rolledBack)
            }
        }
        try store.close()
        let isAccepted = !sent.outcomes.values.contains { $0.kind != .sent }
        if let failure = sent.failure {
            guard isAccepted else { throw failure }
            Terminal.error("\(failure)", prefix: "bmo: warning: ")
        }
        if !isAccepted { throw ExitCode(CommandFailure.failed) }
    }

    /// How the edits are saved, by the options.
    private var workflow: SaveWorkflow { save.orRollback ? .acceptedOnly : save.push ? .localFirst : .localOnly }

    /// Opens the database for edits; a new object needs no sync before it.
    private func openStore() throws -> any Store {
        try workspace.openStoreForEdits(command: "bmo")
    }

    // MARK: Reporting

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

    /// Describes the state of an edit: ready to be sent, or blocked by something.
    ///
    /// - Parameter first: The first waiting edit of the same object.
    private func standing(_ entry: OutboxEntry, after first: OutboxEntry) -> String {
        let after = first.id == entry.id ? "" : " after outbox \(first.id)"
        switch first.state {
        case .pending, .sending: return "to be sent\(after): outbox \(entry.id)"
        case .conflict:
            let key = entry.key.map(\.description).joined(separator: " ")
            return "not sent before `bmo resolve \(entry.entity) \(key)`, as outbox \(first.id) is in conflict"
                + (after.isEmpty ? "" : ": outbox \(entry.id)")
        case .refused:
            return "not sent before `bmo outbox retry \(first.id)`, as the remote refused it"
                + (after.isEmpty ? "" : ": outbox \(entry.id)")
        case .unknown:
            return "to be sent\(after) once a push has checked whether the remote has it: outbox \(entry.id)"
        }
    }

    /// Returns the waiting edits of an object that was edited; nil, with a warning, if they cannot be read.
    ///
    /// The edit is committed: a script that took it for failed would make it a second time.
    private func waitingEdits(after receipt: EditReceipt, in store: any Store) -> [OutboxEntry]? {
        guard let entry = receipt.entry else { return [] }
        do {
            return try store.outbox(entity: receipt.entity, key: receipt.key)
        } catch {
            Terminal.error("the state of outbox \(entry) cannot be read: \(error)", prefix: "bmo: warning: ")
            return nil
        }
    }

    private func tell(
        _ edit: LocalEdit, _ receipt: EditReceipt, _ store: any Store, rolledBack: Set<Int64> = []
    ) {
        let entries = waitingEdits(after: receipt, in: store)
        let waiting = entries?.first { $0.id == receipt.entry }
        let isTemporary = waiting?.hasTemporaryKey ?? false
        let isRolledBack = receipt.entry.map(rolledBack.contains) ?? false
        if save.json {
            print(
                RecordBatchWriter.json { writer in
                    writer.member("entity", receipt.entity)
                    writer.key("key")
                    writer.array { for value in receipt.key { OutgoingValue.plain(value).write(to: writer) } }
                    if entries != nil { writer.member("temporary_key", isTemporary) }
                    writer.member("operation", edit.operation.rawValue)
                    writer.member("entry", receipt.entry.map { Int($0) })
                    if let waiting { writer.member("state", waiting.state.rawValue) }
                    if save.orRollback { writer.member("rolled_back", isRolledBack) }
                })
            return
        }
        let name = Self.name(receipt.entity, receipt.key)
        guard let entry = receipt.entry else {
            print("\(name): nothing to send")
            return
        }
        guard !isRolledBack else {
            print("\(name) not \(Self.words(edit.operation)): rolled back, outbox \(entry)")
            return
        }
        let temporary = isTemporary ? " (temporary key)" : ""
        let standing: String? =
            switch workflow {
            case .acceptedOnly: nil
            case _ where entries == nil: "saved as outbox \(entry)"
            case .localOnly: waiting.map { self.standing($0, after: entries?.first ?? $0) }
            case .localFirst, .rollBack, .afterRemote: nil
            }
        print("\(name) \(Self.words(edit.operation))\(temporary)\(standing.map { ", \($0)" } ?? "")")
    }

    // MARK: Sending

    /// Pushes the waiting edits of the entities, and rolls back what the workflow does not keep.
    private func send(_ made: EditSave, _ store: any Store, _ command: String) async throws -> EditSave.Result {
        let printer = PushPrinter(json: save.json)
        let options = Workspace.PushOptions(
            entities: Array(Set(made.receipts.map(\.entity))), lockTimeout: .atMost(.seconds(30)))
        let pusher = StorePusher(
            workspace, store, options, command: command,
            onBusy: { Terminal.error($0.description, prefix: "bmo: warning: ") }, report: printer.add)
        var sent = try await made.send(by: pusher, in: store)
        if let fault = sent.fault { throw fault }
        for (entry, outcome) in sent.outcomes.sorted(by: { $0.key < $1.key }) {
            guard outcome.kind == .dropped, sent.rolledBack.insert(entry).inserted else { continue }
            // Another process may have dropped it before its turn; if an import gave it up, its line says why.
            guard outcome.failure == nil else { continue }
            Terminal.error("outbox \(entry) was dropped before it was sent", prefix: "bmo: warning: ")
        }
        let kept = sent.outcomes.filter { $0.value.kind != .sent && !sent.rolledBack.contains($0.key) }.keys.sorted()
        if save.orRollback, !kept.isEmpty {
            let numbers = kept.map(String.init).joined(separator: ", ")
            let isSentAgain = kept.allSatisfy { sent.outcomes[$0]?.kind == .waits }
            let next = isSentAgain ? "sends it again" : "checks the remote"
            Terminal.error(
                "the outcome is unknown: the edit is kept as outbox \(numbers), and the next push \(next)",
                prefix: "bmo: warning: ")
        }
        return sent
    }
}
