package import BridgeContract
package import BridgeHTTP
package import BridgeJSON

/// One sample reply of a listing, as a scan would read it.
package struct SampleReply {
    /// The paging that the bridge would detect by itself.
    package struct Paging {
        /// The section's `paging`, the style first.
        package var members: [(name: String, value: String)]
        /// The paging as a person would write it.
        package var description: String
        /// The number of records that the reply states at the detected place.
        package var total: Int?

        /// Creates a detected paging.
        package init(members: [(name: String, value: String)], description: String, total: Int?) {
            self.members = members
            self.description = description
            self.total = total
        }
    }

    /// The request's URL.
    package let url: HTTPURL
    /// The last word of the path, such as `users`.
    package let subject: String
    /// The request's body, or nil for a GET.
    package let requestBody: JSONTree?
    /// The preset that the reply's media type or members indicate.
    package var preset: String?
    /// The section's `records`, or nil if it is not needed.
    package var recordsPath: String?
    /// The section's `columns`, if the records are arrays.
    package var columns: String?
    /// How sure the place of the records is.
    package var recordsConfidence = Confidence.high("")
    /// The records as a scan would return them.
    package var records: [JSONTree] = []
    /// What the reply looks like, for a person.
    package var notes: [String] = []
    /// The detected paging; nil if the bridge detects none.
    package var paging: Paging?
    /// The member that says that more records follow, if the reply does not say how to request them.
    package var promise: String?
    /// The request's limit parameter, if the reply has that many records: there may be more.
    package var limit: String?

    /// Creates a reply without records.
    package init(url: HTTPURL, subject: String, requestBody: JSONTree?) {
        self.url = url
        self.subject = subject
        self.requestBody = requestBody
    }
}
