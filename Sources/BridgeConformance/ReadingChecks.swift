internal import BMO
internal import BridgeHost
internal import Foundation
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch

/// Checks the records that a bridge reads.
enum ReadingChecks {
    static let all = [
        Check("read.records", "each entity has a record", .basic) { subject in
            for entity in try subject.entities() {
                let scan = try await subject.read(entity)
                try require(!scan.records.isEmpty, "\(entity.name) has none: give the test a remote that has some")
            }
        },
        Check("read.end", "the last page says that it is the last, and that everything was listed", .full) { subject in
            for entity in try subject.entities() {
                let last = try await subject.read(entity).last
                try require(last?.end == true, "the scan of \(entity.name) ends without saying so")
                try require(
                    last?.complete == true || last?.unchanged == true,
                    "the scan of \(entity.name) never says `complete`: nothing could ever be deleted")
            }
        },
        Check("read.total", "the total that it reports is the number of records", .full) { subject in
            for entity in try subject.entities() {
                let scan = try await subject.read(entity)
                guard let total = scan.last?.total, scan.last?.complete == true else { continue }
                try require(
                    Int(total) == scan.records.count,
                    "\(entity.name): total \(total), but \(scan.records.count) records came")
            }
        },
        Check("read.mapping", "each record can be mapped, and has a key of its own", .basic) { subject in
            for entity in try subject.entities() {
                guard let index = subject.workspace.model.index(of: entity.name) else { continue }
                let layout = subject.workspace.model.entities[index]
                var keys: Set<[StoredValue]> = []
                for batch in try await subject.read(entity).batches {
                    let page = subject.mapper().map(batch, as: index)
                    if let rejection = page.rejections.first {
                        throw Violation("\(entity.name): \(rejection.reason): \(rejection.representation.prefix(200))")
                    }
                    for row in page.rows where row.entity == index && !row.isReference && entity.uniquing == .key {
                        let key = layout.key.compactMap { page.cells[row.firstCell + $0].value }
                        try require(
                            keys.insert(key).inserted, "\(entity.name): the key \(key) comes twice in one listing")
                    }
                    withExtendedLifetime((page, batch)) {}
                }
            }
        },
        Check("read.repeatable", "two full reads return the same", .full) { subject in
            for entity in try subject.entities() {
                let first = try await subject.read(entity)
                let second = try await subject.read(entity)
                try require(
                    first.records.sorted() == second.records.sorted(),
                    difference(first.records, second.records, of: entity))
            }
        },
        Check("read.pages", "a batch is neither huge nor a single record of many", .strict) { subject in
            for entity in try subject.entities() {
                let scan = try await subject.read(entity)
                let sizes = scan.batches.map(\.count)
                try require(
                    (sizes.max() ?? 0) <= 20_000, "\(entity.name): a batch of \(sizes.max() ?? 0) records: aim at 1,000"
                )
                try require(
                    scan.records.count < 200 || sizes.count * 5 < scan.records.count,
                    "\(entity.name): \(scan.records.count) records in \(sizes.count) batches: aim at 1,000 a batch")
            }
        },
        Check("read.concurrent", "two fetches at once return what one returns", .full) { subject in
            let entity = try subject.entities()[0]
            let alone = try await subject.read(entity)
            let connection = try await subject.connect()
            try await connection.closing {
                async let one = subject.scan(connection, try subject.request(entity))
                async let two = subject.scan(connection, try subject.request(entity))
                for scan in try await [one, two] {
                    try require(
                        scan.records.sorted() == alone.records.sorted(),
                        difference(alone.records, scan.records, of: entity))
                }
            }
        },
        Check("read.user_info", "a user info that it does not know changes nothing", .full) { subject in
            guard subject.plugin.can("user_info") else { throw NotApplicable("it takes no user info") }
            for entity in try subject.entities() {
                let alone = try await subject.read(entity)
                var request = try subject.request(entity)
                request.userInfo = Subject.unknownUserInfo
                let scan = try await subject.scan(request)
                try require(
                    scan.records.sorted() == alone.records.sorted(),
                    difference(alone.records, scan.records, of: entity))
            }
        },
        Check("read.parameters", "a parameter of one request is in what it explains of it", .full) { subject in
            guard subject.plugin.can("parameters"), subject.plugin.can("plan") else {
                throw NotApplicable("it takes no parameters with a request, or cannot plan")
            }
            for entity in try subject.entities() {
                var request = try subject.request(entity)
                request.explains = true
                request.parameters = BridgeOptions { $0.member("bmo_conformance", "1") }
                let plan = try await subject.scan(request)
                try require(
                    plan.records.contains { $0.contains("bmo_conformance") },
                    "\(entity.name): no planned request has the parameter bmo_conformance")
            }
        },
        Check("import.twice", "a second sync changes nothing", .full) { subject in
            let store = try subject.temporaryStore()
            defer { store.remove() }
            let first = try await subject.workspace.sync(into: store.store)
            try require(first.succeeded, "the sync fails: \(failures(first))")
            let second = try await subject.workspace.sync(into: store.store)
            try require(second.succeeded, "the second sync fails: \(failures(second))")
            for entity in second.entities where entity.counts.inserted + entity.counts.updated > 0 {
                throw Violation(
                    "\(entity.name): the second sync inserts \(entity.counts.inserted) and updates "
                        + "\(entity.counts.updated)")
            }
        },
    ]

    private static func failures(_ report: SyncReport) -> String {
        report.entities.compactMap { entity in
            if case .failed(let failure) = entity.outcome { "\(failure.description)" } else { nil }
        }.joined(separator: "; ")
    }

    private static func difference(_ first: [String], _ second: [String], of entity: Entity) -> String {
        let missing = Set(first).subtracting(second).sorted().first
        let added = Set(second).subtracting(first).sorted().first
        var words = "\(entity.name): \(first.count) records, then \(second.count)"
        if let missing { words += "; only in the first: \(missing.prefix(200))" }
        if let added { words += "; only in the second: \(added.prefix(200))" }
        return words
    }
}
