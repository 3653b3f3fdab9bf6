internal import BridgeKit
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension HTTPOptions {
    /// Refuses a file that does not exist or holds no PEM; a sync would notice only when it connects.
    ///
    /// - Throws: ``BridgeError`` with code `configuration` and the option's name.
    func checkFiles() throws {
        for (option, path) in [
            ("tls.ca_file", caFile), ("tls.client_certificate", clientCertificate), ("tls.client_key", clientKey),
        ] {
            guard let path else { continue }
            let text = try Self.beginning(of: path, option)
            guard text.contains("-----BEGIN") else {
                throw BridgeError(
                    .configuration, "\(option): \(path) is not a PEM file",
                    remedy: "convert it, as `openssl x509 -inform der -in FILE` or `openssl pkcs12 -in FILE` do")
            }
        }
        if case .netrc(let path?) = authentication { _ = try Self.beginning(of: path, "auth.file") }
        guard clientKey == nil || clientCertificate != nil else {
            throw BridgeError(
                .configuration, "tls.client_key without tls.client_certificate",
                remedy: "name the certificate that the key belongs to")
        }
    }

    /// Returns the first bytes of a file, within which a PEM may begin.
    private static func beginning(of path: String, _ option: String) throws -> String {
        do throws(BoundedFile.Failure) {
            return String(decoding: try BoundedFile.prefix(of: path, 256 * 1024), as: UTF8.self)
        } catch {
            // A folder can be opened and not read.
            if case .unreadable = error {
                throw BridgeError(.configuration, "\(option): \(path) is not a file", remedy: "name a file")
            }
            let isMissing = error == .unopenable(ENOENT) || error == .unopenable(ENOTDIR)
            throw BridgeError(
                .configuration,
                "\(option): \(isMissing ? "there is no file \(path)" : "\(path) cannot be read")",
                remedy: "check the path: a relative one is taken from the configuration's folder")
        }
    }
}
