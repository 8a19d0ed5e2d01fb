package import NIOCore

/// A reply of an SMTP server: a code, an enhanced code, and text for people.
///
/// RFC 5321 §4.2, RFC 2034 §4
package struct SMTPReply: Hashable, Sendable {
    /// The three digits, 200 to 599.
    package let code: Int
    /// The enhanced status code, whose class is the code's first digit; nil where there is none.
    package let enhancedCode: EnhancedStatusCode?
    /// Lines are separated by line feeds. Any text is allowed; it is escaped when it is written.
    package let text: String

    /// - Parameters:
    ///   - code: an invalid reply code becomes 451.
    ///   - enhancedCode: its class is corrected to that of `code`; codes of the class 3 have none.
    package init(_ code: Int, _ enhancedCode: EnhancedStatusCode?, text: String) {
        self.code = 200...599 ~= code ? code : 451
        self.enhancedCode = enhancedCode?.matching(replyCode: self.code)
        self.text = text
    }

    /// Whether the command succeeded (2xx).
    package var isSuccess: Bool { code / 100 == 2 }
    /// Whether the same may succeed later (4xx).
    package var isTemporary: Bool { code / 100 == 4 }
    /// Whether the same would fail again (5xx).
    package var isPermanent: Bool { code / 100 == 5 }

    /// The reply of another server, when it is passed on. 421 means that its sender closes the connection, which is not ours: it becomes 451.
    package var passedOn: SMTPReply { code == 421 ? SMTPReply(451, enhancedCode, text: text) : self }

    /// The encoded reply, with CRLF after every line.
    ///
    /// - Parameter withEnhancedCode: whether ENHANCEDSTATUSCODES was announced to the client.
    package func encoded(withEnhancedCode: Bool = true) -> ByteBuffer {
        var buffer = ByteBuffer()
        write(to: &buffer, withEnhancedCode: withEnhancedCode)
        return buffer
    }
}

extension SMTPReply: CustomStringConvertible {
    /// The reply in one line for a log; control characters and other characters than ASCII are escaped.
    package var description: String {
        let text = harmlessLines(of: Self.maximumLineLength).joined(separator: " ")
        return ["\(code)", enhancedCode.map { "\($0)" }, text].compactMap(\.self).filter { !$0.isEmpty }
            .joined(separator: " ")
    }
}
