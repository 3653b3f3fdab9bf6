import CSMBClient
import Glibc

extension SMBConnection {
    /// A receiver of changes.
    protocol ChangeListener: AnyObject {
        /// Receives paths below the folder, with backslashes between names; an empty list every quarter of a second.
        /// Returning false ends the watch.
        func changed(_ paths: [String]) -> Bool
    }

    /// Waits for changes below a folder until the listener ends the watch.
    ///
    /// It blocks all other libsmbclient calls of the process. SMB2 CHANGE_NOTIFY, [MS-SMB2] section 2.2.35: the server
    /// collects the changes between two requests.
    func watch(_ folder: [String], recursive: Bool, telling listener: any ChangeListener) throws(SMBFailure) {
        let url = options.url.encoded(folder)
        func failure(_ number: Int32, _ action: SMBFailure.Action) -> SMBFailure {
            SMBFailure(cause: .system(number), action: action, path: folder)
        }
        try connect()
        let box = ListenerBox(listener, connection: self)
        try withContext { context throws(SMBFailure) in
            guard let open = smbc_getFunctionOpendir(context), let close = smbc_getFunctionClosedir(context),
                let notify = smbc_getFunctionNotify(context)
            else { throw failure(ENOSYS, .watchFolder) }
            let (handle, openError) = url.withCString { (open(context, $0), errno) }
            guard let handle else { throw failure(openError, .listFolder) }
            defer { _ = close(context, handle) }
            let wanted =
                SMBC_NOTIFY_CHANGE_FILE_NAME | SMBC_NOTIFY_CHANGE_DIR_NAME | SMBC_NOTIFY_CHANGE_ATTRIBUTES
                | SMBC_NOTIFY_CHANGE_SIZE | SMBC_NOTIFY_CHANGE_LAST_WRITE | SMBC_NOTIFY_CHANGE_CREATION
            let (result, number) = (
                notify(
                    context, handle, recursive ? 1 : 0, UInt32(wanted), 250, Self.tell,
                    Unmanaged.passUnretained(box).toOpaque()), errno
            )
            guard result == 0 else { throw failure(number, .watchFolder) }
        }
        withExtendedLifetime(box) {}
    }

    private final class ListenerBox {
        let listener: any ChangeListener
        let connection: SMBConnection

        init(_ listener: any ChangeListener, connection: SMBConnection) {
            self.listener = listener
            self.connection = connection
        }
    }

    private static let tell: smbc_notify_callback_fn = { actions, count, owner in
        guard let owner else { return 1 }
        let box = Unmanaged<ListenerBox>.fromOpaque(owner).takeUnretainedValue()
        box.connection.isGettingOn()
        var paths: [String] = []
        for index in 0..<count {
            if let name = actions?[index].filename { paths.append(String(cString: name)) }
        }
        return box.listener.changed(paths) ? 0 : 1
    }
}
