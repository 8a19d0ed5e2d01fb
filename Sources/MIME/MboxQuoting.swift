public import Streams

/// What mailboxes do to lines that begin with "From ", and how it is undone.
///
/// A writer of mbox files puts ">" in front of them so that no message seems to begin there; one of the kind "mboxrd"
/// also in front of those that have some already. Whoever signed such a line signed it without. RFC 4155
public enum MboxQuoting {
    private static let mark = Array("From ".utf8)

    /// `message` with one ">" less in front of every line that is quoted so; nil if there is none.
    ///
    /// - Throws: what reading and spooling throws.
    public static func undone(in message: any ByteSource) throws -> (any ByteSource)? {
        let spool = Spool()
        var undoing = Undoing()
        let reader = message.reader()
        let window = Window()
        while true {
            let count = try reader.read(into: window.bytes)
            guard count > 0 else { break }
            try spool.write(undoing.bytes(for: window.prefix(count)))
        }
        try spool.write(undoing.rest)
        return undoing.isNeeded ? try spool.finish() : nil
    }

    /// Where in a line the bytes are.
    private enum Place {
        /// Behind so many ">" at its beginning.
        case quotes(Int)
        /// Behind so many ">" and so many bytes of the mark.
        case mark(quotes: Int, Int)
        case elsewhere
    }

    private struct Undoing {
        private(set) var isNeeded = false
        private var place = Place.quotes(0)

        /// What the last bytes leave open.
        var rest: [UInt8] {
            switch place {
            case .quotes(let count): [UInt8](repeating: UInt8(ascii: ">"), count: count)
            case .mark(let quotes, let count): Self.begun(quotes, count)
            case .elsewhere: []
            }
        }

        mutating func bytes(for input: UnsafeRawBufferPointer) -> [UInt8] {
            var output: [UInt8] = []
            output.reserveCapacity(input.count + 16)
            for byte in input { add(byte, to: &output) }
            return output
        }

        private mutating func add(_ byte: UInt8, to output: inout [UInt8]) {
            switch place {
            case .elsewhere: break
            case .quotes(let count) where byte == UInt8(ascii: ">"):
                place = .quotes(count + 1)
                return
            case .quotes(let count) where count > 0 && byte == mark[0]:
                place = .mark(quotes: count, 1)
                return
            case .mark(let quotes, let count) where byte == mark[count]:
                guard count + 1 == mark.count else {
                    place = .mark(quotes: quotes, count + 1)
                    return
                }
                isNeeded = true
                output += Self.begun(quotes - 1, mark.count)
                place = .elsewhere
                return
            case .quotes, .mark: output += rest
            }
            output.append(byte)
            place = byte == .lineFeed ? .quotes(0) : .elsewhere
        }

        private static func begun(_ quotes: Int, _ count: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(ascii: ">"), count: quotes) + mark.prefix(count)
        }
    }
}
