import BridgeKit
import CSMBClient
import Glibc

extension SMBConnection {
    /// Requests the server's information about a file or folder; returns nil if the name does not exist.
    ///
    /// A stat returns no creation time, and of the DOS attributes only hidden and system.
    func askStatus(of path: [String]) throws(SMBFailure) -> SMBEntry? {
        let url = options.url.encoded(path)
        try connect()
        return try withContext { context throws(SMBFailure) in
            var status = stat()
            let (result, number) = url.withCString {
                (smbc_getFunctionStat(context)?(context, $0, &status) ?? -1, errno)
            }
            guard result == 0 else {
                let failure = SMBFailure(cause: .system(number), action: .readFile, path: path)
                if failure.isAbsence { return nil }
                throw failure
            }
            var attributes: Int32 = 0
            if status.st_mode & S_IFMT == S_IFDIR {
                attributes = SMBC_DOS_MODE_DIRECTORY
            } else {
                if status.st_mode & Self.hiddenMode != 0 { attributes |= SMBC_DOS_MODE_HIDDEN }
                if status.st_mode & Self.systemMode != 0 { attributes |= SMBC_DOS_MODE_SYSTEM }
            }
            return SMBEntry(
                name: path.last ?? "", size: UInt64(max(0, status.st_size)),
                attributes: UInt16(truncatingIfNeeded: attributes),
                modified: status.st_mtim.microseconds, accessed: status.st_atim.microseconds,
                changed: status.st_ctim.microseconds, inode: UInt64(status.st_ino))
        }
    }

    /// The permissions that libsmbclient takes for the attributes hidden and system, as ``ClientConfiguration`` says.
    private static let hiddenMode: mode_t = 0o001
    private static let systemMode: mode_t = 0o010

    /// Gives a file the attributes hidden and system of another one.
    func setAttributes(_ path: [String], of entry: SMBEntry) throws(SMBFailure) {
        // Any change of a file sets archive, whose mode is that of the owner to execute.
        var mode: mode_t = 0o700
        if entry.has(SMBC_DOS_MODE_HIDDEN) { mode |= Self.hiddenMode }
        if entry.has(SMBC_DOS_MODE_SYSTEM) { mode |= Self.systemMode }
        let url = options.url.encoded(path)
        try call(.writeFile, path, about: "\(entry.attributes)") { [mode] context in
            url.withCString { smbc_getFunctionChmod(context)?(context, $0, mode) ?? -1 }
        }
    }

    /// Writes a new file; an existing entry with its name is an error.
    func create(_ path: [String], _ bytes: [UInt8]) throws(SMBFailure) {
        try put(path, flags: O_WRONLY | O_CREAT | O_EXCL, at: nil, bytes)
    }

    /// Appends to a file of exactly `size` bytes.
    func append(_ path: [String], _ bytes: [UInt8], ifSize size: Int64) throws(SMBFailure) {
        // Without read access, libsmbclient cannot query the size of an open file.
        try put(path, flags: O_RDWR, at: size, bytes)
    }

    func askPut(_ path: [String], flags: Int32, at size: Int64?, _ bytes: [UInt8]) throws(SMBFailure) {
        let url = options.url.encoded(path)
        func failure(_ number: Int32) -> SMBFailure {
            SMBFailure(cause: .system(number), action: .writeFile, path: path)
        }
        try connect()
        try withContext { context throws(SMBFailure) in
            guard let open = smbc_getFunctionOpen(context), let write = smbc_getFunctionWrite(context),
                let close = smbc_getFunctionClose(context), let seek = smbc_getFunctionLseek(context)
            else { throw failure(ENOSYS) }
            let (handle, openError) = url.withCString { (open(context, $0, flags, 0o666), errno) }
            guard let handle else { throw failure(openError) }
            var fault: SMBFailure?
            if let size {
                var status = stat()
                let isSame =
                    smbc_getFunctionFstat(context)?(context, handle, &status) == 0 && Int64(status.st_size) == size
                if !isSame || seek(context, handle, off_t(size), SEEK_SET) != off_t(size) {
                    fault = SMBFailure(cause: .changed, action: .writeFile, path: path)
                }
            }
            var done = 0
            while done < bytes.count, fault == nil {
                let count = min(bytes.count - done, SMBEntry.chunkBytes)
                let (written, number) = bytes.withUnsafeBytes { buffer in
                    (write(context, handle, buffer.baseAddress.map { $0 + done }, count), errno)
                }
                if written <= 0 { fault = failure(written < 0 ? number : EIO) } else { done += written }
                isGettingOn()
            }
            // The server may report a failed write only now.
            let (closed, closeError) = (close(context, handle), errno)
            if let fault { throw fault }
            guard closed == 0 else { throw failure(closeError) }
        }
    }

    /// Renames a file or folder, replacing a file with the new name.
    ///
    /// libsmbclient deletes the replaced file just before: for a moment no file has that name.
    func move(_ path: [String], to target: [String]) throws(SMBFailure) {
        let (from, to) = (options.url.encoded(path), options.url.encoded(target))
        try call(.moveFile, path, about: SMBConnection.path(target)) { context in
            from.withCString { from in
                to.withCString { smbc_getFunctionRename(context)?(context, from, context, $0) ?? -1 }
            }
        }
    }

    /// Writes a file whole, by way of a temporary one, which is gone afterwards.
    ///
    /// The new file has the attributes hidden and system of the one that it replaces, if the server takes them.
    ///
    /// - Parameters:
    ///   - size: The size of the file to replace; nil for a new one.
    ///   - check: Called with the present state of the file, nil for none, before it is created or replaced.
    /// - Throws: What `check` throws, and the errors of ``replace(_:by:)``.
    func put(
        _ bytes: [UInt8], at target: [String], through temporary: [String], replacing size: Int64?,
        ifStill check: (SMBEntry?) throws -> Void
    ) throws {
        // A server lets a file be replaced that it does not let be written: that takes rights to the folder.
        if let size { try append(target, [], ifSize: size) }
        do throws(SMBFailure) {
            try create(temporary, bytes)
        } catch {
            try? delete(temporary)
            // The user does not know the temporary file.
            guard error.path == temporary else { throw error }
            throw SMBFailure(cause: error.cause, action: .makeFile, path: Array(target.dropLast()))
        }
        do {
            let now = try status(of: target)
            try check(now)
            guard let now else { return try place(temporary, at: target) }
            if now.has(SMBC_DOS_MODE_HIDDEN) || now.has(SMBC_DOS_MODE_SYSTEM) {
                try? setAttributes(temporary, of: now)
            }
        } catch {
            try? delete(temporary)
            throw error
        }
        try replace(target, by: temporary)
    }

    /// Moves a temporary file, whose name the user does not know, to its place.
    private func place(_ temporary: [String], at target: [String]) throws(SMBFailure) {
        do throws(SMBFailure) {
            try move(temporary, to: target)
        } catch {
            guard error.path == temporary else { throw error }
            throw SMBFailure(cause: error.cause, action: .writeFile, path: target)
        }
    }

    /// Replaces a file by a temporary one, which is gone afterwards.
    ///
    /// libsmbclient deletes the file first. If a program has it open and lets no other delete it, the server keeps it, and
    /// the rename then fails because it exists: the program's lock is the reason.
    ///
    /// - Throws: ``SMBFailure``; or ``BridgeError`` if the file was deleted and the temporary one, with the only content,
    ///   could not be moved.
    private func replace(_ target: [String], by temporary: [String]) throws {
        do {
            try place(temporary, at: target)
        } catch {
            guard (try? status(of: target)) != nil else {
                let (file, copy) = (target.joined(separator: "/"), temporary.joined(separator: "/"))
                throw BridgeError(
                    .conflict, "\(file) was open in another program, and is gone: its new content is in \(copy)",
                    remedy: "move it to \(file) when the program has closed that file", location: url.location(target))
            }
            try? delete(temporary)
            guard error.cause == .system(EEXIST) else { throw error }
            throw SMBFailure(cause: .system(ETXTBSY), action: .writeFile, path: target)
        }
    }

    /// Deletes a file.
    func delete(_ path: [String]) throws(SMBFailure) {
        let url = options.url.encoded(path)
        try call(.deleteFile, path) { context in
            url.withCString { smbc_getFunctionUnlink(context)?(context, $0) ?? -1 }
        }
    }

    /// Deletes a folder, which must be empty.
    func deleteFolder(_ path: [String]) throws(SMBFailure) {
        // Some servers report success, and keep a folder that is not empty.
        guard try list(path).entries.isEmpty else {
            throw SMBFailure(cause: .system(ENOTEMPTY), action: .deleteFile, path: path)
        }
        let url = options.url.encoded(path)
        try call(.deleteFile, path) { context in
            url.withCString { smbc_getFunctionRmdir(context)?(context, $0) ?? -1 }
        }
    }

    /// Creates a folder in an existing parent.
    func makeFolder(_ path: [String]) throws(SMBFailure) {
        let url = options.url.encoded(path)
        try call(.makeFolder, path) { context in
            url.withCString { smbc_getFunctionMkdir(context)?(context, $0, 0o777) ?? -1 }
        }
    }

    /// Sets the modification time, in microseconds since 1970.
    func setModified(_ path: [String], _ microseconds: Int64) throws(SMBFailure) {
        let url = options.url.encoded(path)
        let time = timeval(microseconds: microseconds)
        try call(.writeFile, path, about: "\(microseconds)") { context in
            var times = [time, time]
            return url.withCString { smbc_getFunctionUtimes(context)?(context, $0, &times) ?? -1 }
        }
    }

    func askCall(
        _ action: SMBFailure.Action, _ path: [String], _ body: (UnsafeMutablePointer<SMBCCTX>) -> Int32
    ) throws(SMBFailure) {
        try connect()
        try withContext { context throws(SMBFailure) in
            let (result, number) = (body(context), errno)
            guard result == 0 else { throw SMBFailure(cause: .system(number), action: action, path: path) }
        }
    }
}
