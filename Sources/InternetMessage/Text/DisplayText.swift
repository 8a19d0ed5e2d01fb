import ByteStreams

extension String {
    /// The text in a form that is safe for terminals and logs: control, bidirectional, invisible and confusable characters
    /// are written as `\u{…}`.
    package var escapedForDisplay: String { escaped { "\\u{\(String($0.value, radix: 16, uppercase: true))}" } }

    /// The text escaped in the same way for JSON: a JSON parser restores the characters.
    ///
    /// RFC 8259 §7
    package var escapedForJSON: String {
        escaped { scalar in
            UTF16.encode(scalar).map { units in
                units.map { unit in
                    "\\u" + [UInt8(unit >> 8), UInt8(unit & 0xFF)].hexadecimal
                }.joined()
            } ?? ""
        }
    }

    private func escaped(_ escape: (Unicode.Scalar) -> String) -> String {
        guard !utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else { return self }
        let scalars = Array(unicodeScalars)
        let disguised = Confusables.indices(in: scalars)
        guard !disguised.isEmpty || scalars.contains(where: \.isUnfitForDisplay) else { return self }
        var escaped = ""
        for (index, scalar) in scalars.enumerated() {
            if disguised.contains(index) || scalar.isUnfitForDisplay {
                escaped += escape(scalar)
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension [String] {
    /// The names in one line and escaped for display: the first 20 names, each cut to 80 characters, and the number of
    /// further names.
    package var listedForDisplay: String {
        let names = prefix(20).map { ($0.count > 80 ? $0.prefix(80) + "..." : $0).escapedForDisplay }
        return names.joined(separator: ", ") + (count > 20 ? " and \(count - 20) more" : "")
    }
}
