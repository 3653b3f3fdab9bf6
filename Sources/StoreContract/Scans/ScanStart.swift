public import Mapping

/// All that a scan has to know before it asks the remote; see ``ScanStore/starts(of:_:)``.
public struct ScanStart: Sendable, Equatable {
    /// The position of an interrupted scan; see ``ScanStore/progress(of:)``.
    public let progress: ScanProgress?
    /// The cursor that an earlier scan left; see ``ScanStore/cursor(of:)``.
    public let cursor: ScanCursor?
    /// The ID of the newest edit that the remote accepted during a scan; see ``ScanStore/newestAcknowledged()``.
    public let acknowledged: Int64
    /// The members that the records of the listing have had; see ``ScanStore/members(of:)``.
    public let members: Set<ListedMember>

    /// Creates what a store has read.
    public init(progress: ScanProgress?, cursor: ScanCursor?, acknowledged: Int64, members: Set<ListedMember>) {
        self.progress = progress
        self.cursor = cursor
        self.acknowledged = acknowledged
        self.members = members
    }
}

extension ScanStore {
    /// Returns all that scans have to know before they ask the remote, by one read after the other.
    public func starts(of scopes: [ScanScope], _ listing: MemberListing) throws -> [ScanStart] {
        let (acknowledged, members) = (try newestAcknowledged(), try members(of: listing))
        return try scopes.map { scope in
            ScanStart(
                progress: try progress(of: scope), cursor: try cursor(of: scope), acknowledged: acknowledged,
                members: members)
        }
    }

    /// Returns all that a scan has to know before it asks the remote.
    public func start(of scope: ScanScope, _ listing: MemberListing) throws -> ScanStart {
        guard let start = try starts(of: [scope], listing).first else {
            throw StoreError(.internal, "the store has no start of a scan")
        }
        return start
    }
}
