import Foundation
import TestSupport

/// A service of PHP's SoapServer whose objects can be listed, read, created, updated and deleted: `Fixtures/soap-notes`.
enum ObjectService {
    static var files: [String: String] {
        get throws {
            try ["server.php", "service.wsdl"].reduce(into: [:]) { files, name in
                files[name] = try String(
                    contentsOfFile: PackageFolder.path + "/Fixtures/soap-notes/" + name, encoding: .utf8)
            }
        }
    }
}
