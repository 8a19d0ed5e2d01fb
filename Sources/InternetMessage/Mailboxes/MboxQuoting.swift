package import ByteStreams

/// The quoting of lines that begin with "From " in mailboxes, and its reversal.
///
/// A writer of mbox files puts ">" in front of them so that no message seems to begin there; one of the kind "mboxrd"
/// also in front of those that have some already. RFC 4155
package enum MboxQuoting {
    private static let mark = Array("From ".utf8)

    /// `message` with one ">" less in front of every line that is quoted so; nil if there is none.
    ///
    /// - Throws: what reading and spooling throws.
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

    /// Where in a line the bytes are. The last ">" in front of a mark is held back until it is known to be one.
    private enum Place {
        case start
        /// Behind ">".
        case quoted
        /// Behind ">" and so many bytes of the mark.
        case mark(Int)
        case elsewhere
    }

    private struct Undoing {
        private(set) var isNeeded = false
        private var place = Place.start

        /// What the last bytes leave open.
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
