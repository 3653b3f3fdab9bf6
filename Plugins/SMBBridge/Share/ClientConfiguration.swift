import CSMBClient
import Glibc

/// Settings that libsmbclient reads only from a file.
enum ClientConfiguration {
    /// Returns the text of an smb.conf; see smb.conf(5).
    static func text(_ options: ShareOptions) -> String {
        let signing =
            switch options.signing {
            case .standard: "default"
            case .preferred: "desired"
            case .required: "required"
            }
        // No broadcast name lookups: they take seconds, and any host may answer. Attributes of files are mapped to
        // permissions, as ``SMBConnection/setAttributes(_:of:)`` needs them.
        return """
            [global]
            client signing = \(signing)
            client ipc signing = \(signing)
            name resolve order = host
            map hidden = yes
            map system = yes
            """ + "\n"
    }

    /// Loads the settings into the library, for all its contexts; returns false without a temporary folder.
    static func load(_ options: ShareOptions, into context: UnsafeMutablePointer<SMBCCTX>) -> Bool {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var path = Array("\(folder)/bmo-smb.XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { return false }
        defer {
            unlink(path)
            close(descriptor)
        }
        let text = Array(text(options).utf8)
        guard write(descriptor, text, text.count) == text.count else { return false }
        return smbc_setConfiguration(context, path) == 0
    }
}
