import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// One object, whatever it is seen as; over each store.
@Suite struct InheritanceTests {
    private static func zoo() throws -> CompiledModel {
        var dog = Entity(
            "Dog", key: [], [.of("breed", .text)],
            [.many("toys", "Toy"), .many("puppies", "Dog", inverse: "mother"), .one("mother", "Dog")])
        dog.superentity = "Animal"
        dog.matcher = Matcher([.has(RemotePath(["breed"]))])
        var cat = Entity("Cat", key: [], [.of("claws", .integer)])
        cat.superentity = "Animal"
        cat.matcher = Matcher([.has(RemotePath(["claws"]))])
        return try CompiledModel.of(
            Entity("Animal", key: ["id"], [.of("id", .integer), .of("name", .text)]), dog, cat,
            Entity("Toy", key: ["id"], [.of("id", .integer)]),
            Entity(
                "Person", key: ["id"], [.of("id", .integer)], [.one("dog", "Dog"), .many("animals", "Animal")]))
    }

    @Test(arguments: StoreKind.allCases)
    func `the same key as super and subentity is one object`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.zoo(), kind: kind)
        #expect(try database.load("Animal", ["id": 1, "name": "Rex"]) == "Animal +1")
        #expect(try database.load("Animal", ["id": 1, "breed": "pug"]) == "Dog ~1")
        #expect(try database.text(of: "Animal") == "1 'Rex' 'Dog' 'pug' null null")
        #expect(try database.load("Animal", ["id": 1, "name": "Max"]) == "Animal ~1", "a summary leaves a dog a dog")
        #expect(try database.text(of: "Animal") == "1 'Max' 'Dog' 'pug' null null")
        #expect(try database.load("Animal", ["id": 1, "name": "Max"]) == "Animal =1")
        #expect(try database.load("Animal", ["id": 1, "claws": 18]) == "Cat ~1", "it was no dog after all")
        #expect(try database.text(of: "Animal") == "1 'Max' 'Cat' null null 18", "and a cat has no breed")
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that becomes a sibling loses what only the old subentity has`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.zoo(), kind: kind)
        try database.load("Animal", ["id": 2, "breed": "pug"])
        try database.load("Animal", ["id": 1, "name": "Rex", "breed": "pug", "toys": [5, 6], "mother": 2])
        #expect(try database.text(of: "Dog_toys") == "1: 5 6")
        try database.load("Animal", ["id": 1, "claws": 18])
        #expect(
            try database.text() == """
                Animal
                  1 'Rex' 'Cat' null null 18
                  2 null 'Dog' 'pug' null null
                """, "nothing refers to the toys any more")
        #expect(try database.load("Animal", ["id": 1, "claws": 18]) == "Cat =1")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a stub may become any subentity`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.zoo(), kind: kind)
        #expect(
            try database.load("Person", ["id": 7, "dog": 1, "animals": [2, 3]]) == "Animal ?2, Dog ?1, Person +1 @1")
        #expect(
            try database.text() == """
                Animal
                  1 null 'Dog' null null null
                  2 null 'Animal' null null null
                  3 null 'Animal' null null null
                Person
                  7 1
                Person_animals
                  7: 2 3
                stubs
                  Animal [1]
                  Animal [2]
                  Animal [3]
                """)
        #expect(
            try database.load("Animal", ["id": 1, "claws": 18], ["id": 2, "breed": "pug"], ["id": 3])
                == "Animal +1, Dog +1, Cat +1")
        #expect(
            try database.text(of: "Animal") == """
                1 null 'Cat' null null 18
                2 null 'Dog' 'pug' null null
                3 null 'Animal' null null null
                """)
        #expect(try database.load("Person", ["id": 7, "dog": 1]) == "Person =1", "a reference makes no cat a dog")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `relationships lead to and from subentities`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.zoo(), kind: kind)
        try database.load(
            "Animal",
            ["id": 1, "breed": "pug", "toys": [5, ["id": 6]], "puppies": [["id": 2, "name": "Pip"], 3]])
        #expect(
            try database.text() == """
                Animal
                  1 null 'Dog' 'pug' null null
                  2 'Pip' 'Dog' null 1 null
                  3 null 'Dog' null 1 null
                Toy
                  5
                  6
                Dog_toys
                  1: 5 6
                stubs
                  Animal [3]
                  Toy [5]
                """)
        try database.load("Animal", ["id": 1, "breed": "pug", "toys": [], "puppies": [2]])
        #expect(
            try database.text(of: "Animal") == """
                1 null 'Dog' 'pug' null null
                2 'Pip' 'Dog' null 1 null
                """, "3 was only a puppy of 1")
        #expect(try database.text(of: "Dog_toys") == "")
        #expect(try database.faults().isEmpty)
    }

    /// Owners that have animals nested in them, which have no listing of their own.
    private static func owners() throws -> CompiledModel {
        func animal(_ name: String, _ attributes: [Attribute], _ relationships: [Relationship] = []) -> Entity {
            var entity = Entity(name, key: [], attributes, relationships)
            entity.superentity = "Animal"
            return entity
        }
        var cat = animal("Cat", [.of("claws", .integer)])
        cat.matcher = Matcher([.has(RemotePath(["claws"]))])
        return try CompiledModel.of(
            Entity("Animal", key: ["id"], [.of("id", .integer), .of("name", .text)]),
            animal("Dog", [.of("breed", .text)], [.one("mother", "Dog")]), cat,
            Entity(
                "Person", key: ["id"], [.of("id", .integer)],
                [.one("dog", "Dog"), .one("cat", "Cat"), .many("animals", "Animal")]))
    }

    @Test(arguments: StoreKind.allCases)
    func `only a record that says so makes an object a sibling`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.owners(), kind: kind)
        try database.load("Person", ["id": 1, "animals": [["id": 5, "name": "Tom", "claws": 18]]])
        #expect(try database.text(of: "Animal") == "5 'Tom' 'Cat' null null 18")
        // Where a dog is expected there is a record that does not say what it is.
        try database.load("Person", ["id": 2, "dog": ["id": 5, "name": "Max", "breed": "pug", "mother": 9]])
        #expect(
            try database.text(of: "Animal") == "5 'Max' 'Cat' null null 18", "a cat has no breed and no such mother")
        try database.load("Person", ["id": 2, "dog": ["id": 6, "breed": "pug"]])
        #expect(try database.text(of: "Animal") == "5 'Max' 'Cat' null null 18\n6 null 'Dog' 'pug' null null")
        try database.load("Person", ["id": 2, "dog": ["id": 6, "claws": 4]])
        #expect(
            try database.text(of: "Animal") == "5 'Max' 'Cat' null null 18\n6 null 'Cat' null null 4",
            "its place says dog, and so did its row, but the record says that it is a cat")
        try database.load("Person", ["id": 2, "dog": ["id": 6, "name": "Tim"]])
        #expect(
            try database.text(of: "Animal") == "5 'Max' 'Cat' null null 18\n6 'Tim' 'Cat' null null 4",
            "a record that does not say what it is")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `where an object is expected it becomes more special`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.owners(), kind: kind)
        try database.load("Person", ["id": 1, "animals": [["id": 5, "name": "Rex"]], "dog": 6])
        #expect(try database.text(of: "Animal") == "5 'Rex' 'Animal' null null null\n6 null 'Dog' null null null")
        try database.load("Person", ["id": 2, "dog": ["id": 5, "breed": "pug"], "cat": ["id": 6, "name": "Tom"]])
        #expect(
            try database.text(of: "Animal") == "5 'Rex' 'Dog' 'pug' null null\n6 'Tom' 'Cat' null null null",
            "a stub may become any sub-entity")
        #expect(try database.faults().isEmpty)
    }
}
