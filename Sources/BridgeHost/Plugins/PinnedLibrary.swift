#if PLUGINS
internal import CBridgeGuard
internal import Digests
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The bytes of a pinned plugin, checked against the pin and sealed, so that the loaded bytes are the hashed bytes.
///
/// A file that is hashed and then loaded by its path can be replaced or overwritten in between. Therefore its bytes are
/// copied into a file in memory while they are hashed; that file is sealed and loaded. The loader sees it in a folder
/// of links to the neighbours of the real file, because `$ORIGIN` in its RUNPATH refers to that folder (ld.so(8)).
/// Private libraries are found as usual; they are not pinned.
final class PinnedLibrary {
    /// The path to load; valid for the life of this object.
    let path: String
    private let file: CInt

    /// The maximum file size: more than a library needs, less than the memory.
    private static let largest = 1 << 30
    /// The maximum number of links to neighbouring files per folder.
    private static let maxNeighbours = 4096

    /// - Parameters:
    ///   - path: The plugin's file.
    ///   - digest: The SHA-256 that it must have, in lower-case hexadecimal digits.
    ///   - folder: A private folder of this user for the links; without it private libraries are not found.
    /// - Throws: ``PluginRefusal`` when the file has another digest or cannot be read.
    init(_ path: String, digest: String, links folder: String?) throws(PluginRefusal) {
        file = bmo_file_in_memory("plugin")
        guard file >= 0 else {
            self.path = ""
            throw PluginRefusal(reason: "no memory for a copy of it: \(String(cString: strerror(errno)))")
        }
        let name = path.split(separator: "/").last.map(String.init) ?? "plugin"
        let own = "/proc/self/fd/\(file)"
        self.path = folder.flatMap { Self.link(name, to: own, besides: path, in: $0) } ?? own
        let found = try Self.copy(path, to: file)
        guard bmo_seal_file(file) == 0 else {
            throw PluginRefusal(reason: "its copy cannot be sealed: \(String(cString: strerror(errno)))")
        }
        guard found == digest else {
            throw PluginRefusal(
                reason: "it is not the file that was checked before (SHA-256 \(found.prefix(12))…, pinned "
                    + "\(digest.prefix(12))…): it was replaced meanwhile, and none of it ran")
        }
    }

    deinit { if file >= 0 { close(file) } }

    /// Copies a file's bytes and returns their SHA-256.
    private static func copy(_ path: String, to target: CInt) throws(PluginRefusal) -> String {
        let hash = MessageDigest(.sha256)
        var total = 0
        var refusal: PluginRefusal?
        do throws(BoundedFile.Failure) {
            try BoundedFile.scan(path) { chunk in
                total += chunk.count
                refusal = total > largest ? PluginRefusal(reason: "it is larger than 1 GiB") : append(chunk, to: target)
                hash.add(chunk)
                return refusal == nil
            }
        } catch {
            throw PluginRefusal(reason: "cannot be read: \(error.words)")
        }
        if let refusal { throw refusal }
        return hash.hexadecimal()
    }

    /// Returns why the bytes cannot be written; nil on success.
    private static func append(_ bytes: ArraySlice<UInt8>, to target: CInt) -> PluginRefusal? {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let written = write(target, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                guard written > 0 else {
                    return PluginRefusal(reason: "no memory for a copy of it: \(String(cString: strerror(errno)))")
                }
                done += written
            }
            return nil
        }
    }

    /// Creates a link to `target` among links to the neighbours of the real file; nil if that fails.
    private static func link(_ name: String, to target: String, besides path: String, in folder: String) -> String? {
        // The links point to the real file's folder, while the loader derives `$ORIGIN` from the path it is given.
        guard let home = parent(of: path).flatMap({ realpath($0, nil) }) else { return nil }
        defer { free(home) }
        let place = String(cString: home)
        let last = place.split(separator: "/").last.map(String.init) ?? "root"
        var template = Array("\(folder)/pinned-XXXXXX".utf8CString)
        guard let top = mkdtemp(&template).map({ String(cString: $0) }) else { return nil }
        let inner = "\(top)/\(last)"
        guard mkdir(inner, 0o700) == 0 else { return nil }
        neighbours(of: place, but: name, in: inner)
        // `$ORIGIN/../lib` is as common as `$ORIGIN`.
        if let above = parent(of: place) { neighbours(of: above, but: last, in: top) }
        guard symlink(target, "\(inner)/\(name)") == 0 else { return nil }
        return "\(inner)/\(name)"
    }

    private static func neighbours(of place: String, but name: String, in folder: String) {
        for other in (FolderListing.names(in: place) ?? []).prefix(maxNeighbours) where other != name {
            symlink("\(place)/\(other)", "\(folder)/\(other)")
        }
    }

    private static func parent(of path: String) -> String? {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
#endif
