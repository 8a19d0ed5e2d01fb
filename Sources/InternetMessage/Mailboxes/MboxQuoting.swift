package import ByteStreams

/// Removes the quoting of lines that begin with "From " in mailboxes.
///
/// Programs that write mbox files put ">" in front of such lines, so that no message seems to begin there. In the format
/// "mboxrd", lines that already begin with ">" and "From " get another ">". RFC 4155
package enum MboxQuoting {
    private static let mark = Array("From ".utf8)

    /// `message` with one ">" removed from every quoted line; nil if there is no such line.
    ///
    /// - Throws: errors of reading and spooling.
    package static func undone(in message: any ByteSource) throws -> (any ByteSource)? {
        let spool = Spool()
        var undoing = Undoing()
        let reader = message.reader()
        let window = Window()
        while true {
            let count = try window.fill(from: reader)
            guard count > 0 else { break }
            try spool.write(undoing.bytes(for: window.prefix(count)))
        }
        try spool.write(undoing.rest)
        return undoing.isNeeded ? try spool.finish() : nil
    }

    /// The position within a line. The last ">" before a possible "From " is held back until it is clear whether the line is
    /// quoted.
    private enum Place {
        case start
        /// After ">".
        case quoted
        /// After ">" and this number of bytes of "From ".
        case mark(Int)
        case elsewhere
    }

    private struct Undoing {
        private(set) var isNeeded = false
        private var place = Place.start

        /// The bytes that are held back.
        var rest: [UInt8] {
            switch place {
            case .quoted: [UInt8(ascii: ">")]
            case .mark(let count): [UInt8(ascii: ">")] + mark.prefix(count)
            case .start, .elsewhere: []
            }
        }

        mutating func bytes(for input: Span<UInt8>) -> [UInt8] {
            var output: [UInt8] = []
            output.reserveCapacity(input.count + 16)
            for index in input.indices { add(input[index], to: &output) }
            return output
        }

        private mutating func add(_ byte: UInt8, to output: inout [UInt8]) {
            switch place {
            case .elsewhere: break
            case .start where byte == UInt8(ascii: ">"):
                place = .quoted
                return
            case .start: break
            case .quoted where byte == mark[0]:
                place = .mark(1)
                return
            case .quoted where byte == UInt8(ascii: ">"):
                output.append(byte)
                return
            case .mark(let count) where byte == mark[count]:
                guard count + 1 == mark.count else {
                    place = .mark(count + 1)
                    return
                }
                isNeeded = true
                output += mark
                place = .elsewhere
                return
            case .quoted, .mark: output += rest
            }
            output.append(byte)
            place = byte == .lineFeed ? .start : .elsewhere
        }
    }
}
