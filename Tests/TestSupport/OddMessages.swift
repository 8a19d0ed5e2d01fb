import Foundation

/// Messages with irregularly nested parts, reproducible by a seed. Delimiters are truncated, repeated, or begin like an
/// outer one; boundaries are prefixes of others; header fields are duplicated; line ends are mixed.
public struct OddMessages {
    /// The number of messages for a test: SMIME_TEST_NESTINGS, or `standard` if it is not set.
    public static func count(standard: Int) -> Int {
        ProcessInfo.processInfo.environment["SMIME_TEST_NESTINGS"].flatMap { Int($0) } ?? standard
    }

    private var generator: SeededGenerator
    /// The boundaries around the current position, outermost first.
    private var boundaries: [String] = []
    private var lines: [String] = []

    public init(_ seed: Int) { generator = SeededGenerator(seed) }

    /// The next message from `author`; bytes above 127 in it are Latin-1.
    public mutating func next(from author: String = "carol@example.com") -> [UInt8] {
        (boundaries, lines) = ([], ["From: \(author)", "To: bob@example.com", "Subject: \(any(Self.subjects))"])
        if one(in: 3) { lines.append("MIME-Version: 1.0") }
        addEntity(depth: 0, type: one(in: 8) ? any(Self.types) : "multipart/mixed")
        for _ in 0..<(one(in: 3) ? Int.random(in: 1...3, using: &generator) : 0) { damage() }
        var bytes = joined()
        if one(in: 12) { bytes.removeLast(Int.random(in: 0...bytes.count / 2, using: &generator)) }
        return bytes
    }

    private static let subjects = ["hello", "hello  ", "gr\u{FC}\u{DF}e", "=?utf-8?Q?caf=C3=A9?=", "", "[sign] x"]
    private static let types = [
        "text/plain", "text/html; charset=utf-8", "text/plain", "application/octet-stream", "message/rfc822",
        "message/global",
        "message/partial; id=x", "message/delivery-status", "multipart/mixed", "multipart/alternative",
        "multipart/digest",
        "multipart/related", "multipart/signed; protocol=\"application/pkcs7-signature\"",
        "application/pkcs7-signature",
        "application/pkcs7-mime; name=smime.p7m", "text", "",
    ]
    private static let encodings = [
        "7bit", "8bit", "binary", "base64", "quoted-printable", "quoted-printable", "x-own", "BASE64 (c)", "",
    ]
    private static let texts = [
        "hello", "", "--", "-- ", "- -", "From me", ".", "gr\u{FC}\u{DF}e", "blank at the end ", "caf=E9=", "=2D-A",
        "=2D-b0--",
        "aGVsbG8=", "aGVsbG8", "nul\u{0}nul", "X: y", ": y", " folded", "a\rb", "Content-Type: text/plain",
        "Subject: hidden", String(repeating: "long ", count: 220), "\u{EF}\u{BB}\u{BF}", "\u{FE}\u{0}\u{1}\u{FF}",
    ]

    /// True with a probability of 1 in `count`.
    private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private mutating func any(_ choices: [String]) -> String { choices.randomElement(using: &generator) ?? "" }

    private mutating func addEntity(depth: Int, type: String) {
        var boundary: String?
        if type.hasPrefix("multipart/") {
            boundary = newBoundary(depth)
            if one(in: 20) { boundary = nil }
        }
        addFields(type, boundary: boundary)
        if one(in: 25) { addFields(any(Self.types), boundary: boundary) }
        // Without an empty line, the header is ended by the body or a delimiter.
        if !one(in: 8) { lines.append("") }
        if let boundary, depth < 5 {
            addParts(boundary, depth)
        } else if type.hasPrefix("message/"), depth < 5, !one(in: 4) {
            addEntity(depth: depth + 1, type: any(Self.types))
        } else {
            addText()
        }
    }

    private mutating func addFields(_ type: String, boundary: String?) {
        if one(in: 15) {
            lines.append(any(["X-Odd: gr\u{FC}n ", "Content-Description: \u{FC}ber", "no field", "B\u{0}: c"]))
        }
        if !type.isEmpty || boundary != nil {
            lines.append("Content-Type: \(type)" + (boundary.map { "; boundary=\"\($0)\"" } ?? ""))
        }
        if one(in: 4) { lines.append("Content-Transfer-Encoding: \(any(Self.encodings))") }
    }

    private mutating func newBoundary(_ depth: Int) -> String {
        guard let outer = boundaries.last, one(in: 4) else { return "b\(depth)" }
        return any([outer, outer + "x", String(outer.prefix(1)), outer + "--", boundaries[0], outer + " "])
    }

    private mutating func addText() {
        for _ in 0..<Int.random(in: 0...3, using: &generator) { lines.append(any(Self.texts)) }
    }

    private mutating func addParts(_ boundary: String, _ depth: Int) {
        boundaries.append(boundary)
        if one(in: 4) { addText() }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            lines.append("--\(boundary)" + (one(in: 8) ? any([" ", "\t ", "--", "x", "\r", "\u{0}"]) : ""))
            // The next part may begin directly at a delimiter of an outer multipart.
            if one(in: 6) { continue }
            if one(in: 6) { lines.append("--\(any(boundaries))" + (one(in: 2) ? "--" : "")) }
            addEntity(depth: depth + 1, type: any(Self.types))
        }
        if !one(in: 4) { lines.append("--\(boundary)--") }
        boundaries.removeLast()
        if one(in: 5) { addText() }
    }

    /// Removes, duplicates or moves a line, or inserts a delimiter. The first three lines (From, To, Subject) stay in place.
    private mutating func damage() {
        guard lines.count > 4 else { return }
        let index = Int.random(in: 3..<lines.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: lines.remove(at: index)
        case 1: lines.insert(lines[index], at: index)
        case 2: lines.insert(lines.remove(at: index), at: Int.random(in: 3..<lines.count, using: &generator))
        default: lines.insert("--\(any(["b0", "b1", "b2"]))" + (one(in: 2) ? "--" : ""), at: index)
        }
    }

    /// The lines with their line ends, either all alike or mixed.
    private mutating func joined() -> [UInt8] {
        let kind = Int.random(in: 0..<5, using: &generator)
        var bytes: [UInt8] = []
        for line in lines {
            bytes += line.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            let isCRLF = kind < 2 || kind == 4 && one(in: 2)
            bytes += isCRLF ? [13, 10] : [10]
        }
        return one(in: 6) ? bytes.dropLast() : bytes
    }
}
