/// The section of a bridge, `rest: {...}` beside `plugin: rest`: the members that the sections of its entities and
/// sources have by default.
struct BridgeSection {
    /// The mapping.
    fileprivate let node: YAMLNode
    /// The section's name in messages.
    let what: String
    /// Where its keys and values are.
    private let marks: Set<YAMLMark>

    fileprivate init(_ node: YAMLNode, _ what: String) {
        self.node = node
        self.what = what
        var marks: Set<YAMLMark> = []
        Self.collect(node, into: &marks)
        self.marks = marks
    }

    /// Returns whether a fault at this place is one of the bridge's section, and not of an entity's.
    func contains(_ mark: YAMLMark) -> Bool { marks.contains(mark) }

    private static func collect(_ node: YAMLNode, into marks: inout Set<YAMLMark>) {
        switch node.content {
        case .scalar: return
        case .sequence(let elements):
            for element in elements {
                marks.insert(element.mark)
                collect(element, into: &marks)
            }
        case .mapping(let pairs):
            for pair in pairs {
                marks.formUnion([pair.key.mark, pair.value.mark])
                collect(pair.value, into: &marks)
            }
        }
    }
}

extension ConfigurationReader {
    /// Reads the section of a bridge, which is validated as part of each entity's.
    mutating func readSection(_ member: Member, of bridge: String, _ what: String) {
        let subject = "section \(quoted(member.name)) of \(what)"
        guard members(of: member.value, subject, at: member.value.mark) != nil else { return }
        bridgeSections[bridge] = BridgeSection(mapping(member.value, member.key.mark), subject)
    }

    /// Returns the members of an entity or source with those of its bridge's section that its own section lacks.
    ///
    /// - Parameter mark: Where the entity or source is declared.
    func addingSection(of bridge: BridgeConfiguration?, to members: [Member], at mark: YAMLMark) -> [Member] {
        guard let bridge, let section = bridgeSections[bridge.name], case .mapping(let pairs) = section.node.content,
            !pairs.isEmpty
        else { return members }
        var result = members
        if let index = result.firstIndex(where: { $0.name == bridge.plugin }) {
            result[index].value = Self.merging(section.node, into: result[index].value)
        } else {
            let key = YAMLNode(content: .scalar(bridge.plugin, plain: true), mark: mark)
            result.append(Member(name: bridge.plugin, key: key, value: section.node))
        }
        return result
    }
}
