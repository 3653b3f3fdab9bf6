internal import Foundation

/// The folder in which a case is recorded; leaves alone folders that are not cases and files that are not part of a
/// case.
struct CasePlace {
    private let fixture: FixtureCase
    private var files: FileManager { FileManager.default }

    init(_ fixture: FixtureCase) { self.fixture = fixture }

    /// - Throws: ``FixtureCase/Fault`` when the folder must not be written.
    func check(_ replaces: Bool, writesReadme: Bool) throws {
        let own = URL(fileURLWithPath: fixture.folder).resolvingSymlinksInPath().path
        let here = URL(fileURLWithPath: files.currentDirectoryPath).resolvingSymlinksInPath().path
        guard own != "/", !(here + "/").hasPrefix(own + "/") else {
            throw FixtureCase.Fault("\(fixture.folder) is not a folder of its own for a case: name one that is")
        }
        var isFolder: ObjCBool = false
        guard files.fileExists(atPath: fixture.folder, isDirectory: &isFolder) else { return }
        guard isFolder.boolValue else { throw FixtureCase.Fault("\(fixture.folder) is a file; a case is a folder") }
        guard !files.fileExists(atPath: fixture.settings) else {
            if replaces { return }
            throw FixtureCase.Fault(
                "the case \(fixture.name) already exists; --force records it again, --add adds a step")
        }
        let taken = ["bmo.yml", "bmo.auto.yml", "expected.txt", "exchanges"] + (writesReadme ? ["README.md"] : [])
        let there = taken.filter { files.fileExists(atPath: fixture.folder + "/" + $0) }
        guard there.isEmpty else {
            throw FixtureCase.Fault(
                "\(fixture.folder) is not a case: it has no case.yml, but \(there.joined(separator: ", ")), "
                    + "which would be overwritten; name another folder")
        }
    }

    /// Copies the folder's contents.
    func copy(to folder: String) throws {
        try files.createDirectory(
            atPath: URL(fileURLWithPath: folder).deletingLastPathComponent().path, withIntermediateDirectories: true)
        guard files.fileExists(atPath: fixture.folder) else {
            return try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        try files.copyItem(atPath: fixture.folder, toPath: folder)
    }

    /// Replaces the case with one made in another folder.
    func replace(with folder: String) throws {
        try files.createDirectory(atPath: fixture.folder, withIntermediateDirectories: true)
        try Self.clear(fixture.folder + "/exchanges")
        for name in try files.subpathsOfDirectory(atPath: folder).sorted() {
            let isOwn =
                ["bmo.yml", "bmo.auto.yml", "case.yml", "expected.txt", "README.md"].contains(name)
                || name.hasPrefix("exchanges/")
            var isFolder: ObjCBool = false
            let source = "\(folder)/\(name)"
            guard isOwn, files.fileExists(atPath: source, isDirectory: &isFolder), !isFolder.boolValue else { continue }
            let target = URL(fileURLWithPath: "\(fixture.folder)/\(name)")
            try files.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(contentsOf: URL(fileURLWithPath: source)).write(to: target, options: .atomic)
        }
    }

    /// Deletes the exchanges in a folder and its steps' folders, and nothing else.
    static func clear(_ folder: String) throws {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] {
            let path = "\(folder)/\(name)"
            if name.allSatisfy(\.isNumber) {
                try clear(path)
                if try files.contentsOfDirectory(atPath: path).isEmpty { try files.removeItem(atPath: path) }
            } else if [".http", ".request", ".reply"].contains(where: name.hasSuffix) {
                try files.removeItem(atPath: path)
            }
        }
    }
}
