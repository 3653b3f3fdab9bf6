internal import BridgeHTTP
internal import BridgeJSON
internal import BridgePaging

/// What a page says of records that it lacks.
extension PageReader {
    /// Whether the reply says that there are no records, such as `total: 0`.
    var saysZero: Bool { ReplySurvey(body).map { PagingDetector.saysZero($0) } ?? false }

    /// The sign beside the page's records that some of them may be missing, or nil if there is none.
    ///
    /// Known once the page was read to its end.
    func failureSign() -> String? {
        let isRead = signs.contains { PartialFailure.isSign($0, value(.body($0))) }
        let isNull =
            reader.recordCount == 0 && !records.segments.isEmpty
            && JSONScalar.read([records], in: body)?.first == .null
        guard isRead || isNull, let survey = ReplySurvey(body, along: records) else { return nil }
        let homes = PagingDetector.objects(around: PagingDetector.names(to: records))
        return PartialFailure.sign(survey, in: homes, isNull: isNull) { [section] in section.validates($0) }
            .map { response?.redactor.clean($0) ?? $0 }
    }

    /// The place of the records, if null stands there and nothing in the reply says that there are no records; nil
    /// otherwise.
    ///
    /// Some languages write an empty list like this, and others what they could not read.
    var untoldNull: JSONPath? {
        guard reader.recordCount == 0, JSONScalar.read([records], in: body)?.first == .null,
            !section.validates(records.description)
        else { return nil }
        let isTold = ReplySurvey(body).map { PagingDetector.saysZero($0) || PartialFailure.saysSuccess($0) } ?? false
        return isTold || said.paging().total == 0 ? nil : records
    }

    /// The path of the records, if it leads into a list and no element of it has what follows; nil otherwise.
    var lackedMember: JSONPath? {
        let lacks = nested == nil ? reader.lacksRecords : reader.recordCount > 0 && !nestedFound
        guard lacks, !section.validates(records.description) else { return nil }
        return records
    }
}
