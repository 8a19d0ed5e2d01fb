import ByteStreams

/// A header field to be written: name, value and parameters, folded into lines of at most 77 bytes where possible.
///
/// RFC 5322 §2.2.3, RFC 2045 §5.1
package struct NewField: Sendable, Hashable {
    /// The field's name.
    package let name: String
    /// The value before the parameters. When the field is written, each run of blanks, line breaks and control characters
    /// becomes one blank.
    package let value: String
    /// The parameters, in the order of writing.
    package let parameters: [Parameter]

    /// A `name=value` pair. The value is quoted if necessary, and encoded if it is not printable ASCII (RFC 2231).
    package struct Parameter: Sendable, Hashable {
        /// The name.
        package let name: String
        /// The value, neither quoted nor encoded.
        package let value: String
        /// Whether the value is always quoted, by convention.
        private let isQuoted: Bool

        package init(_ name: String, value: String, isQuoted: Bool = false) {
            self.name = name
            self.value = value
            self.isQuoted = isQuoted
        }

        /// Whether `byte`, which is printable ASCII, needs no quotes (RFC 2045 §5.1).
        private static func isTokenText(_ byte: UInt8) -> Bool {
            byte != 32 && !"()<>@,;:\\\"/[]?=".utf8.contains(byte)
        }

        /// The parameter as it is written. If it has more than 900 bytes, it is divided into encoded sections (RFC 2231 §3,
        /// §4.1).
        var sections: [String] {
            guard text.utf8.count > 900 else { return [text] }
            var pieces = ["utf-8''"]
            for character in value.utf8.lazy.map(Self.percentEncoded) {
                if pieces[pieces.count - 1].utf8.count > 60 { pieces.append("") }
                pieces[pieces.count - 1] += character
            }
            return pieces.enumerated().map { "\(name)*\($0)*=\($1)" }
        }

        fileprivate var text: String {
            guard value.utf8.allSatisfy({ 32...126 ~= $0 }) else { return "\(name)*=utf-8''\(percentEncoded)" }
            let isToken = !value.isEmpty && value.utf8.allSatisfy(Self.isTokenText)
            guard !isToken || isQuoted || name == "boundary" else { return "\(name)=\(value)" }
            guard value.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") }) else {
                return "\(name)=\"\(value)\""
            }
            return "\(name)=\"\(value.escapedForQuotes)\""
        }
    }

    /// A field with the given name.
    package init(_ name: String, value: String, parameters: [Parameter] = []) {
        self.name = name
        self.value = value
        self.parameters = parameters
    }

    /// The bytes of the field, including its line end.
    package func bytes(lineEnd: LineEnd) -> [UInt8] {
        var words = value.unicodeScalars.split { $0.value <= 32 || $0.value == 127 }.map { String($0) }
        if words.isEmpty { words = [""] }
        for parameter in parameters {
            words[words.count - 1] += ";"
            words.append(parameter.text)
        }
        var text = "\(name):"
        var column = text.utf8.count
        for (index, word) in words.enumerated() {
            if index > 0, column + 1 + word.utf8.count > 77 {
                text += lineEnd.rawValue
                column = 0
            }
            text += " \(word)"
            column += 1 + word.utf8.count
        }
        return Array((text + lineEnd.rawValue).utf8)
    }
}

extension NewField.Parameter {
    fileprivate var percentEncoded: String { value.utf8.map(Self.percentEncoded).joined() }

    private static func percentEncoded(_ byte: UInt8) -> String {
        let scalar = Unicode.Scalar(byte)
        let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        if isPlain || "-._".utf8.contains(byte) { return String(scalar) }
        return "%" + [byte].hexadecimal.uppercased()
    }
}
