import BridgeKit

/// A writable path below the URL's folder.
struct SharePath: Equatable {
    /// Components below the URL's folder; at least one.
    let names: [String]

    var text: String { names.joined(separator: "/") }
    var folder: [String] { Array(names.dropLast()) }

    /// A file next to this one that scans ignore.
    var temporary: [String] {
        folder + [SMBEntry.temporaryPrefix + String(UInt64.random(in: .min ... .max), radix: 36)]
    }

    /// - Throws: ``BridgeError`` for a path that leads out of the folder, or that no server accepts.
    init(_ text: String) throws {
        func refuse(_ why: String) -> BridgeError {
            BridgeError(
                .configuration, "the path \"\(text)\" \(why)",
                remedy: "give it below the url's folder, with slashes: reports/2024/may.txt")
        }
        guard !text.isEmpty else { throw refuse("is empty") }
        guard !text.hasPrefix("/"), !text.hasPrefix("\\") else { throw refuse("is absolute") }
        var names: [String] = []
        for part in text.split(separator: "/", omittingEmptySubsequences: false) {
            let name = String(part)
            guard name != ".." else { throw refuse("leads out of its folder: ..") }
            guard !name.isEmpty, name != "." else { throw refuse("has an empty name or .") }
            if let fault = ShareURL.fault(inName: name) { throw refuse("has the name \"\(name)\", which \(fault)") }
            // Windows strips them, and would address another file.
            guard !name.hasSuffix("."), !name.hasSuffix(" ") else {
                throw refuse("has the name \"\(name)\", which ends with a dot or a space")
            }
            guard !name.hasPrefix(SMBEntry.temporaryPrefix) else {
                throw refuse("has a name that bmo gives to unfinished files")
            }
            names.append(name)
        }
        self.names = names
    }

    /// Refuses a path through a link, which may lead out of the URL's folder.
    ///
    /// Links that the server itself resolves, as Samba does with symbolic links inside a share, cannot be detected.
    func checkLinks(on share: any Share) throws {
        for depth in names.indices {
            let folder = share.url.folder + names[..<depth]
            let listing: SMBListing
            do {
                listing = try share.list(folder)
            } catch  where error.isAbsence {
                return
            } catch {
                throw share.explain(error)
            }
            let key = FileRecord.key(names[depth])
            guard let entry = listing.entries.first(where: { FileRecord.key($0.name) == key }) else { return }
            guard !entry.has(SMBEntry.reparsePoint) else {
                throw BridgeError(
                    .permission, "the path \"\(text)\" goes through \(entry.name), which is a link",
                    remedy: "write to where it leads, below the url's folder", location: share.url.location(names))
            }
        }
    }
}
