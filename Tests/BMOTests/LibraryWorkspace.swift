import BMO
import Foundation
import ImportTestSupport
import StoreContract
import StoreTestSupport
import TestSupport

/// A folder with a configuration and a database of the suite's store, which a test drives by the library, in this process.
///
/// What only the workspaces of one remote can do is an extension, such as `where Remote == NoteServer`.
final class LibraryWorkspace<Remote: Sendable>: Sendable {
    private let place: StorePlace
    /// The remote, or the host of the bridge that stands for it.
    let server: Remote

    var folder: TemporaryFolder { place.folder }
    /// The store of the suite, or SQLite.
    var kind: StoreKind { place.kind }
    var stores: any StoreProvider { place.stores }
    var database: String { place.location }

    /// - Parameter server: makes the remote, which may put files into the workspace's folder.
    init(of server: (TemporaryFolder) throws -> Remote) throws {
        place = try StorePlace(.current)
        self.server = try server(place.folder)
    }

    /// The database as another program sees it; of another store than SQLite, a copy of its tables without bookkeeping.
    func file() throws -> SQLiteFile {
        guard kind != .sqlite else { return try SQLiteFile(database) }
        return try SQLiteFile(stores.contents(of: database), at: folder.appending("\(UUID().uuidString).sqlite"))
    }

    /// What is stored, to find out whether a sync wrote anything: the bytes of the file, or all tables as text.
    func stored() throws -> Data {
        guard kind != .sqlite else { return try Data(contentsOf: URL(filePath: database)) }
        return Data("\(try stores.contents(of: database))".utf8)
    }
}
