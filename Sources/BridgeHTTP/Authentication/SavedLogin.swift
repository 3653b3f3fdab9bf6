internal import RecordBatch

/// The state of a login with a refresh token, as it is saved.
struct SavedLogin: Sendable, Equatable {
    /// The refresh token for the next request.
    var refreshToken: String
    /// The newest token for the API.
    var token: String?
    /// When it expires, in seconds since 1970; nil if the server does not say.
    var expiry: Double?
    /// Who is requesting a new token, and since when; nil once the answer is saved.
    var request: String?

    init(refreshToken: String) { self.refreshToken = refreshToken }

    init?(json: String) {
        let document = JSONDocument(Array(json.utf8))
        guard let refreshToken = Self.refreshToken(in: document) else { return nil }
        self.refreshToken = refreshToken
        token = document?.text(at: "$.token")
        expiry = document?.text(at: "$.expiry").flatMap { Double($0) }
        request = document?.text(at: "$.request")
    }

    /// Returns the refresh token of a reply or of a saved login; nil for none.
    ///
    /// Some servers send an empty one where they have no other: the one of before is still valid.
    static func refreshToken(in document: JSONDocument?) -> String? {
        document?.text(at: "$.refresh_token").flatMap { $0.contains { !$0.isWhitespace } ? $0 : nil }
    }

    var json: String {
        RecordBatchWriter.json { writer in
            writer.member("refresh_token", refreshToken)
            writer.member("token", token)
            writer.member("expiry", expiry)
            writer.member("request", request)
        }
    }
}
