#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The start of an element as provided by libxml2; valid during the event only.
public struct XMLStartElement {
    /// Zero-terminated UTF-8.
    public typealias Characters = UnsafePointer<UInt8>

    package let name: Characters
    package let namespacePointer: Characters?
    /// The number of namespace declarations.
    public let namespaceCount: Int
    package let namespaces: UnsafeMutablePointer<Characters?>?
    /// The number of attributes, without namespace declarations.
    public let attributeCount: Int
    package let attributes: UnsafeMutablePointer<Characters?>?

    /// The UTF-8 of the local name.
    public var nameBytes: UnsafeRawBufferPointer { Self.bytes(name) }
    /// A copy of the local name.
    public var localName: String { String(cString: name) }
    /// A copy of the namespace; empty for none.
    public var namespace: String { namespacePointer.map { String(cString: $0) } ?? "" }

    /// Returns the namespace declaration at `index`; an empty prefix stands for the default namespace.
    public func declaration(_ index: Int) -> (prefix: String, namespace: String) {
        let prefix = namespaces?[index * 2].map { String(cString: $0) } ?? ""
        return (prefix, namespaces?[index * 2 + 1].map { String(cString: $0) } ?? "")
    }

    /// Returns the attribute at `index`.
    public func attribute(_ index: Int) -> XMLAttribute? {
        guard let attributes, let name = attributes[index * 5], let start = attributes[index * 5 + 3],
            let end = attributes[index * 5 + 4]
        else { return nil }
        return XMLAttribute(
            name: name, prefix: attributes[index * 5 + 1], namespacePointer: attributes[index * 5 + 2],
            rawValue: UnsafeRawBufferPointer(start: start, count: end - start))
    }

    /// Returns whether the attribute at `index` has a prefix, and another one that `counts` has the same local name.
    ///
    /// Such an attribute is named with its prefix, whatever the order of the attributes, so that none replaces another.
    package func needsPrefix(_ index: Int, counts: (XMLAttribute) -> Bool) -> Bool {
        guard attributeCount > 1, let attributes, attributes[index * 5 + 1] != nil else { return false }
        // libxml2 keeps one copy of each name.
        let name = attributes[index * 5]
        for other in 0..<attributeCount where other != index && attributes[other * 5] == name {
            if let attribute = self.attribute(other), counts(attribute) { return true }
        }
        return false
    }

    package static func bytes(_ characters: Characters) -> UnsafeRawBufferPointer {
        let count = strlen(UnsafeRawPointer(characters).assumingMemoryBound(to: CChar.self))
        return UnsafeRawBufferPointer(start: characters, count: count)
    }
}

/// An attribute of an ``XMLStartElement``; valid during the event only.
public struct XMLAttribute {
    package let name: XMLStartElement.Characters
    /// The prefix as written, which need not be declared; nil for none.
    package let prefix: XMLStartElement.Characters?
    package let namespacePointer: XMLStartElement.Characters?
    /// The value from libxml2 without entity substitution: a `&` appears as `&#38;`.
    public let rawValue: UnsafeRawBufferPointer

    /// The UTF-8 of the local name.
    public var nameBytes: UnsafeRawBufferPointer { XMLStartElement.bytes(name) }
    /// A copy of the local name.
    public var localName: String { String(cString: name) }
    /// The UTF-8 of the prefix; empty for none.
    package var prefixBytes: UnsafeRawBufferPointer {
        prefix.map { XMLStartElement.bytes($0) } ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
    /// A copy of the name in James Clark's notation, `{namespace}name`.
    public var expandedName: String {
        namespacePointer.map { "{\(String(cString: $0))}\(localName)" } ?? localName
    }
    /// Whether the attribute is in a namespace: one without a prefix is in none.
    public var hasNamespace: Bool { namespacePointer != nil }

    /// Returns whether the attribute is in this namespace.
    public func isIn(_ namespace: StaticString) -> Bool {
        guard let namespacePointer else { return false }
        let bytes = XMLStartElement.bytes(namespacePointer)
        return Self.isEqual(bytes, namespace)
    }

    /// Whether the attribute is in XML Schema's instance namespace or a draft's.
    package var isOfInstance: Bool {
        namespacePointer != nil
            && (isIn("http://www.w3.org/2001/XMLSchema-instance") || isIn("http://www.w3.org/1999/XMLSchema-instance")
                || isIn("http://www.w3.org/2000/10/XMLSchema-instance"))
    }

    /// Whether the attribute is in the envelope namespace of SOAP 1.1 or 1.2.
    package var isOfEnvelope: Bool {
        isIn("http://schemas.xmlsoap.org/soap/envelope/") || isIn("http://www.w3.org/2003/05/soap-envelope")
    }

    /// Whether the attribute is in the encoding namespace of SOAP 1.1 or 1.2.
    package var isOfEncoding: Bool {
        isIn("http://schemas.xmlsoap.org/soap/encoding/") || isIn("http://www.w3.org/2003/05/soap-encoding")
    }

    /// Returns whether this is the local name.
    public func isNamed(_ wanted: StaticString) -> Bool {
        Self.isEqual(nameBytes, wanted)
    }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        guard bytes.count == word.utf8CodeUnitCount, let base = bytes.baseAddress else { return false }
        return memcmp(base, word.utf8Start, bytes.count) == 0
    }

    /// A copy of the value.
    public var value: String {
        var bytes: [UInt8] = []
        appendValue(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value's UTF-8 to `out`.
    public func appendValue(to out: inout [UInt8]) {
        var index = 0
        let escaped: StaticString = "&#38;"
        while index < rawValue.count {
            let byte = rawValue[index]
            out.append(byte)
            let left = rawValue.count - index
            if byte == UInt8(ascii: "&"), left >= 5, let base = rawValue.baseAddress,
                memcmp(base + index, escaped.utf8Start, 5) == 0
            {
                index += 5
            } else {
                index += 1
            }
        }
    }
}
