internal import BridgeHTTP
internal import TextFormats

/// The files of a job by their names, by which a later list of the same files is recognised.
///
/// The list may have another order then, and its links other signatures.
struct ExportFiles: Equatable {
    let count: Int
    /// A digest of each file's name in the order in which the files are read; one of all names for many files of a
    /// stored position.
    private let digests: [String]

    /// The most files whose names a position has.
    private static let maxStored = 64

    init(_ urls: [HTTPURL]) {
        count = urls.count
        digests = Self.names(of: urls).map { Self.digest(of: [$0]) }
    }

    /// - Returns: nil if the text is not one that ``text`` gives.
    init?(count: Int, text: String) {
        let digests = text.split(separator: "-").map(String.init)
        guard count >= 0, digests.count == (count > Self.maxStored ? 1 : count) else { return nil }
        self.count = count
        self.digests = digests
    }

    /// The names as a position has them.
    var text: String { count > Self.maxStored ? whole : digests.joined(separator: "-") }

    private var whole: String { digests.count == count ? Self.digest(of: digests) : digests.joined() }

    /// Returns the URLs of a later list in the order of these files; nil if it does not name the same files.
    func arrange(_ urls: [HTTPURL]) -> [HTTPURL]? {
        guard urls.count == count else { return nil }
        let others = ExportFiles(urls)
        // The only file is the same one under another name, too: the check of its bytes decides.
        if count <= 1 || others.digests == digests || digests.count != count && others.whole == whole { return urls }
        let places = Dictionary(zip(others.digests, urls), uniquingKeysWith: { first, _ in first })
        let arranged = digests.compactMap { places[$0] }
        return places.count == count && arranged.count == count && Set(digests).count == count ? arranged : nil
    }

    /// Returns a name for each file that a renewed link does not change: its path, or what else tells the files apart.
    private static func names(of urls: [HTTPURL]) -> [String] {
        func areDifferent(_ names: [String]) -> Bool { Set(names).count == names.count }
        let paths = urls.map(\.path)
        if areDifferent(paths) { return paths }
        let places = urls.map { url in String(url.text.prefix { $0 != "?" }) }
        if areDifferent(places) { return places }
        // A long value without a name's dot is probably a signature.
        for parameter in Set(urls.first?.queryPairs.map(\.name) ?? []).sorted() {
            let values = urls.map { url in url.queryPairs.first { $0.name == parameter }?.value ?? "" }
            let names = zip(places, values).map { "\($0)?\($1)" }
            if values.allSatisfy({ $0.utf8.count < 12 || $0.contains(".") }), areDifferent(names) { return names }
        }
        return urls.map(\.text)
    }

    private static func digest(of texts: [String]) -> String {
        var digest = Fingerprint()
        for text in texts {
            digest.add(text)
            digest.separate()
        }
        return String(digest.value, radix: 36)
    }
}
