import BMO
import Foundation

/// The lines of each screen, and its keys.
extension App {
    private var hits: [Hit] { found?.objects ?? [] }

    var lines: [String] {
        switch screen {
        case .signIn: ["Notes", "", "Sign in to read your notes."]
        case .notes: notes.map { line(of: $0) }
        case .search: hits.compactMap { $0.note?.object }.map { line(of: $0) }
        case .note(let id):
            notes.first { $0.id == id }.map { note in
                [note.title ?? "", ""] + (note.text ?? "").split(separator: "\n").map(String.init)
            } ?? ["This note is not there any more."]
        case .conflicts:
            conflicts.map { conflict in
                let name = notes.first { $0.id == (try? manager?.id(of: conflict).key.first?.integer).map(Int.init) }?
                    .title
                return "\(name ?? "a note"), \(conflict.column ?? "deleted"): "
                    + "here \(text(conflict.local)), on the server \(text(conflict.remote))"
            }
        }
    }

    private func text(_ value: StoredValue?) -> String { value.map { "\"\($0)\"" } ?? "nothing" }

    private func line(of note: Note) -> String {
        let mark = waiting.contains(note.objectID) ? "*" : " "
        return "\(mark) \(note.title ?? "")  \(note.text?.replacing("\n", with: " ") ?? "")"
    }

    /// The line of counts, and the keys that do something here.
    private var bottom: [String] {
        var facts = [isOnline ? "online" : "offline", "\(notes.count) notes"]
        if !waiting.isEmpty { facts.append("\(waiting.count) to send") }
        if !conflicts.isEmpty { facts.append("\(conflicts.count) in conflict") }
        var keys = "esc back"
        switch screen {
        case .signIn: (facts, keys) = ([], "enter next  ctrl-c leave")
        case .notes: keys = "enter open  n new  / search  c conflicts  r refresh  q leave"
        case .search(let words):
            facts.append("\"\(words)\": \(hits.count) found, \(text(of: found?.state ?? .idle))")
            keys = "enter open  m more  esc back"
        case .note: keys = "e title  t text  d delete  esc back"
        case .conflicts: keys = "m take mine  s take the server's  esc back"
        }
        if let input { keys = "\(input.label): \(input.isSecret ? "" : input.text)_" }
        return [message.isEmpty ? facts.joined(separator: " | ") : message, keys]
    }

    private func text(of state: CollectionLoader.State) -> String {
        switch state {
        case .idle: "there are more"
        case .loading: "loading"
        case .atEnd: "that is all"
        case .failed: "of last time"
        }
    }

    func draw() {
        let isList = if case .note = screen { false } else { !lines.isEmpty && manager != nil }
        terminal.show(lines, marked: isList ? marked : nil, bottom: bottom)
    }

    /// Returns false when the person leaves.
    func press(_ key: Key) -> Bool {
        if key == .end { return false }
        if input != nil {
            type(key)
            return true
        }
        switch (screen, key) {
        case (.notes, .character("q")): return false
        case (.signIn, _): break
        case (_, .up), (_, .character("k")): marked -= 1
        case (_, .down), (_, .character("j")): marked += 1
        case (.notes, .enter): open(notes.indices.contains(marked) ? notes[marked].id : nil)
        case (.search, .enter): open(hits.indices.contains(marked) ? hits[marked].note?.key : nil)
        case (.notes, .character("n")): ask("title") { [self] in create($0) }
        case (.notes, .character("/")): ask("search for") { [self] in search($0) }
        case (.notes, .character("c")): (screens, marked) = (screens + [.conflicts], 0)
        case (.notes, .character("r")): refresh()
        case (.search, .character("m")): more()
        case (.conflicts, .character("m")): resolve(.local)
        case (.conflicts, .character("s")): resolve(.remote)
        case (.note(let id), .character(let character)):
            if let note = notes.first(where: { $0.id == id }) { press(character, on: note) }
        case (_, .escape) where screens.count > 1: (screens, marked) = (screens.dropLast(), 0)
        default: break
        }
        return true
    }

    private func press(_ key: Character, on note: Note) {
        switch key {
        case "e": ask("title", note.title) { [self] title in edit(note) { $0.title = title } }
        case "t": ask("text", note.text) { [self] text in edit(note) { $0.text = text } }
        case "d":
            screens.removeLast()
            begin("") { manager in try await manager.delete(note) }
        default: break
        }
    }

    private func open(_ id: Int?) {
        if let id { screens.append(.note(id)) }
    }

    private func ask(_ label: String, _ text: String? = nil, _ done: @escaping (String) -> Void) {
        input = Input(label: label, text: text ?? "", done: done)
    }

    private func type(_ key: Key) {
        switch key {
        case .character(let character): input?.text.append(character)
        case .backspace: _ = input?.text.popLast()
        case .enter:
            guard let typed = input, !typed.text.isEmpty else { return }
            input = nil
            typed.done(typed.text)
        case .escape where manager != nil: input = nil
        default: break
        }
    }
}
