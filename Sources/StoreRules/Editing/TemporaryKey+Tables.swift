internal import Mapping
internal import StoreContract

extension TemporaryKey {
    /// Creates a maker of keys for the objects of a store's tables.
    init(_ tables: any StoreTables) {
        self.init(tables.model) { layout, field in
            try tables.leastValue(of: field, in: layout.root)
        } nextEntry: {
            try tables.nextEntryID()
        }
    }
}
