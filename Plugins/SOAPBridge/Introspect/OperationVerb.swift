/// What an operation probably does, by a word of its name.
enum OperationVerb: String {
    case reads, creates, updates, deletes
    /// Something else that is not only reading.
    case acts

    /// The better ones of each come first.
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
            "reboot", "restart", "upgrade", "swap", "lend", "borrow",
        ],
    ]

    private static let byWord = Dictionary(
        words.flatMap { verb, words in words.map { ($0, verb) } }, uniquingKeysWith: { first, _ in first })

    /// The verb of a name, and the words without it: of `DeleteNoteById` deletes and note.
    ///
    /// Names begin with their verb, some end with it (`ItemAdd`), few have it within.
    static func split(_ name: String) -> (verb: OperationVerb?, word: String, subject: [String]) {
        let words = NameWords.split(name)
        let places = [words.indices.first, words.indices.last].compactMap(\.self) + Array(words.indices)
        let place = places.first { byWord[words[$0]] != nil }
        var rest: [String] = []
        for (index, word) in words.enumerated() where index != place {
            if ["by", "for", "with", "from"].contains(word) {
                if rest.isEmpty { continue } else { break }
            }
            if !["a", "an", "the", "of", "all"].contains(word) { rest.append(word) }
        }
        let word = place.map { words[$0] } ?? ""
        return (byWord[word], word, rest)
    }

    /// How good a word is for what it says; the lower the better.
    static func rank(_ word: String) -> Int {
        byWord[word].flatMap { words[$0]?.firstIndex(of: word) } ?? 99
    }
}
