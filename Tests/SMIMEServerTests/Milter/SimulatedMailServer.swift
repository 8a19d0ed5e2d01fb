import NIOCore
import SMIMEServer

/// Simulates how a mail server applies a milter's changes to a message.
protocol SimulatedMailServer {
    /// - Parameters:
    ///   - fields: the message's fields as `Name:value`, with line feeds between lines.
    ///   - body: the body, with CRLF.
    init(fields: [String], body: String)
    /// The header and body that the server sends on, without its own fields.
    var message: String { get }
    mutating func apply(_ reply: MilterReply, leadingSpace: Bool)
}

extension SimulatedMailServer {
    mutating func apply(_ replies: [MilterReply], leadingSpace: Bool) {
        for reply in replies { apply(reply, leadingSpace: leadingSpace) }
    }
}

/// Postfix's queue file, a sequence of line records. A removed field no longer counts in later indexes; positions count the
/// Received field at the top.
struct PostfixQueueFile: SimulatedMailServer {
    private var fields: [String]
    private var body: String
    private var isBodyReplaced = false

    init(fields: [String], body: String) {
        self.fields = ["Received: by postfix"] + fields
        self.body = body
    }

    var message: String {
        fields.dropFirst().map {
            $0.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n") + "\r\n"
        }.joined()
            + "\r\n" + body
    }

    /// The index of a field of the message; the field at the top is not counted.
    private func place(of index: UInt32, _ name: String) -> Int? {
        let places = fields.indices.dropFirst().filter { fields[$0].name == name.lowercased() }
        let number = Int(max(index, 1))
        return number <= places.count ? places[number - 1] : nil
    }

    private func line(_ field: MilterField, _ leadingSpace: Bool) -> String {
        "\(field.name):\(leadingSpace ? "" : " ")\(String(decoding: field.value, as: UTF8.self))"
    }

    mutating func apply(_ reply: MilterReply, leadingSpace: Bool) {
        switch reply {
        case .addHeader(let field): fields.append(line(field, leadingSpace))
        case .insertHeader(let position, let field):
            fields.insert(line(field, leadingSpace), at: min(Int(position), fields.count))
        case .changeHeader(let index, let field):
            if let place = place(of: index, field.name) {
                if field.value.isEmpty { fields.remove(at: place) } else { fields[place] = line(field, leadingSpace) }
            } else if !field.value.isEmpty {
                fields.append(line(field, leadingSpace))
            }
        case .replaceBody(let piece):
            body = (isBodyReplaced ? body : "") + String(buffer: piece)
            isBodyReplaced = true
        default: break
        }
    }
}

/// Sendmail's list of fields. It begins with the fields that Sendmail would add; removed fields stay in the list and count.
struct SendmailHeaderList: SimulatedMailServer {
    private struct Node {
        var name: String
        /// The value; nil after removal.
        var value: String?
        var isFromUser: Bool
    }

    private var nodes: [Node]
    private var body: String
    private var isBodyReplaced = false

    init(fields: [String], body: String) {
        let names = Set(fields.map(\.name))
        nodes = ["Return-Path", "Received", "Resent-Date", "Date", "From", "Message-Id"].map { name in
            Node(name: name, value: names.contains(name.lowercased()) ? nil : " default", isFromUser: false)
        }
        nodes += fields.map { field in
            let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return Node(name: String(parts[0]), value: String(parts[1]), isFromUser: true)
        }
        self.body = body
    }

    var message: String {
        let lines = nodes.filter(\.isFromUser).compactMap { node in node.value.map { "\(node.name):\($0)\n" } }
        return lines.joined().split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
            + "\r\n" + body
    }

    /// Names of fields that occur twice, including Sendmail's own.
    var doubledDefaults: [String] {
        let own = nodes.filter { !$0.isFromUser && $0.value != nil && $0.name != "Received" }.map {
            $0.name.lowercased()
        }
        return nodes.filter { $0.isFromUser && $0.value != nil && own.contains($0.name.lowercased()) }.map(\.name)
    }

    mutating func apply(_ reply: MilterReply, leadingSpace: Bool) {
        switch reply {
        case .addHeader(let field): add(field, leadingSpace)
        case .insertHeader(let position, let field): insert(field, leadingSpace, Int(position))
        case .changeHeader(let index, let field): change(field, leadingSpace, Int(index))
        case .replaceBody(let piece):
            body = (isBodyReplaced ? body : "") + String(buffer: piece)
            isBodyReplaced = true
        default: break
        }
    }

    private func node(_ field: MilterField, _ leadingSpace: Bool) -> Node {
        Node(
            name: field.name,
            value: (leadingSpace ? "" : " ") + String(decoding: field.value, as: UTF8.self),
            isFromUser: true
        )
    }

    private mutating func add(_ field: MilterField, _ leadingSpace: Bool) {
        let isOwn = { (node: Node) in
            !node.isFromUser && node.name != "Received" && node.name.lowercased() == field.name.lowercased()
        }
        if let place = nodes.firstIndex(where: isOwn) {
            nodes[place].value = node(field, leadingSpace).value
            nodes[place].isFromUser = true
        } else {
            // Sendmail adds the field before the first one with the same name.
            let place = nodes.firstIndex { $0.name.lowercased() == field.name.lowercased() } ?? nodes.count
            nodes.insert(node(field, leadingSpace), at: place)
        }
    }

    private mutating func insert(_ field: MilterField, _ leadingSpace: Bool, _ position: Int) {
        // Sendmail inserts the field after the node at the position, or at the end.
        nodes.insert(node(field, leadingSpace), at: min(position + 1, nodes.count))
    }

    private mutating func change(_ field: MilterField, _ leadingSpace: Bool, _ index: Int) {
        let named = nodes.indices.filter { nodes[$0].name.lowercased() == field.name.lowercased() }
        let fromUser = named.filter { nodes[$0].isFromUser }
        let own = named.last { !nodes[$0].isFromUser && nodes[$0].name != "Received" }
        guard let place = index <= fromUser.count ? fromUser[max(index, 1) - 1] : own else {
            if !field.value.isEmpty { add(field, leadingSpace) }
            return
        }
        nodes[place].value = field.value.isEmpty ? nil : node(field, leadingSpace).value
        // The spelling of the name does not change.
        if !field.value.isEmpty { nodes[place].isFromUser = true }
    }
}

extension String {
    /// The name of a field in lower case.
    fileprivate var name: String { prefix { $0 != ":" }.lowercased() }
}
