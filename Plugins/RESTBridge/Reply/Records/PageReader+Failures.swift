internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// Pages without records, and pages that are not JSON.
extension PageReader {
    /// Returns the failure reported by a reply without records, or nil if it reports none or a rule covers it.
    func disguisedFailure() -> BridgeError? {
        guard let response, let survey = ReplySurvey(body), let failure = DisguisedFailure(survey),
            !section.validates(failure.path)
        else { return nil }
        return failure.error(asked: asked, response: response, body: body)
    }

    /// Whether the page failed because its place of records is missing, or an object stands there and no record was read.
    var hasNoPlace: Bool {
        let fault = reader.failure.fault
        return fault == .noRecords || fault == .notList && reader.recordCount == 0
    }

    /// Whether the place of the records is missing because the listing is empty.
    var isEmptyListing: Bool {
        guard hasNoPlace, EmptyListing.isObject(body) else { return false }
        return ReplySurvey(body).map(EmptyListing.isTold) ?? false
    }

    /// Returns the fault of a page that cannot be read.
    func failure(isPage: Bool) -> BridgeError {
        let location = response?.location
        if isPage {
            let prefix = Array(body.bytes.prefix(min(body.count, 65_536)))
            let words = response.flatMap {
                RemoteMessage.make(prefix, mediaType: $0.mediaType, redactor: $0.redactor)
            }
            let kind = response?.header("content-type") ?? "no content type"
            return BridgeError(
                .malformed, "\(asked): the server sent a web page (\(kind)) where JSON was expected",
                remedy:
                    "check url, path and auth; some APIs send JSON only on request, such as by format=json",
                location: location,
                remote: words)
        }
        let error = reader.failure
        var code = BridgeError.Code.malformed
        var remedy: String?
        var what = "\(asked) is not JSON: \(error.message), at byte \(error.offset)"
        var remote = excerpt(error.offset)
        var found: String { reader.arrayPaths }
        switch error.fault {
        case .empty:
            what = "\(asked): the reply is empty where JSON was expected"
            remedy = "an API without records should answer 204, or an empty list"
            remote = nil
        case .trailing where body.bytes[min(error.offset, body.count)] == UInt8(ascii: "{"):
            remedy = "set format: ndjson if each line is a record"
        case .tooDeep, .tooLarge, .memory:
            code = .limit
            if error.fault == .tooLarge { remedy = "request smaller pages, or raise max_body_bytes" }
            what = "\(asked): \(error.message), at byte \(error.offset)"
        case .noRecords, .notRecords:
            what =
                error.fault == .noRecords
                ? "\(asked): the reply has nothing at \(records)"
                : "\(asked): the value at \(records) is not an object or array"
            remedy = found.isEmpty ? "check records" : "set records to one of: \(found)"
            remote = nil
        case .notList:
            what = "\(asked): the reply has an object where \(records) needs a list, at byte \(error.offset)"
            remedy = found.isEmpty ? "check records" : "set records to one of: \(found)"
        case .other, .trailing: break
        }
        return BridgeError(code, what, remedy: remedy, location: location, remote: remote)
    }

    /// Returns the text around a byte, with secrets masked.
    private func excerpt(_ offset: Int) -> String? {
        let from = max(0, min(offset, body.count) - 24)
        let range = from..<min(body.count, from + 48)
        guard !range.isEmpty else { return nil }
        return response.map { "... \($0.redactor.excerpt(of: body.bytes, range)) ..." }
    }
}
