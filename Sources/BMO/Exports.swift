// Re-exports the types in this library's own interface: configuration values and their errors, import counts, list
// differences and the store's errors. Otherwise each would need its own import.
// Of the host, only its own type is re-exported: the names of its other types clash with those of the kit.
@_exported public import class BridgeHost.BridgeHost
@_exported public import Importer
@_exported public import struct Mapping.CustomCode
@_exported public import struct Mapping.RecordMatcher
@_exported public import struct Mapping.RemoteRecord
@_exported public import enum Mapping.StoredValue
@_exported public import struct Mapping.ValueMerge
@_exported public import struct Mapping.ValueTransformer
@_exported public import Model
@_exported public import StoreContract
