internal import BMO
internal import Importer

/// The final table of a sync.
enum SyncTable {
    static func text(_ report: SyncReport) -> String {
        let rows = report.entities.map { entity -> [String] in
            let counts = entity.counts
            let total = counts.inserted + counts.updated + counts.unchanged + counts.quarantined
            return [
                entity.name, entity.bridge, entity.shownOutcome, String(entity.pages), String(total),
                String(counts.inserted), String(counts.updated), String(counts.unchanged),
                String(counts.deleted), String(counts.quarantined), rate(total, entity.duration),
                seconds(entity.duration),
            ]
        }
        return Terminal.table(
            [
                "entity", "bridge", "outcome", "pages", "records", "inserted", "updated", "unchanged", "deleted",
                "quarantined", "records/s", "seconds",
            ], rows, rightAligned: Set(3...11), dispensable: [10, 8, 5, 6, 1, 3, 11, 7])
            + "\n\(report.outcomeWord) in \(seconds(report.duration)) s"
    }

    static func rate(_ records: Int, _ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return seconds > 0.0005 ? String(Int(Double(records) / seconds)) : "-"
    }

    static func seconds(_ duration: Duration) -> String {
        let parts = duration.components
        let hundredths = parts.attoseconds / 10_000_000_000_000_000
        return "\(parts.seconds).\(String(100 + hundredths).dropFirst())"
    }
}

extension QuarantinedRecord {
    /// The record's origin, for a message.
    var place: String {
        "\(entity) (bridge \(bridge), page \(page)\(record.map { ", record \($0)" } ?? ""))"
    }
}
