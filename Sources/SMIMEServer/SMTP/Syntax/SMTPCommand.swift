import NIOCore

/// A command line of the client.
struct SMTPCommand {
    /// The first word, in capitals.
    let verb: String
    /// The text after the first word, without surrounding spaces.
    let argument: Substring

    /// Parses a line without its CRLF.
    ///
    /// - Returns: nil if the line is not SMTP: it has control characters or invalid UTF-8, or does not begin with a word.
    init?(_ line: ByteBufferView) {
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
            let text = String(validating: line, as: UTF8.self)
        else { return nil }
        let word = text.prefix { $0 != " " && $0 != "\t" }
        guard 1...16 ~= word.utf8.count, word.utf8.allSatisfy(\.isLetter) else { return nil }
        verb = word.uppercased()
        argument = text[word.endIndex...].trimmingBlanks
    }

    /// The methods of HTTP requests. An attacker may make a browser send such requests.
    static let methodsOfHTTP: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PRI", "PUT", "TRACE",
    ]
}

extension Substring {
    var trimmingBlanks: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }

    /// The rest after `prefix`, which may be in any case, without leading blanks; nil if the text does not begin with
    /// `prefix`.
    func dropping(_ prefix: String) -> Substring? {
        guard utf8.count >= prefix.utf8.count,
            let end = utf8.index(startIndex, offsetBy: prefix.utf8.count, limitedBy: endIndex),
            self[..<end].uppercased() == prefix
        else { return nil }
        return self[end...].drop { $0 == " " || $0 == "\t" }
    }
}
