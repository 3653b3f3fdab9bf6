internal import ArgumentParser
internal import BMO
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// `bmo outbox`.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Show the local edits that the remote has not confirmed; retry them, or drop them.",
        subcommands: [
            OutboxListCommand.self, OutboxShowCommand.self, OutboxRetryCommand.self, OutboxDropCommand.self,
        ], defaultSubcommand: OutboxListCommand.self)

    /// Returns an entry, or throws a failure that names it.
    static func entry(_ id: Int64, in store: any Store) throws -> OutboxEntry {
        guard let entry = try store.outboxEntry(id) else {
            throw CommandFailure(
                "there is no edit \(id) in the outbox; `bmo outbox` lists them", exitCode: CommandFailure.usage)
        }
        return entry
    }

    static func json(_ entry: OutboxEntry) -> String {
        RecordBatchWriter.json { writer in
            func key(_ values: [StoredValue]) {
                writer.array { for value in values { OutgoingValue.plain(value).write(to: writer) } }
            }
            func member(_ name: String, _ value: StoredValue?) {
                guard let value else { return }
                writer.key(name)
                OutgoingValue.plain(value).write(to: writer)
            }
            writer.member("id", Int(entry.id))
            writer.member("entity", entry.entity)
            writer.key("key")
            key(entry.key)
            writer.member("temporary_key", entry.hasTemporaryKey)
            writer.member("operation", entry.operation.rawValue)
            writer.member("state", entry.state.rawValue)
            writer.member("attempts", entry.attempts)
            writer.member("created", entry.created)
            writer.member("not_before", entry.next)
            writer.member("sent", entry.sent)
            writer.key("depends_on")
            writer.array { for id in entry.dependsOn { writer.int64(id) } }
            writer.key("changes")
            writer.array {
                for change in entry.changes {
                    writer.object {
                        writer.member("column", change.name)
                        member("old", change.old)
                        member("new", change.new)
                    }
                }
            }
            writer.key("links")
            writer.array {
                for link in entry.links {
                    writer.object {
                        writer.member("relationship", link.relationship)
                        writer.key("old")
                        writer.array { for keys in link.old { key(keys) } }
                        writer.key("new")
                        writer.array { for keys in link.new { key(keys) } }
                    }
                }
            }
            writer.key("error")
            if let failure = entry.failure {
                writer.object {
                    writer.member("code", failure.code)
                    writer.member("message", failure.message)
                    writer.member("remedy", failure.remedy)
                    writer.member("remote", failure.remote)
                }
            } else {
                writer.null()
            }
        }
    }
}

/// `bmo outbox list`.
struct OutboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the edits that the remote has not confirmed.")

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("Only this entity's.", valueName: "entity"))
    var entity: String?

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        if let entity { _ = try WorkspaceOptions.entity(entity, in: workspace, orOf: OutboxCommand.self) }
        let store = try options.storeForReading(of: workspace)
        let entries = try store.outbox(entity: entity, state: nil)
        try store.close()
        if json {
            var printer = JSONArrayPrinter()
            for entry in entries { printer.add(OutboxCommand.json(entry)) }
            printer.finish()
            return
        }
        if !entries.isEmpty {
            let rows = entries.map { entry in
                [
                    String(entry.id), entry.state.rawValue,
                    "\(EditRun.name(entry.entity, entry.key)) \(EditRun.words(entry.operation))",
                    String(entry.attempts), entry.created, entry.next ?? "", entry.failure?.line ?? "",
                ]
            }
            print(
                Terminal.table(
                    ["id", "state", "edit", "tries", "since", "not before", "why"], rows, rightAligned: [0, 3]))
        }
        print("\(Terminal.count(entries.count, "edit", "edits")) in the outbox")
    }
}

/// `bmo outbox show`.
struct OutboxShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one edit: its values before and after, and the remote's answer.")

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The edit's number.", valueName: "id"))
    var id: Int64

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        let store = try options.storeForReading(of: workspace)
        let entry = try OutboxCommand.entry(id, in: store)
        try store.close()
        if json { return print(OutboxCommand.json(entry)) }
        var lines = [
            "\(entry.id)  \(EditRun.name(entry.entity, entry.key)) \(EditRun.words(entry.operation)), "
                + "\(entry.state.rawValue)"
        ]
        lines.append("  since  \(entry.created)\(entry.hasTemporaryKey ? ", with a temporary key" : "")")
        if entry.attempts > 0 { lines.append("  tries  \(entry.attempts)") }
        if let next = entry.next { lines.append("  not before \(next)") }
        if let sent = entry.sent { lines.append("  sent   \(sent)") }
        if !entry.dependsOn.isEmpty {
            lines.append("  after  \(entry.dependsOn.map(String.init).joined(separator: ", "))")
        }
        for change in entry.changes {
            let old = change.old.map { "\(Self.quoted($0)) -> " } ?? ""
            lines.append("  \(change.name)  \(old)\(change.new.map(Self.quoted) ?? "gone")")
        }
        for link in entry.links {
            lines.append("  \(link.relationship)  [\(Self.list(link.old))] -> [\(Self.list(link.new))]")
        }
        if let failure = entry.failure { lines.append("  why    \(failure.line)") }
        print(lines.map(Terminal.printable).joined(separator: "\n"))
    }

    private static func quoted(_ value: StoredValue) -> String {
        if case .text(let text) = value.form { return "'\(text.count > 200 ? text.prefix(200) + "…" : text)'" }
        return value.description
    }

    private static func list(_ keys: [[StoredValue]]) -> String {
        let shown = keys.prefix(50).map { $0.map(\.description).joined(separator: "/") }.joined(separator: ", ")
        return keys.count > 50 ? "\(shown), … (\(keys.count) in all)" : shown
    }
}

/// `bmo outbox retry`.
struct OutboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract:
            "Make edits due now; without a number, those that were refused or that wait for their next try.",
        discussion: """
            `bmo push` sends them. An edit whose outcome is unknown is looked up on the remote first; with --unknown \
            it is sent again without the lookup, so check the remote yourself first: a create whose first request arrived \
            makes a second object.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The edits' numbers.", valueName: "id"))
    var ids: [Int64] = []

    @Flag(help: "Also resend edits whose outcome is unknown, without the lookup: a create may then be made twice.")
    var unknown = false

    func run() async throws {
        let workspace = try await options.workspace()
        let store = try options.store(of: workspace)
        for id in ids { _ = try OutboxCommand.entry(id, in: store) }
        let chosen =
            ids.isEmpty
            ? try store.outbox().filter { entry in
                switch entry.state {
                case .refused: true
                case .pending: entry.notBefore != nil
                case .unknown: unknown
                case .sending, .conflict: false
                }
            }.map(\.id) : ids
        let doubtful = try unknown ? Set(chosen).compactMap { try store.outboxEntry($0) }.filter(\.mayBeMadeTwice) : []
        if !chosen.isEmpty { try store.retryOutbox(chosen, sendingUnknown: unknown) }
        let entries = try Set(chosen).compactMap { try store.outboxEntry($0) }
        let looked = entries.count { $0.state == .unknown }
        let left = ids.isEmpty ? try store.outbox().count { $0.state == .conflict || $0.state == .unknown } : 0
        try store.close()
        var parts = ["\(Terminal.count(entries.count - looked, "edit is", "edits are")) due"]
        if looked > 0 { parts.append("\(Terminal.count(looked, "is", "are")) looked up first") }
        if left > 0 {
            parts.append("\(Terminal.count(left, "stays as it was", "stay as they were")) (conflict or unknown)")
        }
        for entry in doubtful.sorted(by: { $0.id < $1.id }) {
            let honours = workspace.model.model.entity(named: entry.entity)?.honoursIdempotencyKeys ?? false
            guard !honours else { continue }
            Terminal.error(
                "\(EditRun.name(entry.entity, entry.key)) may be created a second time: its first request may have arrived; if "
                    + "the remote has it, `bmo outbox drop \(entry.id)` before the next push, and `bmo sync` imports it",
                prefix: "bmo: warning: ")
        }
        print("\(parts.joined(separator: ", ")); `bmo push` sends what is due")
    }
}

/// `bmo outbox drop`.
struct OutboxDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Drop edits, and roll their local changes back.",
        discussion: """
            It is refused if later edits build on one of them, unless these are dropped too. What the remote has \
            already done stays there: the next sync imports it.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The edits' numbers.", valueName: "id"))
    var ids: [Int64]

    func run() async throws {
        let workspace = try await options.workspace()
        let store = try options.store(of: workspace)
        for id in ids {
            do {
                _ = try OutboxCommand.entry(id, in: store)
            } catch let error as StoreError where error.code == .internal {
                // It cannot be read, and is dropped all the same.
            }
        }
        try store.dropOutbox(ids)
        try store.close()
        print("\(Terminal.count(ids.count, "edit is", "edits are")) dropped and rolled back here")
    }
}

extension OutboxEntry {
    /// The time of the next try, if the entry is waiting for one.
    fileprivate var next: String? { state == .pending ? notBefore : nil }

    /// Whether the remote may have made the object already, and cannot recognize a second request by its key.
    fileprivate var mayBeMadeTwice: Bool { state == .unknown && operation == .create && hasTemporaryKey }

    /// The time when it was sent, if it is unknown whether it arrived.
    fileprivate var sent: String? { [.sending, .unknown].contains(state) ? notBefore : nil }
}
