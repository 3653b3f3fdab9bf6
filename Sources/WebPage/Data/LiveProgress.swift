internal import BMO
internal import RecordBatch
internal import StoreContract

/// The progress of the sync or push that is running: the one that was started here, or that of another process.
struct LiveProgress: Sendable, Equatable {
    /// What is running; for another process, the holder of the database's lock.
    let title: String
    /// Whether it was started here, and can be stopped here.
    let isHere: Bool
    /// One line for each entity or edit.
    let lines: [String]

    /// Returns the progress now; nil if nothing is running.
    ///
    /// Another process's sync shows its finished pages: it saves the position of each scan with them.
    static func now(_ activity: Activity, _ readers: StoreReaders, _ workspace: Workspace) async -> LiveProgress? {
        let state = activity.state
        if state.isRunning, let title = state.title {
            return LiveProgress(title: title, isHere: true, lines: state.lines)
        }
        let holder = try? await readers.run {
            workspace.stores.lockHolder(of: workspace.configuration.databasePath, for: .writing)
        }
        guard let holder = holder ?? nil else { return nil }
        let names = workspace.model.model.entities.map(\.name)
        let lines = try? await readers.read { store in
            try names.compactMap { name in
                try store.progress(of: ScanScope(entity: name)).map { "\(name): page \($0.page)" }
            }
        }
        return LiveProgress(title: holder.description, isHere: false, lines: lines ?? [])
    }

    /// The progress as one JSON object.
    var json: String {
        RecordBatchWriter.json { writer in
            writer.member("running", true)
            writer.member("title", title)
            writer.member("here", isHere)
            writer.key("lines")
            writer.array { for line in lines { writer.text(line) } }
        }
    }
}
