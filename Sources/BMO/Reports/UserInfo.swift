/// What your program says about a request: a value of a type of yours, which accompanies the request through its whole life.
///
/// ```swift
/// struct Screen: Codable { var name: String; var language: String }
/// request.userInfo = try UserInfo(Screen(name: "search", language: "fr"))
/// ```
///
/// The bridge receives it if it can, and it is returned with the result and with an error. It is not for secrets: a bridge may
/// write a part of it into a URL.
public struct UserInfo: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// Whether the bridge receives it.
    public enum Delivery: Sendable {
        /// If it takes user infos; if not, the program alone has it.
        case ifSupported
        /// It must: a request to a bridge that does not take user infos fails.
        case required
        /// Never: the program alone has it.
        case never
    }

    /// Why a value cannot be a user info.
    public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// The kind of fault.
        public enum Code: String, Sendable {
            /// The value could not be encoded.
            case notEncodable
            /// It is encoded as a single value or a list, not as an object with members.
            case notAnObject
            /// It has more than 16 KiB as JSON.
            case tooLarge
            /// It has more than 16 levels of objects and lists.
            case tooDeep
        }

        /// The kind of fault.
        public var code: Code
        /// What is wrong, without the value.
        public var message: String

        /// The message.
        public var description: String { message }
    }

    /// The largest size as JSON, in bytes.
    public static let maxSize = 16 << 10
    /// The largest number of objects and lists inside each other.
    public static let maxDepth = 16

    /// Whether the bridge receives it.
    public let delivery: Delivery
    /// The value as a JSON object, with its members in the order of their names.
    let json: String
    private let content: any Sendable

    /// Creates a user info whose value has this JSON.
    init(_ content: any Sendable, json: String, delivery: Delivery) {
        self.content = content
        self.json = json
        self.delivery = delivery
    }

    /// Returns the value; nil if it has another type.
    public func value<Value>(as type: Value.Type = Value.self) -> Value? { content as? Value }

    /// Whether two have the same JSON and the same delivery.
    public static func == (left: UserInfo, right: UserInfo) -> Bool {
        left.delivery == right.delivery && Array(left.json.utf8) == Array(right.json.utf8)
    }

    /// The value's type, without its content.
    public var description: String { "a user info of the type \(type(of: content))" }

    /// Shows no content.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
