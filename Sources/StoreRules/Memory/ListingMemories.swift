package import Mapping
package import StoreContract

/// The memories of a database's listings, and which of these are being scanned.
///
/// One thread uses them at a time.
package struct ListingMemories {
    private let model: CompiledModel
    package private(set) var listings: [ScanScope: ListingMemory] = [:]
    /// The listings whose scans are open.
    private var open: Set<ScanScope> = []

    package init(_ model: CompiledModel) { self.model = model }

    /// Takes the memories that an earlier process kept.
    package mutating func take(_ kept: [ScanScope: ListingMemory]) { listings = kept }

    /// Begins the scan of a listing.
    ///
    /// - Parameter mapping: A text that changes when the same bytes would be mapped to other values.
    package mutating func begin(_ scan: ScanTarget, mapping: String) -> ListingMemory {
        let root = model.entities[scan.entity].root
        var listing = listings[scan.scope] ?? ListingMemory(mapping: mapping, root: root)
        if listing.mapping != mapping || listing.root != root { listing = ListingMemory(mapping: mapping, root: root) }
        listings[scan.scope] = listing
        listing.begin()
        open.insert(scan.scope)
        return listing
    }

    /// Returns the memory of a listing that is being scanned.
    package func memory(of scope: ScanScope) -> ListingMemory? { open.contains(scope) ? listings[scope] : nil }

    /// Whether a listing that is being scanned has batches.
    package var hasBatches: Bool { open.contains { listings[$0]?.entries.isEmpty == false } }

    /// Ends the scan of a listing.
    package mutating func end(_ scope: ScanScope) { open.remove(scope) }

    /// Notes the entities whose rows a transaction of this process has written.
    ///
    /// - Parameter own: The listing that has accounted for its own batches.
    package func committed(_ entities: some Sequence<Int>, by own: ListingMemory?) {
        guard !listings.isEmpty else { return }
        let roots = Set(entities.map { model.entities[$0].root })
        guard !roots.isEmpty else { return }
        for listing in listings.values where roots.contains(listing.root) && listing !== own { listing.forgetAll() }
    }

    package func forgetAll() {
        for listing in listings.values { listing.forgetAll() }
    }

    // MARK: Between two processes

    /// The minimum number of rows to keep: fewer are compared as fast as a file is read.
    private static let minRows = 2_000

    /// Whether a listing has changed since it was read or saved.
    package var areChanged: Bool { listings.values.contains(where: \.isChanged) }

    /// The listings that are worth keeping for the next process; nil if none is.
    package var worthKeeping: [ScanScope: ListingMemory]? {
        let filled = listings.filter { !$0.value.entries.isEmpty }
        let rows = filled.values.reduce(0) { $0 + $1.entries.values.reduce(0) { $0 + $1.summary.records } }
        return rows < Self.minRows ? nil : filled
    }

    /// Notes that the listings were saved.
    package func noteSaved() {
        for listing in listings.values { listing.isChanged = false }
    }
}
