import BridgeKit
import CSMBClient
import Glibc
import RecordBatch
import SystemCalls

// The recorded and replayed calls of a share: each records a method of its own, with a path.

extension SMBConnection {
    var now: Int64 { tape?.now ?? Int64(time(nil)) }

    /// Lists a folder's names with all their attributes, in the server's order.
    func list(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing {
        try call("LIST", folder, .listFolder, ShareCoding.listing) { () throws(SMBFailure) in
            try askList(folder, fileIDs: fileIDs)
        }
    }

    func owners(of path: [String]) throws(SMBFailure) -> Owners {
        try call("OWNERS", path, .readOwners, ShareCoding.owners) { () throws(SMBFailure) in try askOwners(of: path) }
    }

    /// Reads up to `limit` bytes from `offset`, and checks that the file is unchanged.
    ///
    /// See ``askRead(_:offset:limit:expecting:growing:)``.
    func read(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?, growing: Bool
    ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
        let part = [Exchange.Field("limit", "\(limit)"), Exchange.Field("offset", "\(offset)")]
        let read = try call("READ", path, .readFile, fields: part, isExact: true, ShareCoding.part) {
            () throws(SMBFailure) in
            let read = try askRead(path, offset: offset, limit: limit, expecting: expected, growing: growing)
            return FilePart(bytes: read.bytes, version: read.version)
        }
        if let expected, !read.version.agrees(with: expected, growing: growing) {
            throw SMBFailure(cause: .changed, action: .readFile, path: path)
        }
        return (read.bytes, read.version)
    }

    /// Returns the server's information about a file or folder; nil if the name does not exist.
    func status(of path: [String]) throws(SMBFailure) -> SMBEntry? {
        try call("STATUS", path, .readFile, ShareCoding.status) { () throws(SMBFailure) in try askStatus(of: path) }
    }

    func put(_ path: [String], flags: Int32, at size: Int64?, _ bytes: [UInt8]) throws(SMBFailure) {
        let place = size.map { [Exchange.Field("offset", "\($0)")] } ?? []
        try call(
            size == nil ? "CREATE" : "APPEND", path, .writeFile, fields: place, body: bytes, isExact: true,
            ShareCoding.nothing
        ) { () throws(SMBFailure) in try askPut(path, flags: flags, at: size, bytes) }
    }

    func call(
        _ action: SMBFailure.Action, _ path: [String], about: String? = nil,
        _ body: (UnsafeMutablePointer<SMBCCTX>) -> Int32
    ) throws(SMBFailure) {
        let method =
            switch action {
            case .deleteFile: "DELETE"
            case .moveFile: "MOVE"
            case .makeFolder: "MKDIR"
            default: "TOUCH"
            }
        let fields = about.map { [Exchange.Field("to", $0)] } ?? []
        try call(method, path, action, fields: fields, ShareCoding.nothing) { () throws(SMBFailure) in
            try askCall(action, path, body)
        }
    }

    /// Returns the path for a recording; temporary files, whose names differ each time, share one name.
    static func path(_ path: [String]) -> String {
        "/"
            + path.map { $0.hasPrefix(SMBEntry.temporaryPrefix) ? SMBEntry.temporaryPrefix + "*" : $0 }
            .joined(separator: "/").replacing("\n", with: "%0A")
    }

    private func call<Value>(
        _ method: String, _ path: [String], _ action: SMBFailure.Action, fields: [Exchange.Field] = [],
        body: [UInt8] = [], isExact: Bool = false, _ coding: ShareCoding<Value>,
        live: () throws(SMBFailure) -> Value
    ) throws(SMBFailure) -> Value {
        guard let tape else { return try live() }
        let request = Exchange.Request(
            method: method, target: Self.path(path), headers: fields, body: body, isExact: isExact)
        func failure(_ cause: SMBFailure.Cause, _ other: SMBFailure.Action? = nil) -> SMBFailure {
            SMBFailure(cause: cause, action: other ?? action, path: other == .openShare ? [] : path)
        }
        if tape.isReplaying {
            let replayed: ExchangeTape.Replayed
            do {
                replayed = try tape.replay(request)
            } catch {
                throw failure(.notRecorded((error as? BridgeError)?.message ?? "\(error)"))
            }
            return try play(replayed, coding, failure)
        }
        // A caller may have taken the failure for one of the server's, and gone on.
        if let fault = recordingFault.withLock(\.self) { throw failure(.notWritten(fault)) }
        func write(_ take: ExchangeTape.Take, _ reply: Exchange.Reply) throws(SMBFailure) {
            do {
                try take.finish(reply)
            } catch {
                let fault = (error as? BridgeError)?.message ?? "\(error)"
                recordingFault.withLock { $0 = $0 ?? fault }
                throw failure(.notWritten(fault))
            }
        }
        let take = tape.begin(request)
        if let fault = take.fault { return try play(fault.replayed, coding, failure) }
        let value: Value
        do throws(SMBFailure) {
            value = try live()
        } catch {
            let fields = error.action == .openShare ? [Exchange.Field("at", "connect")] : []
            try write(take, .answer(status: ShareCoding<Never>.word(for: error.cause), headers: fields, body: []))
            throw error
        }
        let (fields, bytes) = coding.write(value)
        try write(take, .answer(status: "ok", headers: fields, body: bytes))
        return value
    }

    private func play<Value>(
        _ replayed: ExchangeTape.Replayed, _ coding: ShareCoding<Value>,
        _ failure: (SMBFailure.Cause, SMBFailure.Action?) -> SMBFailure
    ) throws(SMBFailure) -> Value {
        switch replayed.fault {
        case .timeout: throw failure(.system(ETIMEDOUT), nil)
        case .reset, .truncated: throw failure(.system(ECONNRESET), nil)
        case .slow(let seconds) where seconds > Double(options.timeoutSeconds * 2):
            throw failure(.system(ETIMEDOUT), nil)
        case .slow, .answer, nil: break
        }
        guard case .answer(let status, let headers, let body) = replayed.reply else {
            throw failure(.system(EIO), nil)
        }
        guard status == "ok" else {
            let isConnecting = headers.contains { $0.name == "at" }
            throw failure(ShareCoding<Never>.cause(of: status), isConnecting ? .openShare : nil)
        }
        guard let value = coding.read(headers, body) else {
            throw failure(.notRecorded("the recorded answer cannot be read"), nil)
        }
        return value
    }
}

/// A part of a file.
struct FilePart {
    var bytes: [UInt8]
    var version: FileVersion
}
