import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// A database whose file goes while it is being written.
@Suite struct FileIdentityTests {
    private func fixture() throws -> StoreFixture {
        try StoreFixture(try CompiledModel.of(Entity("City", key: ["id"], [.of("id", .integer)])))
    }

    @Test(arguments: ["deleted", "moved", "replaced"])
    func `a page of a file that is not there any more fails`(_ fate: String) throws {
        let fixture = try fixture()
        try fixture.store.beginRun(kind: "sync")
        try fixture.add("City", ["id": 1])
        let files = FileManager.default
        switch fate {
        case "moved": try files.moveItem(atPath: fixture.path, toPath: fixture.path + ".moved")
        case "replaced":
            try files.copyItem(atPath: fixture.path, toPath: fixture.path + ".copy")
            try files.removeItem(atPath: fixture.path)
            try files.moveItem(atPath: fixture.path + ".copy", toPath: fixture.path)
        default: try files.removeItem(atPath: fixture.path)
        }
        let error = try storeError { try fixture.add("City", ["id": 2]) }
        #expect(error.code == .io)
        #expect(
            error.description.contains(fate == "replaced" ? "replaced by another file" : "moved or deleted"), "\(error)"
        )
        let atTheEnd = try storeError { try fixture.store.endRun(outcome: "finished", summary: nil, always: false) }
        #expect(atTheEnd.code == .io, "also where there was nothing to write")
    }
}
