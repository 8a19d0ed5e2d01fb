import ByteStreams

/// Finds the certificates in LDIF, the text form of directories, piece by piece. Only the values that end in the
/// current piece, and the line being read, are in memory.
///
/// Entries and changes are read in the same way; deleted values are skipped.
///
/// RFC 2849
package struct LDIFReader {
    /// An item that was found.
    package enum Item: Equatable, Sendable {
        /// A value of `userCertificate` or `userSMIMECertificate`; it is not parsed.
        case certificate([UInt8])
        /// A value that is not base64, is a URL, is empty, or is too long.
        case unreadable
    }

    /// The largest value that is read, including its attribute name, in bytes of text.
    package static let maximumLine = 1 << 20

    /// How many bytes of an attribute name are compared.
    private static let maximumName = 128
    private static let attributes = ["usercertificate", "usersmimecertificate"]

    /// The number of entries and changes of entries so far.
    package private(set) var entries = 0
    /// The current line of the file, as far as it was read.
    private var physical: [UInt8] = []
    /// The unfolded line so far, which continuation lines may still extend.
    private var logical: [UInt8] = []
    private var isLineTooLong = false
    private var isTooLong = false
    /// Whether the current record changes the attributes of an entry.
    private var isModification = false
    /// Whether the current values are to be deleted.
    private var isDeletion = false
    private var found: [Item] = []

    package init() {}

    /// Reads the next piece of the input.
    ///
    /// - Returns: the items that this piece completes.
    package mutating func read(_ bytes: Span<UInt8>) -> [Item] {
        var start = 0
        while let end = bytes.firstOffset(of: .lineFeed, from: start) {
            append(bytes.extracting(start..<end))
            endLine()
            start = end + 1
        }
        append(bytes.extracting(start...))
        return takeFound()
    }

    /// Handles the last line at the end of the input.
    package mutating func finish() -> [Item] {
        endLine()
        endLogicalLine()
        return takeFound()
    }

    private mutating func takeFound() -> [Item] {
        defer { found = [] }
        return found
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        guard physical.count + bytes.count <= Self.maximumLine else {
            isLineTooLong = true
            // Keeps the attribute name even if the value is too long.
            physical.append(contentsOf: bytes.extracting(first: max(0, Self.maximumName - physical.count)))
            return
        }
        physical.append(contentsOf: bytes)
    }

    private mutating func endLine() {
        if physical.last == UInt8(ascii: "\r") { physical.removeLast() }
        defer {
            physical.removeAll(keepingCapacity: true)
            isLineTooLong = false
        }
        guard physical.first == UInt8(ascii: " ") else {
            endLogicalLine()
            logical += physical
            isTooLong = isLineTooLong
            return
        }
        if isLineTooLong || logical.count + physical.count > Self.maximumLine {
            isTooLong = true
        } else {
            logical += physical.dropFirst()
        }
    }

    private mutating func endLogicalLine() {
        defer {
            logical.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        guard !logical.isEmpty else {
            (isModification, isDeletion) = (false, false)
            return
        }
        guard logical != [UInt8(ascii: "-")] else {
            isDeletion = false
            return
        }
        guard logical.first != UInt8(ascii: "#"), let colon = logical.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: logical[..<colon].prefix(Self.maximumName), as: UTF8.self).lowercased()
        if name == "dn" { entries += 1 }
        if name == "changetype" { isModification = text(after: colon) == "modify" }
        if isModification, ["add", "delete", "replace"].contains(name) { isDeletion = name == "delete" }
        guard Self.attributes.contains(String(name.prefix { $0 != ";" })), !isDeletion else { return }
        found.append(isTooLong ? .unreadable : value(after: colon))
    }

    private func text(after colon: Int) -> String {
        let text = String(decoding: logical[(colon + 1)...].prefix(Self.maximumName), as: UTF8.self).lowercased()
        return String(text.drop { $0 == " " }.prefix { $0 != " " })
    }

    private func value(after colon: Int) -> Item {
        let rest = logical[(colon + 1)...]
        guard rest.first == UInt8(ascii: ":") else { return .unreadable }
        let text = Array(rest.dropFirst().drop { $0 == UInt8(ascii: " ") })
        guard let value = try? [UInt8](base64: text), !value.isEmpty else { return .unreadable }
        return .certificate(value)
    }
}
