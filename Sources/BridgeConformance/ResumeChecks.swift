internal import BMO
internal import BridgeHost
internal import Foundation
internal import Mapping
internal import Model
internal import RecordBatch

/// Checks that a scan continues where an earlier one stopped.
enum ResumeChecks {
    static let all = [
        Check("resume.cursors", "no page has the resume point of another", .basic) { subject in
            for entity in try subject.entities() {
                let cursors = try await subject.read(entity).pages.compactMap(\.cursor)
                try require(
                    Set(cursors).count == cursors.count,
                    "\(entity.name): a resume point occurs twice among \(cursors.count) pages: the scan could loop")
            }
        },
        Check("resume.each", "a scan from each page's resume point returns the rest", .full) { subject in
            guard subject.plugin.can("resume") else { throw NotApplicable("it cannot resume") }
            for entity in try subject.entities() {
                let whole = try await subject.read(entity)
                for page in sample(whole.pages.dropLast().filter { $0.cursor != nil }) {
                    // Use a new process, as after a kill -9.
                    var request = try subject.request(entity)
                    request.cursor = page.cursor
                    let rest = try await subject.scan(request)
                    try require(
                        rest.records == Array(whole.records[page.count...]),
                        "\(entity.name): from the resume point after \(page.count) records come \(rest.records.count), "
                            + "not the other \(whole.records.count - page.count)")
                }
            }
        },
        Check("resume.offered", "a scan of several pages offers resume points", .strict) { subject in
            guard subject.plugin.can("resume") else { throw NotApplicable("it cannot resume") }
            for entity in try subject.entities() {
                let pages = try await subject.read(entity).pages
                guard pages.count > 1 else { continue }
                try require(
                    pages.dropLast().contains { $0.cursor != nil }, "\(entity.name): \(pages.count) pages, no cursor")
            }
        },
        Check("resume.nonsense", "a resume point that it never gave is an error", .strict) { subject in
            guard subject.plugin.can("resume") else { throw NotApplicable("it cannot resume") }
            let entity = try subject.entities()[0]
            let connection = try await subject.connect()
            try await connection.closing {
                var request = try subject.request(entity)
                request.cursor = "\u{7F}no cursor of yours\u{7F}"
                do {
                    let scan = try await subject.scan(connection, request)
                    throw Violation("\(entity.name): it returns \(scan.records.count) records from an invalid cursor")
                } catch let failure as BridgeFailure {
                    try require(failure.code != .crashed, "it crashes: \(failure.message)")
                }
            }
        },
        Check("incremental.second", "a scan with the token of the previous one returns nothing", .full) { subject in
            guard subject.plugin.can("incremental") else { throw NotApplicable("it cannot scan incrementally") }
            let tokened = try subject.entities().filter { $0.incremental == .token }
            guard !tokened.isEmpty else { throw NotApplicable("no entity of the config has `incremental: token`") }
            for entity in tokened {
                guard let token = try await subject.read(entity).last?.token else {
                    throw Violation("\(entity.name): the scan ends without a token")
                }
                var request = try subject.request(entity)
                request.token = token
                let second = try await subject.scan(request)
                try require(
                    second.records.isEmpty, "\(entity.name): \(second.records.count) records that did not change")
            }
        },
        Check("incremental.future", "nothing changed since a time in the future", .full) { subject in
            guard subject.plugin.can("incremental") else { throw NotApplicable("it cannot scan incrementally") }
            let dated = try subject.entities().filter { entity in
                guard case .field(let name, _, _) = entity.incremental else { return false }
                return entity.attribute(named: name)?.type != .integer
            }
            guard !dated.isEmpty else { throw NotApplicable("no entity of the config is scanned by a field of time") }
            for entity in dated {
                var request = try subject.request(entity)
                request.since = future(of: entity, subject, like: try await subject.read(entity))
                let scan = try await subject.scan(request)
                try require(
                    scan.records.isEmpty,
                    "\(entity.name): \(scan.records.count) records since the year 2999 (\(request.since ?? ""))")
            }
        },
    ]

    /// Returns the year 2999 as a sync would request it, in the attribute's format and the form of the remote's values.
    private static func future(of entity: Entity, _ subject: Subject, like values: Scan) -> String {
        let usual = "2999-01-01T00:00:00Z"
        guard case .field(let name, _, _) = entity.incremental,
            let index = subject.workspace.model.index(of: entity.name),
            let field = WatchedField(name, among: entity.attributes, in: subject.workspace.model.entities[index])
        else { return usual }
        let sample = values.batches.lazy.compactMap { batch in
            (0..<batch.count).lazy.compactMap { field.remoteText(in: batch[$0]) }.first
        }.first
        // A lookback of one second makes `since` format the value again, in the sample's form.
        return field.since(local: .text("2999-01-01T00:00:01.000000Z"), remote: sample ?? usual, lookback: 1)
    }

    /// Returns the first, the last and some elements in between.
    private static func sample<Element>(_ all: [Element]) -> [Element] {
        guard all.count > 5 else { return all }
        return (0..<5).map { all[$0 * (all.count - 1) / 4] }
    }
}
