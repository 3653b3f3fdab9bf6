internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Errors in a GraphQL reply, whose status usually indicates success (GraphQL specification, section 7.1.2).
enum GraphQLErrors {
    private static let paths = ["$.errors[0].message", "$.errors[0].extensions.code", "$.errors[0].type"].compactMap {
        try? JSONPath($0, option: "preset")
    }
    private static let sign = Array("\"errors\"".utf8)

    /// - Throws: ``BridgeError`` if the reply has errors, even with data beside them, since it is unknown what is
    ///   missing.
    static func check(_ body: HTTPExchange.PaddedBody, asked: String, response: HTTPResponse) throws {
        guard body.bytes.firstRange(of: sign) != nil,
            let values = JSONScalar.read(paths, in: body), let message = values[0].plain
        else { return }
        let kind = (values[1].plain ?? values[2].plain ?? "").uppercased()
        var code = BridgeError.Code.remote
        var isRetryable = false
        switch kind {
        case "UNAUTHENTICATED": code = .authentication
        case "FORBIDDEN": code = .permission
        case "NOT_FOUND": code = .notFound
        case "THROTTLED", "RATE_LIMITED", "RATE_LIMIT_EXCEEDED": (code, isRetryable) = (.rateLimited, true)
        case "INTERNAL_SERVER_ERROR", "TIMEOUT": isRetryable = true
        default: break
        }
        throw BridgeError(
            code, "\(asked): the GraphQL reply holds errors\(kind.isEmpty ? "" : " (\(kind))")",
            remedy: "check graphql.query",
            location: response.location, remote: response.redactor.clean(message), isRetryable: isRetryable,
            retryAfterMilliseconds: isRetryable ? HTTPStatusError.retryAfter(response) : nil)
    }
}

/// Connections inside the records of a GraphQL reply; each has pages of its own, which the scan does not request.
enum GraphQLConnections {
    private static let sign = Array("\"hasNextPage\"".utf8)

    /// Returns the number of connections in the reply that have more pages.
    static func unfinished(in body: HTTPExchange.PaddedBody) -> Int {
        var rest = body.bytes.prefix(body.count)
        var count = 0
        while let found = rest.firstRange(of: sign) {
            rest = rest[found.upperBound...]
            let value = rest.prefix(16).drop { $0 <= 0x20 || $0 == UInt8(ascii: ":") }
            if value.starts(with: "true".utf8) { count += 1 }
        }
        return count
    }

    /// Returns the number of those outside the records, such as the listing's own.
    static func unfinished(in body: HTTPExchange.PaddedBody, beside records: JSONPath) -> Int {
        let own = PagingDetector.path(PagingDetector.names(to: records))
        return ReplySurvey(body, along: records)?.findings.count { path, value in
            value == .bool(true) && path.hasSuffix(".hasNextPage") && !path.isPath(inside: own)
        } ?? 0
    }

    /// Returns the number of those inside the records.
    ///
    /// - Parameter limits: How large a reply and a record may be; those in a larger record are not counted.
    static func unfinished(in body: HTTPExchange.PaddedBody, inside records: JSONPath, limits: ReplyLimits) -> Int {
        guard let reader = try? JSONRecordReader(), (try? reader.addPath(records)) != nil else { return 0 }
        reader.limit(bytes: limits.bodyBytes)
        let writer = RecordBatchWriter()
        writer.limit(limits)
        guard reader.begin(body.bytes, count: body.count) else { return 0 }
        var count = 0
        var status = JSONRecordReader.Status.more
        while status == .more {
            status = reader.next(into: writer, bytes: ReplyLimits.batchBytes)
            guard let batch = try? writer.finish() else { return count }
            withExtendedLifetime(batch) {
                for index in 0..<batch.count { count += unfinished(in: batch[index]) }
            }
        }
        return count
    }

    private static func unfinished(in value: BatchValue) -> Int {
        var count = 0
        for element in value.elements { count += unfinished(in: element) }
        for (name, member) in value.members {
            count += name == "hasNextPage" && member.boolean == true ? 1 : unfinished(in: member)
        }
        return count
    }

    /// Whether records are elements of lists inside other lists, so that connections in those have records, too.
    static func haveRecords(_ records: JSONPath) -> Bool {
        let inner = records.segments.dropFirst(PagingDetector.names(to: records).count + 1)
        return !inner.isEmpty && Array(inner) != [.name("node")]
    }
}
