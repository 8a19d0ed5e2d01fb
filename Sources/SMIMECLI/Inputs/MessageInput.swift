import ByteStreams
import Foundation
import InternetMessage

/// Messages that the command line names.
enum MessageInput {
    /// The message at `path`. If `isText`, the file is plain text, and a header with `fields` is added.
    static func open(_ path: String, isText: Bool, fields: [NewField] = []) throws -> any ByteSource {
        let source = try InputFile.open(path)
        guard isText else {
            guard source.count > 0 else { throw Failure(.badData, "\(InputFile.name(path)): the input is empty") }
            if path != "-" { try checkSingle(source, at: path) }
            return source
        }
        let lineEnd = try LineStatistics(of: source.reader()).lineEnd ?? .lf
        let spool = Spool()
        let content = [
            NewField("MIME-Version", value: "1.0"),
            NewField("Content-Type", value: "text/plain", parameters: [.init("charset", value: "utf-8")]),
            NewField("Content-Transfer-Encoding", value: "8bit"),
        ]
        for field in fields + content { try spool.write(field.bytes(lineEnd: lineEnd)) }
        try spool.write(lineEnd.bytes)
        try source.reader().copy(to: spool)
        return try spool.finish()
    }

    /// Rejects a mailbox of several messages: the user would believe that the verdict on the first message
    /// applies to all.
    ///
    /// - Throws: `Failure` with status 65
    static func checkSingle(_ source: any ByteSource, at path: String) throws {
        guard try MboxReader.isMbox(source) else { return }
        var reader = MboxReader(source)
        guard let first = try reader.next(), first.upperBound < source.count else { return }
        throw Failure(
            .badData,
            "\(InputFile.name(path)): a mailbox of several messages",
            hints: ["give one message at a time; to learn from all that are signed: smime harvest \(shell: path)"]
        )
    }

    /// Warns that the input is probably plain text whose beginning was read as a header.
    static func noteMissingHeader(_ header: HeaderBlock, of path: String) {
        guard header.separatorRange.isEmpty || header.defects.contains(.missingHeaderEnd) else { return }
        Console.warning("\(InputFile.name(path)): no empty line ends the header; use --text for plain text")
    }
}
