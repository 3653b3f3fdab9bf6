internal import BridgeHost
internal import Importer
internal import Mapping
internal import RecordBatch

/// The result of a unit of work, which workers share as JSON.
struct UnitResult: Sendable {
    var report: SyncReport.Entity
    /// The counts of all entities that the unit changed.
    var counts: ImportCounts
    /// What the scan of a range of parents covered; nil if it failed.
    var listing: ScanListing?

    /// Returns the JSON object.
    func json(_ model: CompiledModel) -> String {
        RecordBatchWriter.json { writer in
            report.writeMembers(to: writer)
            writer.key("counts")
            writer.array {
                for (index, layout) in model.entities.enumerated() where counts[index] != ImportCounts.Entity() {
                    writer.array {
                        writer.text(layout.name)
                        for count in Self.numbers { writer.int64(Int64(counts[index][keyPath: count])) }
                    }
                }
            }
            guard let listing else { return }
            writer.key("listing")
            writer.array {
                // Skipped records are not stored, so a listing that skipped some does not count as whole.
                writer.bool(listing.isWhole && listing.skipped.isEmpty)
                writer.text(listing.began)
                for member in listing.members ?? [] {
                    writer.text(model.entities[member.entity].name)
                    writer.text(member.path)
                }
            }
        }
    }

    private static var numbers: [WritableKeyPath<ImportCounts.Entity, Int>] {
        [\.inserted, \.updated, \.unchanged, \.quarantined, \.stubs, \.relinked, \.deleted]
    }

    /// Reads the JSON object; nil for any other text.
    init?(json: String, _ model: CompiledModel) {
        guard let batch = try? JSONParser.batch(json), batch.count == 1 else { return nil }
        let read = withExtendedLifetime(batch) { () -> UnitResult? in
            SyncReport.Entity(batch[0]).map {
                UnitResult(
                    report: $0, counts: Self.counts(batch[0]["counts"], model),
                    listing: batch[0]["listing"].flatMap { Self.listing($0, model) })
            }
        }
        guard let read else { return nil }
        self = read
    }

    init(report: SyncReport.Entity, counts: ImportCounts, listing: ScanListing?) {
        (self.report, self.counts, self.listing) = (report, counts, listing)
    }

    private static func counts(_ value: BatchValue?, _ model: CompiledModel) -> ImportCounts {
        var counts = ImportCounts(entityCount: model.entities.count)
        for entry in value?.elements ?? [] {
            let parts = entry.elements
            guard let index = parts.first?.text.flatMap({ model.index(of: $0) }) else { continue }
            for (path, number) in zip(numbers, parts.dropFirst()) {
                counts[index][keyPath: path] = Int(number.integer ?? 0)
            }
        }
        return counts
    }

    private static func listing(_ value: BatchValue, _ model: CompiledModel) -> ScanListing? {
        let parts = value.elements
        guard parts.count >= 2, let isWhole = parts[0].boolean, let began = parts[1].text else { return nil }
        var listing = ScanListing(isWhole: isWhole, began: began)
        for place in stride(from: 2, to: parts.count - 1, by: 2) {
            guard let entity = parts[place].text.flatMap({ model.index(of: $0) }), let path = parts[place + 1].text
            else { continue }
            listing.members?.insert(ListedMember(entity: entity, path: path))
        }
        return listing
    }
}

extension SyncReport.Entity {
    /// Reads what ``writeMembers(to:)`` wrote.
    fileprivate init?(_ value: BatchValue) {
        guard let name = value["entity"]?.text, let bridge = value["bridge"]?.text else { return nil }
        self.init(
            name: name, bridge: bridge, outcome: .finished, pages: Int(value["pages"]?.integer ?? 0),
            resumedAfterPage: nil, counts: ImportCounts.Entity(),
            warnings: value["warnings"]?.elements.compactMap(\.text) ?? [],
            duration: .milliseconds(Int(Double(value["seconds"]?.decimalText ?? "").map { $0 * 1000 } ?? 0)))
        isIncomplete = value["incomplete"]?.boolean ?? false
        parents = value["parents"].map { SyncReport.Parents($0, name, bridge) }
        if let error = value["error"], error["code"] != nil {
            outcome = .failed(SyncFailure(error, name, bridge))
        }
    }

    /// Adds another part of the entity's scans.
    mutating func add(_ other: SyncReport.Entity) {
        pages += other.pages
        duration += other.duration
        isIncomplete = isIncomplete || other.isIncomplete
        for warning in other.warnings where !warnings.contains(warning) { warnings.append(warning) }
        if let more = other.parents {
            var all = parents ?? SyncReport.Parents()
            all.scanned += more.scanned
            all.unchanged += more.unchanged
            all.missing += more.missing
            all.spared += more.spared
            all.failed += more.failed
            all.failures += more.failures.prefix(max(0, 10 - all.failures.count))
            parents = all
        }
        if case .failed = outcome { return }
        outcome = other.outcome
    }
}

extension SyncReport.Parents {
    fileprivate init(_ value: BatchValue, _ entity: String, _ bridge: String) {
        self.init()
        scanned = Int(value["walked"]?.integer ?? 0)
        unchanged = Int(value["unchanged"]?.integer ?? 0)
        missing = Int(value["missing"]?.integer ?? 0)
        spared = Int(value["spared"]?.integer ?? 0)
        failed = Int(value["failed"]?.integer ?? 0)
        failures = (value["failures"]?.elements ?? []).map { failure in
            SyncReport.Parents.Failure(
                parent: failure["parent"]?.text ?? "", code: failure["code"]?.text ?? "",
                failure: SyncFailure(failure, entity, bridge))
        }
    }
}

extension SyncFailure {
    fileprivate init(_ value: BatchValue, _ entity: String, _ bridge: String) {
        self.init(
            entity: entity, bridge: bridge, page: value["page"]?.integer.map { Int($0) },
            code: value["code"]?.text ?? "internal", message: value["message"]?.text ?? "",
            remedy: value["remedy"]?.text, location: value["location"]?.text, remote: value["remote"]?.text,
            heldDeletions: value["held"]?.integer.map { Int($0) })
    }
}

extension BatchValue {
    /// The text of a number.
    fileprivate var decimalText: String? { text ?? integer.map(String.init) }
}
