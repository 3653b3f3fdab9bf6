internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import Inference
internal import RecordBatch

/// Detects from the first reply how a listing is paged, by the table of signatures.
struct PagingDetector {
    let survey: ReplySurvey?
    let response: HTTPResponse
    /// The requested URL.
    let url: HTTPURL
    /// The number of records on the page, or nil if unknown.
    ///
    /// Evaluated only on demand, since a scan has to count the records.
    let count: () -> Int?
    /// The parameters already in the request, in its query or its body.
    let given: Set<String>
    /// The path of the records, or nil if unknown.
    var records: JSONPath?
    /// Whether the request has a JSON body, which can carry any value.
    var sendsJSON = false
    /// The numbers in that body, with dots leading into nested objects.
    var bodyNumbers: [(name: String, value: Int)] = []
    /// The variables that a GraphQL query declares and the section leaves without a value.
    var openVariables: [String] = []

    func detect() -> DetectedPaging? { detect(PagingSignature.table) }

    /// Returns the paging of the first signature that the reply matches.
    func detect(_ signatures: [PagingSignature]) -> DetectedPaging? {
        for signature in signatures { if let detected = recognize(signature) { return detected } }
        return nil
    }

    private func recognize(_ signature: PagingSignature) -> DetectedPaging? {
        var detected: DetectedPaging? =
            switch signature.sign {
            case .body(let evidence, let paging, let first):
                evidence.allSatisfy { holds($0) } ? read(paging, first) : nil
            case .nextHeader(let names, let parameter): nextHeader(names, parameter)
            case .pagesHeader(let names): pagesHeader(names)
            case .rule(let rule): apply(rule)
            }
        if detected?.source == nil { detected?.source = signature.name }
        return detected
    }

    private func apply(_ rule: PagingSignature.Rule) -> DetectedPaging? {
        switch rule {
        case .linkHeader: linkHeader()
        case .linkMember: linkMember()
        case .linkRelation: linkRelation()
        case .linkName: linkName()
        case .noLink: noLink()
        case .cursorMember: cursorMember()
        case .numbers: numbers()
        case .headerObject: headerObject()
        case .openRange: openRange()
        case .countedRange: countedRange()
        case .variable: variable()
        case .askedPage: askedPage()
        case .askedOffset: askedOffset()
        case .bareFlag: bareFlag()
        case .bareTotal: bareTotal()
        }
    }

    // MARK: Evidence

    /// Whether a fact is true of the reply.
    ///
    /// - Parameter home: The object of the sign.
    private func holds(_ evidence: PagingSignature.Evidence, in home: String = "$") -> Bool {
        guard let survey else { return false }
        switch evidence {
        case .text(let path): if case .text(let text) = survey[path] { return !text.isEmpty } else { return false }
        case .value(let path): return survey[path].plain != nil
        case .integer(let path): return survey[path].integer != nil
        case .object(let path): return survey[path] == .object
        case .array(let path): if case .array = survey[path] { return true } else { return false }
        case .present(let path): return survey[path] != .missing
        case .missing(let path): return survey[path] == .missing
        case .equals(let path, let value): return survey[path] == value
        case .differs(let path, let value): return survey[path] != value
        case .origin(let path):
            if case .text(let text) = survey[path] { return text.contains("://") } else { return false }
        case .alone(let object):
            return survey.findings.count { $0.path.hasPrefix(object + ".") } == 1
        case .beside(let name): return survey[ReplySurvey.member(home, name)].integer != nil
        case .more: return hasMore != nil
        case .jsonRequest: return sendsJSON
        }
    }

    /// Returns the vendor that the reply looks like and that has its own value for a member of the paging.
    ///
    /// - Parameters:
    ///   - home: The object of the sign.
    ///   - names: The names that the sign includes.
    func vendor(of member: String, in home: String, names: [String?] = []) -> PagingVendor? {
        PagingVendor.all.first { vendor in
            vendor.member.name == member && vendor.home ?? home == home
                && vendor.names.isSubset(of: names.compactMap(\.self))
                && vendor.evidence.allSatisfy { holds($0, in: home) }
        }
    }

    private func read(
        _ paging: KeyValuePairs<String, String>, _ first: PagingSignature.First
    ) -> DetectedPaging {
        var detected = DetectedPaging(members: paging.map { ($0, $1) })
        if detected["style"] == "next_url", let path = detected["path"] { return nextURL(path) }
        if case .asked = first {
            detected.first = .offset(detected["offset_parameter"].flatMap(number) ?? 0)
            return detected
        }
        detected.members = detected.members.map { name, value in
            (name, value == "flag" ? hasMore?.path ?? value : name.hasSuffix("parameter") ? known(value) : value)
        }
        if case .zero = first { detected.first = .offset(0) }
        return detected
    }

    // MARK: The Request

    /// Returns a number from the request's query.
    func number(_ name: String) -> Int? { url.queryValue(name).flatMap { Int($0)?.clampedPosition } }

    /// Returns the request's spelling of a name, if it has the name in another form.
    func known(_ name: String) -> String {
        given.first { PagingTerm.plain($0) == PagingTerm.plain(name) } ?? name
    }
}
