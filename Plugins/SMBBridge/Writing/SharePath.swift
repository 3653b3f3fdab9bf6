import BridgeKit

/// A writable path below the URL's folder.
struct SharePath: Equatable {
    /// Components below the URL's folder; at least one.
    let names: [String]

    static func == (left: SharePath, right: SharePath) -> Bool { left.names.isSame(as: right.names) }

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
                throw share.explain(share.confirmed(error))
            }
            let key = FileRecord.key(names[depth])
            let entries = listing.entries.filter { FileRecord.key($0.name) == key }
            let exact = entries.first { $0.name.isSame(as: names[depth]) }
            guard let entry = exact ?? entries.first else { return }
            guard !entry.has(SMBEntry.reparsePoint) else {
                throw BridgeError(
                    .permission, "the path \"\(text)\" goes through \(entry.name), which is a link",
                    remedy: "write to where it leads, below the url's folder", location: share.url.location(names))
            }
        }
    }

    /// Whether a share has something at this path whose names have exactly these bytes.
    ///
    /// Its status does not tell: a server that ignores case gives that of a file whose name has another.
    func isTaken(on share: any Share) throws(SMBFailure) -> Bool {
        for depth in names.indices {
            do throws(SMBFailure) {
                let listing = try share.list(share.url.folder + names[..<depth])
                guard listing.entries.contains(where: { $0.name.isSame(as: names[depth]) }) else { return false }
            } catch {
                guard error.isAbsence else { throw error }
                return false
            }
        }
        return true
    }

    /// Refuses a path at which no scan would find what is written.
    func checkSelected(by patterns: PatternSet) throws {
        guard !patterns.includes(names) else { return }
        throw BridgeError(
            .configuration, "the next sync would not find \(text): the entity reads \(patterns.words)",
            remedy: "choose a path that matches, or change the section")
    }

    /// Refuses a path for a new file or folder that Windows clients could not open.
    func checkNewNames() throws {
        for name in names {
            guard Self.devices.contains(name.prefix { $0 != "." }.uppercased()) else { continue }
            throw BridgeError(
                .configuration, "the path \"\(text)\" has the name \"\(name)\", which Windows takes for a device",
                remedy: "choose another name")
        }
    }

    /// The names of devices, which no file can have, with whatever extension ([MS-FSCC], section 2.1.5, and
    /// "Naming Files, Paths, and Namespaces" of the Windows documentation).
    private static let devices: Set<String> = {
        let numbered = ["COM", "LPT"].flatMap { name in
            ["1", "2", "3", "4", "5", "6", "7", "8", "9", "\u{B9}", "\u{B2}", "\u{B3}"].map { name + $0 }
        }
        return Set(["CON", "PRN", "AUX", "NUL"] + numbered)
    }()
}
