// swift-format-ignore-file
// Generated from models.yml by `bmo schema --swift`: change the configuration, and generate it again.

import BMO
import Foundation

/// An object of the entity `Note`.
struct Note: WritableObject, Identifiable {
    /// The entity's name in the configuration.
    static let entityName = "Note"

    /// The object's key.
    var objectKey: Int { self.id }

    /// The attribute `id` in queries and edits.
    static let id = ObjectAttribute<Note, Int>("id")
    /// A part of what identifies the object.
    let id: Int

    /// The attribute `title` in queries and edits.
    static let title = ObjectAttribute<Note, String>("title")
    /// The value; nil without one.
    var title: String?

    /// The attribute `stars` in queries and edits.
    static let stars = ObjectAttribute<Note, Int>("stars")
    /// The value; nil without one.
    var stars: Int?

    /// The attribute `price` in queries and edits.
    static let price = ObjectAttribute<Note, Decimal>("price")
    /// The value; nil without one.
    var price: Decimal?

    /// The attribute `weight` in queries and edits.
    static let weight = ObjectAttribute<Note, Double>("weight")
    /// The value; nil without one.
    var weight: Double?

    /// The attribute `is_done` in queries and edits.
    static let isDone = ObjectAttribute<Note, Bool>("is_done")
    /// The value; nil without one.
    var isDone: Bool?

    /// The attribute `updated_at` in queries and edits.
    static let updatedAt = ObjectAttribute<Note, Foundation.Date>("updated_at")
    /// The value; nil without one.
    let updatedAt: Foundation.Date?

    /// The attribute `due` in queries and edits.
    static let due = ObjectAttribute<Note, CalendarDate>("due")
    /// The value; nil without one.
    var due: CalendarDate?

    /// The attribute `picture` in queries and edits.
    static let picture = ObjectAttribute<Note, Data>("picture")
    /// The value; nil without one.
    var picture: Data?

    /// The attribute `facts` in queries and edits.
    static let facts = ObjectAttribute<Note, StoredJSON>("facts")
    /// The value; nil without one.
    var facts: StoredJSON?

    /// The attribute `link` in queries and edits.
    static let link = ObjectAttribute<Note, URL>("link")
    /// The value; nil without one.
    var link: URL?

    /// The attribute `token` in queries and edits.
    static let token = ObjectAttribute<Note, UUID>("token")
    /// The value; nil without one.
    var token: UUID?

    /// The attribute `class` in queries and edits.
    static let `class` = ObjectAttribute<Note, String>("class")
    /// The value; nil without one.
    var `class`: String?

    /// The attribute `hash` in queries and edits.
    static let hash = ObjectAttribute<Note, String>("hash")
    /// The value; nil without one.
    var hash: String?

    /// The relationship `list` in queries and edits.
    static let list = ToOneRelationship<Note, NoteList>("list", columns: ["list"])
    /// The target; nil without one.
    var list: ObjectReference<NoteList>?

    /// The relationship `tags` in queries and edits.
    static let tags = ToManyRelationship<Note, Tag>("tags")
    /// The targets in their order, where the query included them.
    var tags: [Tag]?

    /// The relationship `next` in queries and edits.
    static let next = ToOneRelationship<Note, Note>("next", columns: ["next"])
    /// The target; nil without one.
    var next: ObjectReference<Note>?

    /// Creates a value, such as for a preview or a test.
    init(
        id: Int,
        title: String? = nil,
        stars: Int? = nil,
        price: Decimal? = nil,
        weight: Double? = nil,
        isDone: Bool? = nil,
        updatedAt: Foundation.Date? = nil,
        due: CalendarDate? = nil,
        picture: Data? = nil,
        facts: StoredJSON? = nil,
        link: URL? = nil,
        token: UUID? = nil,
        `class`: String? = nil,
        hash: String? = nil,
        list: ObjectReference<NoteList>? = nil,
        tags: [Tag]? = nil,
        next: ObjectReference<Note>? = nil
    ) {
        self.id = id
        self.title = title
        self.stars = stars
        self.price = price
        self.weight = weight
        self.isDone = isDone
        self.updatedAt = updatedAt
        self.due = due
        self.picture = picture
        self.facts = facts
        self.link = link
        self.token = token
        self.`class` = `class`
        self.hash = hash
        self.list = list
        self.tags = tags
        self.next = next
    }

    /// Creates a value from an object of the local database.
    init(_ object: LocalObject) throws(RequestError) {
        self.id = try object.key(of: Note.self)
        self.title = try object.value(of: Self.title)
        self.stars = try object.value(of: Self.stars)
        self.price = try object.value(of: Self.price)
        self.weight = try object.value(of: Self.weight)
        self.isDone = try object.value(of: Self.isDone)
        self.updatedAt = try object.value(of: Self.updatedAt)
        self.due = try object.value(of: Self.due)
        self.picture = try object.value(of: Self.picture)
        self.facts = try object.value(of: Self.facts)
        self.link = try object.value(of: Self.link)
        self.token = try object.value(of: Self.token)
        self.`class` = try object.value(of: Self.`class`)
        self.hash = try object.value(of: Self.hash)
        self.list = try object.reference(of: Self.list)
        self.tags = try object.objects(of: Self.tags)
        self.next = try object.reference(of: Self.next)
    }

    /// Writes the values that can be edited.
    func write(to values: inout ObjectValues) {
        values.set(Self.title, self.title)
        values.set(Self.stars, self.stars)
        values.set(Self.price, self.price)
        values.set(Self.weight, self.weight)
        values.set(Self.isDone, self.isDone)
        values.set(Self.due, self.due)
        values.set(Self.picture, self.picture)
        values.set(Self.facts, self.facts)
        values.set(Self.link, self.link)
        values.set(Self.token, self.token)
        values.set(Self.`class`, self.`class`)
        values.set(Self.hash, self.hash)
        values.set(Self.list, self.list)
        values.set(Self.tags, self.tags)
        values.set(Self.next, self.next)
    }
}

/// An object of the entity `NoteList`.
struct NoteList: WritableObject, Identifiable {
    /// The entity's name in the configuration.
    static let entityName = "NoteList"

    /// The object's key.
    var objectKey: Int { self.id }

    /// The attribute `id` in queries and edits.
    static let id = ObjectAttribute<NoteList, Int>("id")
    /// A part of what identifies the object.
    let id: Int

    /// The attribute `name` in queries and edits.
    static let name = ObjectAttribute<NoteList, String>("name")
    /// The value; nil without one.
    var name: String?

    /// The relationship `notes` in queries and edits.
    static let notes = ToManyRelationship<NoteList, Note>("notes")
    /// The targets in their order, where the query included them.
    let notes: [Note]?

    /// The relationship `first` in queries and edits.
    static let first = ToOneRelationship<NoteList, Note>("first", columns: ["first"])
    /// The target; nil without one.
    var first: ObjectReference<Note>?

    /// Creates a value, such as for a preview or a test.
    init(
        id: Int,
        name: String? = nil,
        notes: [Note]? = nil,
        first: ObjectReference<Note>? = nil
    ) {
        self.id = id
        self.name = name
        self.notes = notes
        self.first = first
    }

    /// Creates a value from an object of the local database.
    init(_ object: LocalObject) throws(RequestError) {
        self.id = try object.key(of: NoteList.self)
        self.name = try object.value(of: Self.name)
        self.notes = try object.objects(of: Self.notes)
        self.first = try object.reference(of: Self.first)
    }

    /// Writes the values that can be edited.
    func write(to values: inout ObjectValues) {
        values.set(Self.name, self.name)
        values.set(Self.first, self.first)
    }
}

/// An object of the entity `Tag`.
struct Tag: BackedObject {
    /// The entity's name in the configuration.
    static let entityName = "Tag"

    /// The object's key.
    var objectKey: String { self.name }

    /// The attribute `name` in queries and edits.
    static let name = ObjectAttribute<Tag, String>("name")
    /// A part of what identifies the object.
    let name: String

    /// The attribute `id` in queries and edits.
    static let id = ObjectAttribute<Tag, Int>("id")
    /// The value; nil without one.
    let id: Int?

    /// Creates a value, such as for a preview or a test.
    init(
        name: String,
        id: Int? = nil
    ) {
        self.name = name
        self.id = id
    }

    /// Creates a value from an object of the local database.
    init(_ object: LocalObject) throws(RequestError) {
        self.name = try object.key(of: Tag.self)
        self.id = try object.value(of: Self.id)
    }
}

/// An object of the entity `order_line`.
struct OrderLine: WritableObject, Identifiable {
    /// The entity's name in the configuration.
    static let entityName = "order_line"

    /// The values that identify an object.
    struct Key: BackedKey {
        /// The names of the key's attributes.
        static let attributeNames = ["order", "number"]
        /// A part of the key.
        let order: String
        /// A part of the key.
        let number: Int

        /// Creates a key.
        init(order: String, number: Int) {
            self.order = order
            self.number = number
        }

        /// Creates a key from its values; nil if they don't fit.
        init?(localValues: [LocalValue]) {
            guard localValues.count == 2,
                let value0 = String(localValue: localValues[0]),
                let value1 = Int(localValue: localValues[1])
            else { return nil }
            self.order = value0
            self.number = value1
        }

        /// The values in the key's order.
        var localValues: [LocalValue] { [self.order.localValue, self.number.localValue] }
    }

    /// The object's key.
    var objectKey: Key { Key(order: self.order, number: self.number) }
    /// The object's key.
    var id: Key { objectKey }

    /// The attribute `order` in queries and edits.
    static let order = ObjectAttribute<OrderLine, String>("order")
    /// A part of what identifies the object.
    let order: String

    /// The attribute `number` in queries and edits.
    static let number = ObjectAttribute<OrderLine, Int>("number")
    /// A part of what identifies the object.
    let number: Int

    /// The attribute `text` in queries and edits.
    static let text = ObjectAttribute<OrderLine, String>("text")
    /// The value; nil without one.
    var text: String?

    /// The relationship `previous` in queries and edits.
    static let previous = ToOneRelationship<OrderLine, OrderLine>("previous", columns: ["previous_order", "previous_number"])
    /// The target; nil without one.
    var previous: ObjectReference<OrderLine>?

    /// Creates a value, such as for a preview or a test.
    init(
        order: String,
        number: Int,
        text: String? = nil,
        previous: ObjectReference<OrderLine>? = nil
    ) {
        self.order = order
        self.number = number
        self.text = text
        self.previous = previous
    }

    /// Creates a value from an object of the local database.
    init(_ object: LocalObject) throws(RequestError) {
        let key = try object.key(of: OrderLine.self)
        self.order = key.order
        self.number = key.number
        self.text = try object.value(of: Self.text)
        self.previous = try object.reference(of: Self.previous)
    }

    /// Writes the values that can be edited.
    func write(to values: inout ObjectValues) {
        values.set(Self.text, self.text)
        values.set(Self.previous, self.previous)
    }
}

/// An object of the entity `Visit`.
struct Visit: BackedObject {
    /// The entity's name in the configuration.
    static let entityName = "Visit"

    /// The number of the object's row.
    let objectKey: Int

    /// The attribute `place` in queries and edits.
    static let place = ObjectAttribute<Visit, String>("place")
    /// The value; nil without one.
    let place: String?

    /// Creates a value, such as for a preview or a test.
    init(
        objectKey: Int,
        place: String? = nil
    ) {
        self.objectKey = objectKey
        self.place = place
    }

    /// Creates a value from an object of the local database.
    init(_ object: LocalObject) throws(RequestError) {
        self.objectKey = try object.key(of: Visit.self)
        self.place = try object.value(of: Self.place)
    }
}

/// An object of the entity `Date`.
struct Date: BackedObject, Identifiable {
    /// The entity's name in the configuration.
    static let entityName = "Date"

    /// The object's key.
    var objectKey: CalendarDate { self.day }
    /// The object's key.
    var id: CalendarDate { self.day }

    /// The attribute `day` in queries and edits.
    static let day = ObjectAttribute<Date, CalendarDate>("day")
    /// A part of what identifies the object.
    let day: CalendarDate

    /// The attribute `seen` in queries and edits.
    static let seen = ObjectAttribute<Date, Foundation.Date>("seen")
    /// The value; nil without one.
    let seen: Foundation.Date?

    /// The attribute `int` in queries and edits.
    static let int = ObjectAttribute<Date, Int>("int")
    /// The value; nil without one.
    let int: Int?

    /// Creates a value, such as for a preview or a test.
    init(
        day: CalendarDate,
        seen: Foundation.Date? = nil,
        int: Int? = nil
    ) {
        self.day = day
        self.seen = seen
        self.int = int
    }

    /// Creates a value from an object of the local database.
    init(_ object: LocalObject) throws(RequestError) {
        self.day = try object.key(of: Date.self)
        self.seen = try object.value(of: Self.seen)
        self.int = try object.value(of: Self.int)
    }
}
