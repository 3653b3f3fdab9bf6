extension ConfigurationReader {
    /// How to scan an entity or a source.
    struct ReadScan {
        var parent: ParentScan?
        var incremental: Incremental?
        var fullEvery: Duration?
        var retryFor: Duration?
        var parentMark: YAMLMark?
        /// One mark per condition of the parent's scan.
        var conditionMarks: [YAMLMark] = []
        var incrementalMark: YAMLMark?
        var lookbackMark: YAMLMark?
        /// Whether the lookback is a number rather than a duration; nil if there is none.
        var lookbackIsNumber: Bool?
        /// The mark of `changed: true`.
        var changedMark: YAMLMark?
    }

    /// Reads `parent`, `incremental`, `full_every` and `retry_for`.
    ///
    /// Names are checked once the whole model is known.
    mutating func readScan(_ section: Section) -> ReadScan {
        let what = section.what
        var scan = ReadScan()
        if let parent = section[ScanKeys.parent] { readParent(parent, what, into: &scan) }
        if let each = section[SourceKeys.each] { readEach(each, what, into: &scan) }
        if let incremental = section[ScanKeys.incremental] { readIncremental(incremental, what, into: &scan) }
        scan.retryFor = value(ScanKeys.retryFor, of: section)
        if let fullEvery = section[ScanKeys.fullEvery] {
            scan.fullEvery = value(ScanKeys.fullEvery, of: section)
            if section[ScanKeys.incremental] == nil, scan.changedMark == nil {
                error(
                    at: fullEvery.key.mark,
                    "\"full_every\" of \(what) without \"incremental\" or \"changed: true\" of its parent",
                    "remove it: every scan fetches everything anyway")
            }
        }
        return scan
    }

    /// Reads `RELATIONSHIP` or `{relationship: NAME, where: CONDITION, concurrency: N, changed: true}`.
    private mutating func readParent(_ member: Member, _ what: String, into scan: inout ReadScan) {
        scan.parentMark = member.value.mark
        guard case .mapping = member.value.content else {
            if let name = text(member, of: what) { scan.parent = ParentScan(relationship: name) }
            return
        }
        let subject = "\"parent\" of \(what)"
        guard let section = section(member.value, ParentKeys.parent, subject),
            let relationship = required(ParentKeys.relationship, of: section, at: member.key.mark),
            let name = text(relationship, of: subject)
        else { return }
        scan.parentMark = relationship.value.mark
        var parent = ParentScan(relationship: name)
        readScanOptions(section, into: &parent, &scan)
        scan.parent = parent
    }

    /// Reads `true` or `{where: CONDITION, concurrency: N, changed: true}`.
    private mutating func readEach(_ member: Member, _ what: String, into scan: inout ReadScan) {
        if scan.parent != nil {
            error(at: member.key.mark, "\(what) has \"parent\" and \"each\"", "remove one")
            return
        }
        var parent = ParentScan(relationship: nil)
        if case .mapping = member.value.content {
            let subject = "\"each\" of \(what)"
            if let section = section(member.value, ParentKeys.each, subject) {
                readScanOptions(section, into: &parent, &scan)
            }
        } else if flag(member, of: what) == false {
            return
        }
        scan.parent = parent
    }

    private mutating func readScanOptions(
        _ section: Section, into parent: inout ParentScan, _ scan: inout ReadScan
    ) {
        if let condition = section[ParentKeys.condition] {
            for (text, mark) in names(condition, of: section.what) ?? [] {
                guard let parsed = LocalCondition(text) else {
                    error(
                        at: mark, "\(quoted(text)) in \"where\" of \(section.what) is not a condition",
                        LocalCondition.remedy(for: text))
                    continue
                }
                parent.conditions.append(parsed)
                scan.conditionMarks.append(mark)
            }
        }
        if let number = value(ParentKeys.concurrency, of: section) { parent.concurrency = Int(number) }
        if let changed = section[ParentKeys.changed], value(ParentKeys.changed, of: section) == true {
            parent.skipsUnchanged = true
            scan.changedMark = changed.key.mark
        }
    }

    /// Reads `token` or `{field: ATTRIBUTE, lookback: SPAN, order: newest_first}`.
    private mutating func readIncremental(_ member: Member, _ what: String, into scan: inout ReadScan) {
        scan.incrementalMark = member.value.mark
        guard case .mapping = member.value.content else {
            guard let text = text(member, of: what) else { return }
            if text == IncrementalKeys.token {
                scan.incremental = .token
            } else {
                error(
                    at: member.value.mark, "unknown value \(quoted(text)) of \"incremental\" of \(what)",
                    "write \"token\", or {field: ATTRIBUTE, lookback: 5m}")
            }
            return
        }
        let subject = "\"incremental\" of \(what)"
        guard let section = section(member.value, IncrementalKeys.shape, subject),
            let field = required(IncrementalKeys.field, of: section, at: member.key.mark),
            let name = text(field, of: subject)
        else { return }
        scan.incrementalMark = field.value.mark
        var lookback: Int64 = 0
        if let given = section[IncrementalKeys.lookback] {
            if case .int(let number) = given.value.scalar {
                if number < 0 { error(at: given.value.mark, "\"lookback\" of \(subject) is negative", nil) }
                lookback = number
                scan.lookbackIsNumber = number <= 0 ? nil : true
            } else if let seconds = Self.seconds(Substring(given.value.scalarText ?? "")) {
                lookback = seconds
                scan.lookbackIsNumber = false
            } else {
                error(
                    at: given.value.mark,
                    "\"lookback\" of \(subject) is neither a span of time nor a number",
                    "write a number and s, m, h, d or w, such as 5m or 7d; for an integer attribute a number")
            }
            scan.lookbackMark = given.value.mark
        }
        let order = value(IncrementalKeys.order, of: section) ?? .any
        scan.incremental = .field(attribute: name, lookback: lookback, order: order)
    }

    /// Reads `hard`, `soft`, `ignore`, or `{mode: MODE, brake: {share: 20%, rows: 10}, when: MATCHER}`.
    mutating func readDeletes(_ member: Member, _ what: String) -> DeletePolicy {
        var policy = DeletePolicy()
        guard case .mapping = member.value.content else {
            if let mode = choice(member, of: what, DeletePolicy.Mode.self) { policy.mode = mode }
            return policy
        }
        let subject = "\"deletes\" of \(what)"
        guard let section = section(member.value, DeletesKeys.shape, subject) else { return policy }
        if let mode = value(DeletesKeys.mode, of: section) { policy.mode = mode }
        if let view = section[DeletesKeys.view], let name = text(view, of: subject) {
            policy.view = name
            if let fault = Naming.fault(name, what: "entity") {
                error(at: view.value.mark, fault.message, fault.remedy)
            }
            if policy.mode != .soft {
                error(
                    at: view.key.mark, "\"view\" of \(subject), which keeps no deleted rows",
                    "add \"mode: soft\", or remove it")
            }
        }
        policy.tombstone = value(DeletesKeys.when, of: section)
        if let deletionLimit = section[DeletesKeys.deletionLimit],
            let section = self.section(deletionLimit.value, BrakeKeys.shape, "\"brake\" of \(subject)")
        {
            if let share = section[BrakeKeys.share], let number = self.share(share, section.what) {
                policy.deletionLimit.share = number
            }
            if let rows = value(BrakeKeys.rows, of: section) { policy.deletionLimit.rows = Int(rows) }
        }
        return policy
    }

    /// Reads `20%` or `0.2`, as a number from 0 to 1.
    private mutating func share(_ member: Member, _ subject: String) -> Double? {
        let text = member.value.scalarText ?? ""
        let number = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
        if let number, (0...1).contains(number) { return number }
        error(at: member.value.mark, "\"share\" of \(subject) must be from 0% to 100%", "write 20%, for example")
        return nil
    }
}
