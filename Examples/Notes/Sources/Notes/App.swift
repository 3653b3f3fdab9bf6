import BMO
import Foundation

/// What is on the screen, and what the keys do there.
@MainActor
final class App {
    enum Screen {
        case signIn, notes, conflicts
        case search(String)
        case note(Int)
    }

    /// A line that is being typed.
    struct Input {
        var label: String
        var text = ""
        var isSecret = false
        var done: (String) -> Void
    }

    private enum Event {
        case key(Key)
        /// Something else has changed.
        case change
    }

    let terminal: Terminal
    let account: Account
    var screens: [Screen] = [.signIn]
    var marked = 0
    var input: Input?
    var message = ""
    var isOnline = false
    var manager: RequestManager?
    /// All notes by title, as they are in the database once a person has signed in.
    @Fetched(Note.all.sorted(by: Note.title)) var notes: [Note]
    /// The search on the screen: what the server found, in its order, and what its loader does.
    var found: ObservedCollection<Hit, WholeList>?
    var conflicts: [EditConflict] = []
    /// The notes with edits that the server does not have yet.
    var waiting: Set<ObjectID> = []
    private var tasks: [Task<Void, Never>] = []
    private let events: AsyncStream<Event>
    private let signal: AsyncStream<Event>.Continuation

    init(_ terminal: Terminal, _ account: Account) {
        self.terminal = terminal
        self.account = account
        (events, signal) = AsyncStream.makeStream()
        $notes.onChange { [signal] _ in signal.yield(.change) }
    }

    var screen: Screen { screens.last ?? .notes }

    /// Runs until the person leaves.
    func run() async {
        let keys = terminal.keys()
        tasks.append(Task { [signal] in for await key in keys { signal.yield(.key(key)) } })
        askForName()
        draw()
        for await event in events {
            message = if case .key = event { "" } else { message }
            if case .key(let key) = event, !press(key) { break }
            await count()
            draw()
        }
        for task in tasks { task.cancel() }
        try? await manager?.close()
    }

    /// Runs work beside the keys; an error becomes the message.
    func begin(_ words: String, _ work: @escaping @MainActor (RequestManager) async throws -> Void) {
        guard let manager else { return }
        message = words
        tasks.append(
            Task {
                do {
                    try await work(manager)
                    if message == words { message = "" }
                } catch let error as RequestError {
                    if error.isUnreachable { isOnline = false }
                    message = error.isUnreachable ? "the server cannot be reached" : error.remote ?? error.message
                } catch {
                    message = "\(error)"
                }
                signal.yield(.change)
            })
    }

    // MARK: sign-in

    private func askForName() {
        input = Input(label: "name") { [self] name in
            input = Input(label: "password", isSecret: true) { [self] password in
                message = "signing in"
                tasks.append(
                    Task {
                        await signIn(name, password)
                        signal.yield(.change)
                    })
            }
        }
    }

    private func signIn(_ name: String, _ password: String) async {
        switch await account.signIn(name, password) {
        case .refused(let reason):
            message = reason
            askForName()
        case .online(let manager): open(manager, isOnline: true)
        case .offline(let manager): open(manager, isOnline: false)
        }
    }

    private func open(_ manager: RequestManager, isOnline: Bool) {
        (self.manager, self.isOnline, screens, message) = (manager, isOnline, [.notes], "")
        $notes.follow(manager)
    }

    // MARK: notes

    /// Sends what waits, and fetches the notes.
    func refresh() {
        begin("asking the server") { [self] manager in
            // What could not be sent waits for its next try: it is due now, unless it is being sent just now.
            for edit in try await manager.outbox(state: .pending) { try? await manager.retry([edit.id]) }
            _ = try await manager.push()
            try await $notes.refresh()
            isOnline = true
            if let refused = try await manager.outbox(state: .refused).first?.failure {
                message = refused.remote ?? refused.message
            }
        }
    }

    func create(_ title: String) {
        begin("") { manager in try await manager.create(Note.self) { $0.title = title } }
    }

    func edit(_ note: Note, _ change: @escaping (inout Note) -> Void) {
        begin("") { manager in try await manager.edit(note) { change(&$0) } }
    }

    func resolve(_ side: ConflictSide) {
        guard conflicts.indices.contains(marked) else { return }
        let conflict = conflicts[marked]
        begin("") { manager in
            try await manager.resolve(conflict, take: side)
            _ = try await manager.push()
        }
    }

    /// Reads what waits and what is in conflict.
    private func count() async {
        guard let manager else { return }
        if let error = $notes.error { message = "\(error)" }
        do {
            conflicts = try await manager.conflicts()
            waiting = Set(try await manager.outbox().compactMap { try? manager.id(of: $0) })
        } catch {
            message = "\(error)"
        }
        marked = max(0, min(marked, lines.count - 1))
    }

    // MARK: search

    /// Shows what an earlier search for the words found, at once, and asks the server.
    func search(_ words: String) {
        guard let manager else { return }
        screens.append(.search(words))
        marked = 0
        let query = Hit.where(Hit.query == words).including(Hit.note)
        let found = ObservedCollection(query, keptAs: "search: \(words)", options: .init(pageSize: 5), of: manager)
        found.onChange { [signal] _ in signal.yield(.change) }
        self.found = found
        begin("searching") { [self] _ in
            try await found.refresh()
            isOnline = true
        }
    }

    func more() {
        begin("") { [self] _ in try await found?.loadNext() }
    }
}
