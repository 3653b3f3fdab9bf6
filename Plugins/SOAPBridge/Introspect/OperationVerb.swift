internal import Inference

/// The probable effect of an operation, guessed from a word of its name.
enum OperationVerb: String {
    case reads, creates, updates, deletes
    /// Has another effect than reading.
    case acts

    /// The words of each verb, the strongest indications first.
    static let words: [OperationVerb: [String]] = [
        .reads: [
            "list", "find", "query", "search", "get", "fetch", "read", "retrieve", "select", "load", "lookup", "browse",
            "enumerate", "show", "describe", "view", "obtain", "return", "export", "download", "all", "count",
        ],
        .creates: ["create", "add", "insert", "new", "register", "post"],
        .updates: ["update", "modify", "edit", "change", "save", "put", "set"],
        .deletes: ["delete", "remove", "drop", "cancel", "destroy"],
        .acts: [
            "submit", "send", "place", "import", "upload", "upsert", "merge", "execute", "run", "start", "stop",
            "reset", "rollback", "commit", "login", "logout", "logon", "logoff", "authenticate", "approve", "reject",
            "book", "buy", "pay", "purchase", "provision", "activate", "deactivate", "enable", "disable", "lock",
            "unlock", "move", "copy", "rename", "assign", "unassign", "process", "perform", "apply", "reserve",
            "confirm", "notify", "publish", "subscribe", "unsubscribe", "transfer", "close", "refund", "charge", "void",
            "invoke", "undelete", "purge", "clear", "empty", "restore", "grant", "revoke", "install", "uninstall",
            "reboot", "restart", "upgrade", "swap", "lend", "borrow", "dequeue", "pop", "consume", "receive",
            "acknowledge", "ack", "generate", "terminate", "kill", "flush", "expire", "replace", "recalculate",
            "accept", "checkout", "archive", "trigger", "issue", "release",
        ],
    ]

    /// Verbs of change that are nouns wherever they do not begin the name: `GetRelease`, `ReleaseList`.
    private static let nouns: Set<String> = ["archive", "checkout", "trigger", "issue", "release"]
    /// Verbs of change that are something else unless they directly follow the verb: `GetOldAndNewPrices`.
    private static let homonyms: Set<String> = ["new", "place", "book", "void", "empty", "post", "issue", "release"]

    private static let byWord = Dictionary(
        words.flatMap { verb, words in words.map { ($0, verb) } }, uniquingKeysWith: { first, _ in first })

    /// The parts of an operation's name.
    struct Split {
        var verb: OperationVerb?
        var word = ""
        var subject: [String] = []
        /// All words of the name.
        var words: [String] = []
        /// The subject as one word, and the same in the singular.
        var joined = ""
        var singular = ""
    }

    /// Splits a name into its verb and the other words: `DeleteNoteById` into deletes and note.
    ///
    /// Most names begin with their verb, some end with it (`ItemAdd`), and a few contain it in the middle. A name that
    /// reads and changes something (`GetAndDeleteNotes`) acts.
    static func split(_ name: String) -> Split {
        let words = NameWords.lower(name)
        let place = placeOfVerb(words)
        var rest: [String] = []
        for (index, word) in words.enumerated() where index != place {
            if ["by", "for", "with", "from"].contains(word) {
                if rest.isEmpty { continue } else { break }
            }
            if !["a", "an", "the", "of", "all"].contains(word) { rest.append(word) }
        }
        let word = place.map { words[$0] } ?? ""
        let verb = byWord[word]
        let acts = [.reads, nil].contains(verb) && alsoChanges(words, place)
        return Split(
            verb: acts ? .acts : verb, word: word, subject: rest, words: words, joined: rest.joined(),
            singular: NameWords.singular(rest.joined()))
    }

    private static func placeOfVerb(_ words: [String]) -> Int? {
        // `CustomerDeleteAll` ends with its object.
        let last = words.last == "all" ? nil : words.indices.last
        let places = [words.indices.first, last].compactMap(\.self) + Array(words.indices)
        let place = places.first { byWord[words[$0]] != nil && !nouns.contains(words[$0]) }
        guard place == nil, let first = words.first, nouns.contains(first) else { return place }
        return 0
    }

    /// Returns whether a verb of change is joined to the one at this place, or follows it: `GetAndDeleteNotes`,
    /// `FindOrCreateNote`, `ReleaseAndGetNotes`.
    private static func alsoChanges(_ words: [String], _ place: Int?) -> Bool {
        words.indices.dropFirst(2).contains { index in
            guard ["and", "or", "then"].contains(words[index - 1]) else { return false }
            let (before, after) = (words[index - 2], words[index])
            if index == place { return isChange(before) }
            return isChange(after) && (index - 2 == place || !homonyms.contains(after))
        }
    }

    private static func isChange(_ word: String) -> Bool {
        guard let verb = byWord[word] else { return false }
        return verb != .reads
    }

    /// Returns how strongly a word indicates its verb; lower is stronger.
    static func rank(_ word: String) -> Int {
        byWord[word].flatMap { words[$0]?.firstIndex(of: word) } ?? 99
    }
}
