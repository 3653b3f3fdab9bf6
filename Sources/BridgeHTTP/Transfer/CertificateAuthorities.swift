#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The file of the system's certificate authorities.
///
/// A libcurl that is packed with bmo knows only the place where the system of its build has them.
enum CertificateAuthorities {
    /// The file; nil if the system has none of the known ones, so that libcurl uses its own default.
    static let file = candidates.first { access($0, R_OK) == 0 }

    /// Debian and Arch, Fedora and RHEL 6, openSUSE, OpenELEC, RHEL 7 and later, Alpine.
    ///
    /// Source: crypto/x509/root_linux.go of Go 1.22.
    private static let candidates = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/pki/tls/cacert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
    ]
}
