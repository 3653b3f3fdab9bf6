internal import BMO
internal import Glibc
internal import RecordBatch
internal import StoreContract

/// The progress of the sync or push that is running: the one that was started here, or that of another process.
struct LiveProgress: Sendable, Equatable {
    /// Where it is running.
    enum Place: Sendable, Equatable {
        /// It was started on the page, and can be stopped there.
        case page
        /// In this process, but not started on the page: that of `bmo watch --serve`.
        case watch
        /// In another process.
        case elsewhere
    }

    /// What is running, as far as it is known.
    enum State: Sendable, Equatable {
        /// Nothing is running.
        case idle
        /// A sync or push is running.
        case running(LiveProgress)
        /// Nothing is running, but workers (`bmo work`) keep the lock between their rounds, so that no sync can begin.
        case reserved(String)
        /// The database could not be asked, and why.
        case unknown(String)

        /// What is running; nil if nothing is, or it is not known.
        var progress: LiveProgress? { if case .running(let progress) = self { progress } else { nil } }

        /// Whether a sync can be started here, as far as it is known.
        var isFree: Bool {
            switch self {
            case .idle, .unknown: true
            case .running, .reserved: false
            }
        }
    }

    /// What is running; for another process, the holder of the database's lock.
    let title: String
    let place: Place
    /// One line for each entity or edit.
    let lines: [String]

    /// Whether it was started on the page, and can be stopped there.
    var isHere: Bool { place == .page }

    /// Returns the progress of what was started on the page; nil if nothing is running.
    static func ofPage(_ activity: Activity) -> LiveProgress? {
        let state = activity.state
        guard state.isRunning, let title = state.title else { return nil }
        return LiveProgress(title: title, place: .page, lines: state.lines)
    }

    /// Asks the database who writes it.
    ///
    /// Another process's sync shows its finished pages: it saves the position of each scan with them.
    static func ofOthers(_ readers: StoreReaders, _ workspace: Workspace) async -> State {
        do {
            return try await readers.read { try state(in: $0, workspace) }
        } catch let failure as PageFailure where failure.status == 404 {
            return await withoutTables(readers, workspace)
        } catch let error as StoreError where error.code == .schema {
            // The first sync after a change of the model migrates the database.
            return await withoutTables(readers, workspace)
        } catch {
            return .unknown(PageFault.words(error).text)
        }
    }

    private static func state(in store: any Store, _ workspace: Workspace) throws -> State {
        let holder =
            if let observer = store as? any LockObserver {
                try observer.lockHolder(for: .writing)
            } else {
                workspace.stores.lockHolder(of: workspace.configuration.databasePath, for: .writing)
            }
        guard let holder else { return .idle }
        // A worker has the lock for as long as it lives.
        if holder.command == Self.workers, let board = try (store as? any WorkStore)?.workBoard(), !board.isOpen {
            return .reserved(holder.description)
        }
        let lines = try workspace.model.model.entities.compactMap { entity in
            try store.progress(of: ScanScope(entity: entity.name)).map { "\(entity.name): page \($0.page)" }
        }
        return .running(LiveProgress(holder, lines: lines))
    }

    private static func withoutTables(_ readers: StoreReaders, _ workspace: Workspace) async -> State {
        let holder = try? await readers.run {
            workspace.stores.lockHolder(of: workspace.configuration.databasePath, for: .writing)
        }
        return (holder ?? nil).map { .running(LiveProgress($0, lines: [])) } ?? .idle
    }

    private init(_ holder: LockHolder, lines: [String]) {
        title = holder.description
        place = holder.pid == getpid() ? .watch : .elsewhere
        self.lines = lines
    }

    private init(title: String, place: Place, lines: [String]) {
        self.title = title
        self.place = place
        self.lines = lines
    }

    /// The command of workers, as they describe themselves.
    private static let workers = "bmo work"

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
