internal import Mapping
internal import Model

/// A picture of the entities and their relationships, in layers: an entity is to the right of those that it refers to.
struct ModelPicture {
    /// A box of the picture.
    struct Box: Equatable {
        let entity: Int
        let x: Int
        let y: Int
        let height: Int
    }

    private static let boxWidth = 230
    private static let columnWidth = 330
    private static let lineHeight = 17
    private static let headHeight = 44
    private static let gap = 26
    private static let margin = 16
    /// How far a line between two boxes of a column reaches to the right of them.
    private static let loopWidth = 45
    /// The columns of an entity that its box lists.
    private static let maxLines = 12

    private let model: CompiledModel
    let boxes: [Box]
    let width: Int
    let height: Int

    init(_ model: CompiledModel) {
        self.model = model
        let roots = model.entities.filter { $0.root == $0.index }
        let layers = Self.layers(of: roots)
        var boxes: [Box] = []
        var bottoms: [Int: Int] = [:]
        for layout in roots.sorted(by: { (layers[$0.index] ?? 0, $0.index) < (layers[$1.index] ?? 0, $1.index) }) {
            let layer = layers[layout.index] ?? 0
            let lines = min(layout.fields.count, Self.maxLines + 1)
            let height = Self.headHeight + lines * Self.lineHeight + 8
            let y = bottoms[layer] ?? Self.margin
            boxes.append(Box(entity: layout.index, x: Self.margin + layer * Self.columnWidth, y: y, height: height))
            bottoms[layer] = y + height + Self.gap
        }
        self.boxes = boxes
        width = (boxes.map { $0.x + Self.boxWidth }.max() ?? 0) + Self.loopWidth + Self.margin
        height = (bottoms.values.max() ?? 0) + Self.margin
    }

    /// Returns the layer of each root entity: the length of its longest chain of references, without cycles.
    private static func layers(of roots: [EntityLayout]) -> [Int: Int] {
        let indexes = Set(roots.map(\.index))
        let byIndex = Dictionary(roots.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        var layers: [Int: Int] = [:]
        func visit(_ layout: EntityLayout, _ path: Set<Int>) -> Int {
            if let known = layers[layout.index] { return known }
            let path = path.union([layout.index])
            let targets = layout.toOne.map(\.target).filter { indexes.contains($0) && !path.contains($0) }
            let layer = targets.compactMap { byIndex[$0] }.map { visit($0, path) + 1 }.max() ?? 0
            layers[layout.index] = layer
            return layer
        }
        for layout in roots { _ = visit(layout, []) }
        return layers
    }

    /// The picture as SVG.
    ///
    /// - Parameter bridges: The configured bridges, by whose order the boxes are coloured.
    func svg(bridges: [String]) -> HTML {
        HTML(
            "svg", .viewBox(width, height), .svg("width", width), .svg("height", height), .role("img"),
            .label("The model")
        ) {
            for box in boxes { edges(of: box) }
            for box in boxes { drawing(of: box, bridges) }
        }
    }

    private func edges(of box: Box) -> HTML {
        let layout = model.entities[box.entity]
        return .joined(
            layout.toOne.compactMap { one -> HTML? in
                guard let target = boxes.first(where: { $0.entity == model.entities[one.target].root }) else {
                    return nil
                }
                let line = layout.fields.prefix(one.firstField).count
                let from = box.y + Self.headHeight + min(line, Self.maxLines) * Self.lineHeight + 4
                return edge(box, from, target, one.name)
            }
                + layout.toMany.compactMap { many -> HTML? in
                    guard case .links = many.storage,
                        let target = boxes.first(where: { $0.entity == model.entities[many.target].root })
                    else { return nil }
                    return edge(box, box.y + 30, target, many.name)
                })
    }

    private func edge(_ box: Box, _ y: Int, _ target: Box, _ name: String) -> HTML {
        let end = target.y + 20
        let path: [SVGStep]
        if target.x < box.x {
            let right = target.x + Self.boxWidth
            let middle = (box.x + right) / 2
            path = [.move(box.x, y), .curve(middle, y, middle, end, right, end)]
        } else if target.x > box.x {
            let right = box.x + Self.boxWidth
            let middle = (target.x + right) / 2
            path = [.move(right, y), .curve(middle, y, middle, end, target.x, end)]
        } else {
            let right = box.x + Self.boxWidth
            path = [.move(right, y), .curve(right + 60, y, right + 60, end, right, end)]
        }
        return HTML("path", .class("edge"), .svg("d", path: path)) { HTML("title") { name } }
    }

    private func drawing(of box: Box, _ bridges: [String]) -> HTML {
        let layout = model.entities[box.entity]
        let entity = model.model.entity(named: layout.name)
        let bridge = entity.flatMap { bridges.firstIndex(of: $0.bridge) } ?? 0
        return .joined([
            HTML(
                "rect", .class("box bridge\(bridge % 6)"), .svg("x", box.x), .svg("y", box.y),
                .svg("width", Self.boxWidth), .svg("height", box.height), .svg("rx", 6)),
            HTML("a", .href(WebLink("entity", layout.name))) {
                HTML("text", .svg("x", box.x + 10), .svg("y", box.y + 19)) { Self.cut(layout.name, 28) }
            },
            HTML("text", .class("small"), .svg("x", box.x + 10), .svg("y", box.y + 35)) {
                Self.cut(entity.map { $0.bridge.isEmpty ? "nested in others" : "from \($0.bridge)" } ?? "", 34)
            },
            .joined(lines(of: layout, box)),
        ])
    }

    private func lines(of layout: EntityLayout, _ box: Box) -> [HTML] {
        var texts = layout.fields.prefix(Self.maxLines).enumerated().map { index, field in
            let mark = layout.key.contains(index) ? "• " : ""
            let target = field.relationship.map { " → \(model.entities[layout.toOne[$0].target].name)" }
            return Self.cut("\(mark)\(field.name)\(target ?? ": \(field.type.rawValue)")", 34)
        }
        if layout.fields.count > Self.maxLines { texts.append("and \(layout.fields.count - Self.maxLines) more") }
        return texts.enumerated().map { index, text in
            let y = box.y + Self.headHeight + index * Self.lineHeight + 10
            return HTML("text", .class("small"), .svg("x", box.x + 10), .svg("y", y)) { text }
        }
    }

    private static func cut(_ text: String, _ length: Int) -> String {
        text.count > length ? "\(text.prefix(length - 1))…" : text
    }
}
