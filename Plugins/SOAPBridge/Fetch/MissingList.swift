/// Replies without records that also lack the elements around them.
///
/// A service leaves out an empty list, and often the element around it, but one that is busy or broken leaves out the
/// same and says why beside it, in words that bmo can't know.
extension SOAPSource {
    /// Returns a warning about a reply that lacks an element on the way to the records, or all of them; nil if it has
    /// what it needs.
    ///
    /// - Returns: Grave if the reply may not be an empty listing.
    func missingListWarning(_ reader: ReplyReader, isFurther: Bool) -> (text: String, isGrave: Bool)? {
        let paging = scan.paging
        if let name = reader.nilElement, reader.recordCount == 0, !paging.isWholeWithoutCounts {
            return (
                "the reply's <\(name)> is xsi:nil, which says nothing about the records, so nothing counts as deleted: if that "
                    + "is an empty list, \(paging.remedyForEmpty)", true
            )
        }
        guard let name = reader.missingElement, !paging.isWholeWithoutCounts else { return nil }
        let lacks = "the reply has no <\(name)> on the way to the records"
        let says = reader.total != nil || reader.hasMore != nil
        let notice = says || reader.saysSuccess ? nil : reader.notice
        if paging.namesCounts, !says, notice != nil || isFurther {
            return (
                "\(lacks), nor the \(paging.countWords) that paging names, so nothing counts as deleted: check records and paging",
                true
            )
        }
        // .NET leaves out the element around an empty list, but not those around that one.
        let isDeep = reader.missingLevels > 2
        guard let notice, isDeep || notice.weight >= .trouble else {
            return isDeep ? ("\(lacks): check records", false) : nil
        }
        return (
            "\(lacks), and \(notice.words), so nothing counts as deleted: check records; if that is an empty list, "
                + paging.remedyForEmpty, true
        )
    }
}

extension SOAPSource {
    /// Returns a warning about an element in the list that may be a record under a name that the schema lacks; nil
    /// without one.
    func strayWarning(_ reader: ReplyReader) -> String? {
        guard let (name, record, isDeclared) = reader.strayElement else { return nil }
        let paging = scan.paging
        if isDeclared, paging.isDeclaredWhole { return nil }
        let remedy = isDeclared && paging.style == .none ? "; if it is not one, \(paging.remedyForEmpty)" : ""
        return "the list of <\(record)> also has <\(name)>, which is not in the schema and may be a record that is not "
            + "read, so nothing counts as deleted: check records\(remedy)"
    }
}

extension SOAPPaging {
    /// Whether each reply is the whole list, and need not contain anything else.
    fileprivate var isWholeWithoutCounts: Bool { isDeclaredWhole && !namesCounts }

    /// Whether the section names elements that say where the list ends.
    fileprivate var namesCounts: Bool {
        !isOpen && !(totalPath.isEmpty && morePath.isEmpty && donePath.isEmpty)
    }

    fileprivate var countWords: String {
        [("total", totalPath), ("more", morePath), ("done", donePath)].filter { !$0.1.isEmpty }.map(\.0)
            .joined(separator: " or ")
    }

    /// The remedy for a reply that is not the end of the list by mistake, in words.
    ///
    /// With `style: none`, a paged listing would end at its first page.
    var remedyForEmpty: String {
        style == .none ? "write paging: {style: none}" : "say in paging where the list ends (total, more or done)"
    }
}
