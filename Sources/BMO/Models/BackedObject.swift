/// A Swift type whose values are objects of one entity of the configuration.
///
/// `bmo schema --swift` and the build plugin `BMOModels` generate such types, so that the compiler checks the names and
/// types in queries and edits:
///
/// ```swift
/// let query = Note.where(Note.title == "milk" && Note.stars > 3).sorted(by: Note.updated, .descending)
/// for note in try await manager.objects(query) { print(note.title ?? "") }
/// ```
///
/// A value is a copy: it does not change later. Attributes other than the key are optional, because the remote may leave
/// out each of them, and a stub has only its key.
public protocol BackedObject: Sendable, Hashable {
    /// The type of the key: that of its only attribute, or a struct of several.
    associatedtype Key: BackedKey

    /// The entity's name in the configuration.
    static var entityName: String { get }

    /// The object's key.
    var objectKey: Key { get }

    /// Creates a value from an object of the local database.
    ///
    /// - Throws: ``RequestError`` with the code `model` if the type does not fit the configuration.
    init(_ object: LocalObject) throws(RequestError)
}

/// A type whose entity is `writable` in the configuration: its objects can be created, edited and deleted.
public protocol WritableObject: BackedObject {
    /// Writes the values that can be edited, under the names of the configuration.
    func write(to values: inout ObjectValues)
}

extension BackedObject {
    /// The object's identity, as the untyped interface has it.
    public var objectID: ObjectID { ObjectID(entity: Self.entityName, key: objectKey.localValues) }

    /// The query for all objects of the entity.
    public static var all: ObjectQuery<Self> { ObjectQuery() }

    /// Returns the query for the objects that meet a condition.
    public static func `where`(_ condition: TypedPredicate<Self>) -> ObjectQuery<Self> { all.where(condition) }
}

/// The values of an object's key.
///
/// The types of single attributes conform, and so do the generated structs for keys of several attributes.
public protocol BackedKey: Sendable, Hashable {
    /// The names of the key's attributes, where there are several; empty for one.
    static var attributeNames: [String] { get }

    /// The values in the key's order.
    var localValues: [LocalValue] { get }

    /// Creates a key from the values of its attributes; nil if they don't fit.
    init?(localValues: [LocalValue])
}

extension BackedKey where Self: AttributeValue {
    /// Empty: the key has one attribute.
    public static var attributeNames: [String] { [] }

    /// The value alone.
    public var localValues: [LocalValue] { [localValue] }

    /// Creates a key of one attribute; nil if the value does not fit.
    public init?(localValues: [LocalValue]) {
        guard let value = localValues.first, localValues.count == 1 else { return nil }
        self.init(localValue: value)
    }
}
