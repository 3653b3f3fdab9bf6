internal import Foundation

/// The programs and bridges that the tests run.
///
/// They are those beside the test binary, or those of `BMO_TEST_PRODUCTS`: the folder of a release build, which is what users run.
package enum Products {
    /// The folder of all of them.
    package static let folder: String = {
        let binary = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        let named = ProcessInfo.processInfo.environment["BMO_TEST_PRODUCTS"] ?? ""
        return named.isEmpty ? binary : URL(filePath: named).resolvingSymlinksInPath().path
    }()

    /// The executable that serves bridges in the tests of the host.
    package static var testHost: String { folder + "/TestHost" }

    /// The path of a program.
    ///
    /// - Throws: ``ProductsError`` when it is not built.
    package static func path(of name: String) throws -> String {
        let path = folder + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ProductsError(description: "there is no \(path): swift build first, or correct BMO_TEST_PRODUCTS")
        }
        return path
    }
}

/// What is not built.
package struct ProductsError: Error, CustomStringConvertible {
    package let description: String
}
