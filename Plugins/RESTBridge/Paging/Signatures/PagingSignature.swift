/// A sign in a first reply, with the paging that it means.
struct PagingSignature: Sendable {
    /// The vendor, or the sign itself where many vendors send it.
    let name: String
    let sign: Sign

    init(_ name: String, _ sign: Sign) {
        self.name = name
        self.sign = sign
    }

    /// - Parameters:
    ///   - evidence: Facts that all have to be true.
    ///   - paging: The paging as in a config. A parameter gets the request's spelling, and `flag` stands for the path of
    ///     the flag for more records.
    init(
        _ name: String, _ evidence: [Evidence], _ paging: KeyValuePairs<String, String>, first: First = .unnumbered
    ) {
        self.init(name, .body(evidence, paging, first))
    }

    enum Sign: Sendable {
        case body([Evidence], KeyValuePairs<String, String>, First)
        /// Header fields with the next cursor or link, and the parameter that takes it.
        case nextHeader([String], String)
        /// Header fields with the number of all pages.
        case pagesHeader([String])
        case rule(Rule)
    }

    /// The position of the page that was read.
    enum First: Sendable {
        case unnumbered
        case zero
        /// The offset in the request, spelled exactly so, or else 0.
        case asked
    }

    /// A fact about the reply or its request.
    enum Evidence: Sendable {
        /// A text, not empty.
        case text(String)
        /// A text, a number or a flag.
        case value(String)
        case integer(String)
        case object(String)
        case array(String)
        case present(String)
        case missing(String)
        case equals(String, JSONScalar)
        case differs(String, JSONScalar)
        /// An absolute URL.
        case origin(String)
        /// An object with one member.
        case alone(String)
        /// An integer in the object of the sign.
        case beside(String)
        /// A flag for more records.
        case more
        /// A JSON body of the request, which can carry any value.
        case jsonRequest
    }

    /// A sign that takes a computation: a method of the detector with the same name.
    enum Rule: Sendable {
        case linkHeader, linkMember, linkRelation, linkName, noLink, cursorMember, numbers
        case headerObject, openRange, countedRange, variable, askedPage, askedOffset, bareFlag, bareTotal
    }
}

/// A vendor whose replies look like those of others, but mean another parameter.
struct PagingVendor: Sendable {
    let name: String
    /// The object of the sign, or nil for any.
    var home: String?
    /// The names that the sign includes.
    var names: Set<String> = []
    var evidence: [PagingSignature.Evidence] = []
    /// The member of the paging that is the vendor's own.
    let member: (name: String, value: String)
}
