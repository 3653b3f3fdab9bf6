internal import Mapping
internal import StoreContract
internal import StoreRules

/// The order of remote lists.
extension MemoryTables {
    func pages(of collection: CollectionName) -> [CollectionPage] {
        let kept = state.collections[collection.entity]?[ExactText(collection.name)]
        return kept?.pages.values.sorted { $0.number < $1.number } ?? []
    }

    func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]
    ) {
        let name = ExactText(collection.name)
        var kept = state.collections[collection.entity]?[name]?.pages.filter { !numbers.contains($0.key) } ?? [:]
        for page in pages { kept[page.number] = page }
        state.collections[collection.entity, default: [:]][name] = kept.isEmpty ? nil : (kept, Clock.now())
    }

    func collections() -> [KeptCollection] {
        state.collections.sorted { ExactText($0.key) < ExactText($1.key) }.flatMap { entity, kept in
            kept.sorted { $0.key < $1.key }.map { name, kept in
                KeptCollection(
                    collection: CollectionName(entity: entity, name: name.string), pages: kept.pages.count,
                    saved: kept.saved)
            }
        }
    }
}
