package import ByteStreams
import Foundation
import InternetMessage

/// The messages below some paths, one after the other. A path can be a mail file, a mailbox, a Maildir or another directory,
/// or standard input.
///
/// Only the message being read is in memory, so memory does not grow with a directory or mailbox.
package final class MailSources {
    /// One message.
    package struct Item: Sendable {
        package let place: Place
        package let source: any ByteSource
    }

    /// The place of a message.
    package struct Place: Sendable {
        package let file: String
        /// The message's number in a mailbox, starting at 1; nil for a message in a file of its own.
        package let number: Int?

        package var name: String { number.map { "\(file), message \($0)" } ?? file }
    }

    /// A directory entry that cannot be opened because its name is not UTF-8.
    package struct Refusal: Error {
        package let place: Place
        package let reason: String
    }

    /// Messages up to this size are read into memory as a whole.
    private static let memoryLimit = 1 << 20
    /// A file in a directory is treated as mail if its header has one of these fields.
    private static let usualFields = ["Date", "From", "Message-ID", "MIME-Version", "Received", "Return-Path"]

    private var paths: ArraySlice<String>
    private var opened: ArraySlice<(file: String, source: any ByteSource)> = []
    private var folder: (path: String, entries: FileManager.DirectoryEnumerator)?
    private var mailbox: (file: String, source: any ByteSource, reader: MboxReader, count: Int)?
    private let standardInput: (any ByteSource)?

    /// - Parameters:
    ///   - paths: files and directories; `-` is standard input.
    ///   - standardInput: the content of standard input, if it was already read to its end.
    package init(_ paths: [String], standardInput: (any ByteSource)? = nil) {
        self.paths = paths[...]
        self.standardInput = standardInput
    }

    /// The messages in files that are already open.
    package init(opened: [(file: String, source: any ByteSource)]) {
        paths = []
        self.opened = opened[...]
        standardInput = nil
    }

    /// Whether `source` begins like a mailbox, or like a mail with a From field.
    package static func beginsAsMail(_ source: any ByteSource) throws -> Bool {
        try MboxReader.isMbox(source) || header(of: source)?.first("From") != nil
    }

    /// The next message; nil at the end.
    ///
    /// - Throws: `AgentError` for a file or directory that cannot be read, `Refusal` for a directory entry whose name
    ///   is not UTF-8. The next call continues with the following entry.
    package func next() throws -> Item? {
        while true {
            if let item = try nextInMailbox() { return item }
            if let name = folder?.entries.nextObject() as? String {
                if let item = try open(entry: name) { return item }
            } else if let (file, source) = opened.popFirst() {
                if let item = try open(file, source) { return item }
            } else if let path = paths.popFirst() {
                folder = nil
                if let item = try open(path) { return item }
            } else {
                return nil
            }
        }
    }

    /// The number of bytes in all files below the paths.
    package func count() -> Int {
        paths.reduce(standardInput?.count ?? 0) { total, path in
            guard let status = Self.status(path) else { return total }
            guard status.st_mode & S_IFMT == S_IFDIR else { return total + Int(status.st_size) }
            let entries = FileManager.default.enumerator(atPath: path)
            var total = total
            while let name = entries?.nextObject() as? String {
                total += Self.status("\(path)/\(name)").map { Self.isFile($0) ? Int($0.st_size) : 0 } ?? 0
            }
            return total
        }
    }

    private func nextInMailbox() throws -> Item? {
        guard var mailbox else { return nil }
        do {
            guard let range = try mailbox.reader.next() else {
                self.mailbox = nil
                return nil
            }
            mailbox.count += 1
            self.mailbox = mailbox
            let place = Place(file: mailbox.file, number: mailbox.count)
            return Item(place: place, source: try Self.message(mailbox.source, range))
        } catch {
            self.mailbox = nil
            throw AgentError.unreadable(file: mailbox.file, because: error)
        }
    }

    private func open(_ path: String) throws -> Item? {
        if path != "-", let status = Self.status(path), status.st_mode & S_IFMT == S_IFDIR {
            guard let entries = FileManager.default.enumerator(atPath: path) else {
                throw AgentError.unreadableFolder(path: path)
            }
            folder = (path, entries)
            return nil
        }
        let isStandard = path == "-"
        let name = InputName.shown(path)
        do {
            if isStandard, let standardInput { return try open(name, standardInput) }
            return try open(name, isStandard ? Input.standardInput() : Input.open(path: path))
        } catch { throw AgentError.unreadable(file: name, because: error) }
    }

    /// The message in a file of a directory; nil if the file is not mail.
    private func open(entry name: String) throws -> Item? {
        guard let folder else { return nil }
        let path = "\(folder.path)/\(name)"
        guard let status = Self.status(path) else {
            // An entry that was removed in the meantime is skipped. In names that are not UTF-8, Foundation replaces the
            // invalid bytes by U+FFFD.
            guard name.unicodeScalars.contains("\u{FFFD}") else { return nil }
            folder.entries.skipDescendants()
            throw Refusal(place: Place(file: path, number: nil), reason: "its name is not UTF-8; rename it")
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            // Files in a Maildir's tmp are not complete.
            let isUnfinished = name == "tmp" || name.hasSuffix("/tmp")
            if isUnfinished, Self.status("\(path)/../cur") != nil { folder.entries.skipDescendants() }
            return nil
        }
        guard Self.isFile(status) else { return nil }
        do {
            let source = try FileSource(path: path)
            guard try MboxReader.isMbox(source) || Self.isMail(source) else { return nil }
            return try open(path, source)
        } catch { throw AgentError.unreadable(file: path, because: error) }
    }

    private func open(_ file: String, _ source: any ByteSource) throws -> Item? {
        if try MboxReader.isMbox(source) {
            mailbox = (file, source, MboxReader(source), 0)
            return nil
        }
        return Item(place: Place(file: file, number: nil), source: try Self.message(source, 0..<source.count))
    }

    private static func message(_ source: any ByteSource, _ range: Range<Int>) throws -> any ByteSource {
        guard range.count > memoryLimit else { return MemorySource(try source.bytes(in: range)) }
        return SourceSlice(source, range)
    }

    private static func isMail(_ source: any ByteSource) throws -> Bool {
        guard let header = try header(of: source) else { return false }
        return usualFields.contains { header.first($0) != nil }
    }

    private static func header(of source: any ByteSource) throws -> HeaderBlock? {
        try? HeaderBlock(parsing: try source.bytes(in: 0..<min(source.count, 16 << 10)))
    }

    private static func isFile(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
