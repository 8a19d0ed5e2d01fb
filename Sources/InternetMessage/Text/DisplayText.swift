import ByteStreams

extension String {
    /// This text made harmless for terminals and logs: control, bidirectional and invisible characters, and those that
    /// pose as others, stand as `\u{…}`.
    package var escapedForDisplay: String { escaped { "\\u{\(String($0.value, radix: 16, uppercase: true))}" } }

    /// The same for a JSON text: what reads it gets the characters back.
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
    /// These names in one line, made harmless as above: the first 20, none longer than 80 characters, and how many more there are.
    package var listedForDisplay: String {
        let names = prefix(20).map { ($0.count > 80 ? $0.prefix(80) + "..." : $0).escapedForDisplay }
        return names.joined(separator: ", ") + (count > 20 ? " and \(count - 20) more" : "")
    }
}
