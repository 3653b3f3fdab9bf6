internal import RecordBatch

/// The state of a login with a refresh token, as it is saved.
struct SavedLogin: Sendable, Equatable {
    /// A token for the API.
    struct Token: Sendable, Equatable {
        /// What identifies the requests that the token is for, such as its scope.
        var use: String
        var token: String
        /// When it expires, in seconds since 1970; nil if the server does not say.
        var expiry: Double?
    }

    /// The refresh token for the next request.
    var refreshToken: String
    /// The newest token of each use, the newest last.
    private(set) var tokens: [Token] = []
    /// Who is requesting a new token, and since when; nil once the answer is saved.
    var request: String?

    /// The maximum size in bytes: the host keeps 16 KiB of encrypted text.
    private static let longest = 12_000

    init(refreshToken: String) { self.refreshToken = refreshToken }

    /// Reads a saved login; nil if the text has no refresh token.
    init?(json: String) {
        let document = JSONDocument(Array(json.utf8))
        guard let refreshToken = Self.refreshToken(in: document) else { return nil }
        self.refreshToken = refreshToken
        request = document?.text(at: "$.request")
        guard case .object(let members)? = document, case .array(let elements)? = members["tokens"] else { return }
        tokens = elements.compactMap { element in
            guard let use = element.text(at: "$.use"), let token = element.text(at: "$.token") else { return nil }
            return Token(use: use, token: token, expiry: element.text(at: "$.expiry").flatMap { Double($0) })
        }
    }

    /// Returns the refresh token of a reply or of a saved login; nil for none.
    ///
    /// Some servers send an empty one where they have no other: the one of before is still valid.
    static func refreshToken(in document: JSONDocument?) -> String? {
        document?.text(at: "$.refresh_token").flatMap { $0.contains { !$0.isWhitespace } ? $0 : nil }
    }

    /// Returns the token of a use.
    func token(for use: String) -> Token? { tokens.first { $0.use == use } }

    /// Replaces the token of its use; the oldest tokens are left out if all are too large to be saved.
    mutating func keep(_ token: Token) {
        tokens.removeAll { $0.use == token.use }
        tokens.append(token)
        while !tokens.isEmpty, json.utf8.count > Self.longest { tokens.removeFirst() }
    }

    var json: String {
        RecordBatchWriter.json { writer in
            writer.member("refresh_token", refreshToken)
            writer.member(
                "tokens",
                array: {
                    for token in tokens {
                        writer.object {
                            writer.member("use", token.use)
                            writer.member("token", token.token)
                            writer.member("expiry", token.expiry)
                        }
                    }
                })
            writer.member("request", request)
        }
    }
}
