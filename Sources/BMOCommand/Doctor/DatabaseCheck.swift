internal import BMO
internal import StoreContract

/// The findings of `bmo doctor` about the database.
struct DatabaseCheck {
    let workspace: Workspace

    private static let subject = "database"
    private var path: String { workspace.configuration.databasePath }

    func findings() -> [Finding] {
        var faults: [Finding] = []
        do {
            faults = try workspace.stores.faults(of: path).map(finding)
            guard workspace.stores.exists(path) else {
                let words = "\(path) does not exist yet; the first `bmo sync` creates it"
                return faults.isEmpty ? [.ok(Self.subject, words)] : faults
            }
            let store = try workspace.openStoreForReading()
            defer { try? store.close() }
            return faults + (try findings(in: store))
        } catch let error as StoreError {
            return faults + [finding(error)]
        } catch {
            return faults + [.error(Self.subject, "\(error)", remedy: Self.remedy)]
        }
    }

    private static let remedy = "check that the file is readable and not damaged"

    private func finding(_ error: StoreError) -> Finding {
        let remedy = error.code == .schema ? "run `bmo migrate`" : Self.remedy
        return .error(Self.subject, error.message, remedy: error.remedy ?? remedy)
    }

    private func findings(in store: any Store) throws -> [Finding] {
        let entities = try store.status()
        let rows = entities.reduce(0) { $0 + $1.rows }
        var findings: [Finding] = [.ok(Self.subject, "\(path): \(Terminal.count(rows, "row", "rows"))")]
        for words in (store as? any LimitedStore)?.limitations ?? [] { findings.append(.ok(Self.subject, words)) }
        if let holder = workspace.stores.lockHolder(of: path, for: .writing) {
            findings.append(.ok(Self.subject, "it is being written by \(holder)"))
        }
        let quarantined = entities.reduce(0) { $0 + $1.quarantined }
        if quarantined > 0 {
            findings.append(
                .warning(
                    Self.subject, "\(Terminal.count(quarantined, "record is", "records are")) in quarantine",
                    remedy: "`bmo quarantine` shows why; `bmo quarantine retry` imports them after a correction"))
        }
        let conflicts = try store.outbox().filter { $0.state == .conflict }.count
        if conflicts > 0 {
            findings.append(
                .warning(
                    Self.subject, "\(Terminal.count(conflicts, "local edit", "local edits")) in conflict",
                    remedy: "`bmo conflicts` shows them, and `bmo resolve` decides"))
        }
        if let run = try store.runs(limit: 1).first { findings += MachineCheck.clock(after: run.started) }
        return findings
    }
}
