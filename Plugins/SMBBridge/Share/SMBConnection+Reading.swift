import BridgeKit
import CSMBClient
import Glibc
import SystemCalls

extension SMBConnection {
    /// Requests a folder's names with all their attributes, in the server's order.
    ///
    /// libsmbclient holds the whole listing in memory; the folder is closed when this returns. File ids take half of
    /// the time spent here: libsmbclient 4.17 parses the URL and looks up settings for each. So files get an id only on
    /// request, and folders if the folder holds folders.
    func askList(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing {
        let url = options.url.encoded(folder)
        func failure(_ number: Int32) -> SMBFailure {
            SMBFailure(cause: .system(number), action: .listFolder, path: folder)
        }
        try connect()
        return try withContext { context throws(SMBFailure) in
            guard let open = smbc_getFunctionOpendir(context), let read = smbc_getFunctionReaddirPlus2(context),
                let close = smbc_getFunctionClosedir(context), let seek = smbc_getFunctionLseekdir(context)
            else { throw failure(ENOSYS) }
            let (handle, openError) = url.withCString { (open(context, $0), errno) }
            guard let handle else { throw failure(openError) }
            defer { _ = close(context, handle) }
            var listing = SMBListing()
            var hasFolders = false
            try collect(&listing, failure) { count in
                // The first two entries are the folder itself and its parent.
                var status = stat()
                let isWanted = fileIDs || count < 2
                guard let info = isWanted ? read(context, handle, &status) : read(context, handle, nil) else {
                    return nil
                }
                hasFolders = hasFolders || count >= 2 && Int32(info.pointee.attrs) & SMBC_DOS_MODE_DIRECTORY != 0
                return (info.pointee, UInt64(status.st_ino))
            }
            guard hasFolders, !fileIDs else { return listing }
            // The second pass reads from memory.
            guard seek(context, handle, 0) == 0 else { throw failure(errno) }
            listing = SMBListing()
            try collect(&listing, failure) { _ in
                var status = stat()
                return read(context, handle, &status).map { ($0.pointee, UInt64(status.st_ino)) }
            }
            return listing
        }
    }

    private func collect(
        _ listing: inout SMBListing, _ failure: (Int32) -> SMBFailure,
        _ next: (Int) -> (info: libsmb_file_info, inode: UInt64)?
    ) throws(SMBFailure) {
        var count = 0
        errno = 0
        while let (info, inode) = next(count) {
            defer { errno = 0 }
            count += 1
            // The next portion takes another network request.
            if count % 1000 == 0 { isGettingOn() }
            guard let text = info.name else { continue }
            guard let name = String(validatingCString: text) else {
                listing.malformedNames.append(String(cString: text))
                continue
            }
            if name == ".." { continue }
            let entry = SMBEntry(
                name: name, size: info.size, attributes: info.attrs, modified: info.mtime_ts.microseconds,
                created: info.btime_ts.microseconds, accessed: info.atime_ts.microseconds,
                changed: info.ctime_ts.microseconds, inode: inode)
            if name == "." { listing.itself = entry } else { listing.entries.append(entry) }
        }
        let number = errno
        guard number == 0 else { throw failure(number) }
    }

    /// Whether the share is far: a stat of its root takes three round trips, and near means below a millisecond each.
    ///
    /// Measures up to three times, because the machine may be busy.
    var isFar: Bool {
        // The duration is not recorded.
        if tape != nil { return false }
        for _ in 1...3 {
            let start = MonotonicClock.nanoseconds
            guard (try? status(of: [])) != nil else { return true }
            if MonotonicClock.nanoseconds - start < 3_000_000 { return false }
        }
        return true
    }

    func confirmed(_ failure: SMBFailure) -> SMBFailure {
        // A recording has the refusal only.
        guard failure.isAccess, failure.action != .openShare, tape?.isReplaying != true else { return failure }
        // A share may have thousands of folders that are closed to the user.
        let isRecent = lastConfirmation.withLock { last in
            last.map { MonotonicClock.nanoseconds - $0 < 1_000_000_000 } ?? false
        }
        guard !isRecent else { return failure }
        do throws(SMBFailure) {
            _ = try askStatus(of: [])
        } catch {
            // Any other failure comes again with the next call.
            return error.isAccess ? SMBFailure(cause: error.cause, action: .openShare, path: []) : failure
        }
        lastConfirmation.withLock { $0 = MonotonicClock.nanoseconds }
        return failure
    }

    func askOwners(of path: [String]) throws(SMBFailure) -> Owners {
        let url = options.url.encoded(path)
        try connect()
        return try withContext { context throws(SMBFailure) in
            guard let get = smbc_getFunctionGetxattr(context) else {
                throw SMBFailure(cause: .system(ENOSYS), action: .readOwners, path: path)
            }
            func value(_ name: String) throws(SMBFailure) -> String? {
                var buffer = [UInt8](repeating: 0, count: 512)
                let (count, number) = buffer.withUnsafeMutableBytes { bytes in
                    (get(context, url, name, bytes.baseAddress, bytes.count), errno)
                }
                guard count >= 0 else { throw SMBFailure(cause: .system(number), action: .readOwners, path: path) }
                let text = String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
                return text.isEmpty ? nil : text
            }
            return Owners(
                owner: try value("system.nt_sec_desc.owner"), group: try value("system.nt_sec_desc.group"))
        }
    }

    /// Reads up to `limit` bytes from `offset`, and checks that the file is unchanged, or has only grown.
    ///
    /// Reads exactly to the known size, because detecting the end costs two more round trips. The file is closed when
    /// this returns: an open file keeps others from renaming or deleting it.
    ///
    /// - Parameter expected: The state that was listed or read before; nil accepts the present one.
    /// - Throws: ``SMBFailure`` with ``SMBFailure/Cause/changed`` if the file differs or changes.
    func askRead(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?, growing: Bool
    ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
        let url = options.url.encoded(path)
        func failure(_ cause: SMBFailure.Cause) -> SMBFailure {
            SMBFailure(cause: cause, action: .readFile, path: path)
        }
        try connect()
        return try withContext { context throws(SMBFailure) in
            guard let open = smbc_getFunctionOpen(context), let read = smbc_getFunctionRead(context),
                let seek = smbc_getFunctionLseek(context), let close = smbc_getFunctionClose(context)
            else { throw failure(.system(ENOSYS)) }
            let (handle, openError) = url.withCString { (open(context, $0, O_RDONLY, 0), errno) }
            guard let handle else { throw failure(.system(openError)) }
            defer { _ = close(context, handle) }
            func version() throws(SMBFailure) -> FileVersion {
                var status = stat()
                guard smbc_getFunctionFstat(context)?(context, handle, &status) == 0 else {
                    throw failure(.system(errno))
                }
                return FileVersion(
                    size: max(0, Int64(status.st_size)), modified: status.st_mtim.microseconds,
                    inode: UInt64(status.st_ino))
            }
            let before: FileVersion
            if let expected { before = expected } else { before = try version() }
            if offset > 0, seek(context, handle, off_t(offset), SEEK_SET) < 0 { throw failure(.system(errno)) }
            let wanted = Int(min(Int64(limit), max(0, before.size - offset)))
            var readError: Int32?
            let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                while count < wanted, let base = buffer.baseAddress {
                    let got = read(context, handle, base + count, wanted - count)
                    if got < 0 { readError = errno }
                    if got > 0 { isGettingOn() }
                    guard got > 0 else { break }
                    count += got
                }
            }
            if let readError { throw failure(.system(readError)) }
            let after = try version()
            guard bytes.count == wanted, after.agrees(with: before, growing: growing) else { throw failure(.changed) }
            return (bytes, after)
        }
    }
}
