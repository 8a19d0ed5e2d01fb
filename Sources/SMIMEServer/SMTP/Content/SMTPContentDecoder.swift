import InternetMessage
package import NIOCore

/// Takes the content of a message out of what follows DATA or BDAT, and refuses what another server might read as the message's end.
///
/// Content has lines that end in CRLF. A bare line feed is a violation, in chunks as well: what came by BDAT may go on by DATA. So is a
/// lone dot between line ends that are not both CRLF, where a carriage return alone counts as a line end. Other bare carriage returns
/// pass as they are.
///
/// RFC 5321 §2.3.8, §4.1.1.4, §4.5.2; RFC 3030 §2
package struct SMTPContentDecoder: Sendable {
    /// How the end of the content is found.
    package enum Framing: Sendable {
        /// DATA: a dot at the start of a line is taken out, and a line that is a dot alone ends the content.
        case dotStuffed
        /// BDAT: the caller counts.
        case counted
    }

    /// What was found.
    package enum Piece: Sendable, Equatable {
        case content(ByteBuffer)
        /// The line that is a dot alone was taken.
        case end
        case violation
    }

    let framing: Framing

    package init(framing: Framing) { self.framing = framing }

    /// Takes the next piece from the front of `bytes`; nil if nothing is left in it.
    package mutating func next(from bytes: inout ByteBuffer) -> Piece? { nil }

    /// Whether the content may end here (BDAT): a dot behind a bare carriage return would stand alone if a line end were added.
    package var mayEnd: Bool { true }
}
