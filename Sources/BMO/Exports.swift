// What a program meets in this library's own interface comes with it: configuration values and their errors, counts of an
// import, differences of lists, and the store's errors. Without, each would be an import of its own.
@_exported public import Importer
@_exported public import Model
@_exported public import SQLiteStore
