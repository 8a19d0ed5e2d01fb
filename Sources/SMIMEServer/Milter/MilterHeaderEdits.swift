import Foundation

/// The changes that turn one header into another.
///
/// Postfix and Sendmail agree on few kinds of changes, and only these are used:
/// - `changeHeader` replaces a field in place. The index counts the fields of that name that the milter received. After a
///   field was removed, Sendmail still counts it and Postfix does not, so the changes go from the last field to the first.
/// - `insertHeader` at position 1 inserts a field after the mail server's own Received field and before all received fields.
/// - `insertHeader` at the end inserts a field after all others. `addHeader` is used only for names that the message does not
///   have, where it also replaces the Date, From and Message-ID that Sendmail would add. For other names Sendmail would put
///   the field before the existing ones, including its own Received field.
///
/// Sendmail cannot insert a field between two others. So the longest run of fields that can stay is kept, and all fields
/// before and after the run are written again.
struct MilterHeaderEdits {
    /// A position after all fields of any message. Sendmail reads 31 bits.
    static let end: UInt32 = 1 << 30

    let replies: [MilterReply]

    /// - Parameters:
    ///   - old: the fields as the milter received them.
    ///   - new: the required fields.
    init(from old: [MilterField], to new: [MilterField]) {
        let places = Self.places(of: new, in: old)
        let kept = Self.longestRun(in: places)
        var replies: [MilterReply] = []
        var staying: [Int: MilterField] = [:]
        for index in kept { places[index].map { staying[$0] = new[index] } }
        for (place, ordinal) in Self.ordinals(of: old).enumerated().reversed() {
            guard staying[place] != old[place] else { continue }
            guard let field = staying[place] ?? MilterField(name: old[place].name, value: []) else { continue }
            replies.append(.changeHeader(index: ordinal, field))
        }
        replies += new[..<kept.lowerBound].reversed().map { .insertHeader(position: 1, $0) }
        let oldNames = Set(old.map(\.key))
        let counts = Dictionary(new.map { ($0.key, 1) }, uniquingKeysWith: +)
        replies += new[kept.upperBound...].map { field in
            let isNew = !oldNames.contains(field.key) && counts[field.key] == 1 && field.key != "received"
            return isNew ? .addHeader(field) : .insertHeader(position: Self.end, field)
        }
        self.replies = replies
    }

    /// For each new field the index of the old field that it may replace in place, in ascending order; nil if there is none.
    private static func places(of new: [MilterField], in old: [MilterField]) -> [Int?] {
        let shorter = min(old.count, new.count)
        let start = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
        let tail = (0..<shorter - start).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? shorter - start
        let between = FieldAlignment(of: Array(new[start..<new.count - tail]), in: Array(old[start..<old.count - tail]))
        return (0..<start).map { $0 }
            + between.matches.map { $0.map { $0 + start } }
            + (0..<tail).map { old.count - tail + $0 }
    }

    /// The longest range of `places` without a nil.
    private static func longestRun(in places: [Int?]) -> Range<Int> {
        var best = 0..<0
        var start = 0
        for index in 0...places.count {
            if index < places.count, places[index] != nil { continue }
            if index - start > best.count { best = start..<index }
            start = index + 1
        }
        return best
    }

    /// The ordinal of each field among the fields of the same name, from 1.
    private static func ordinals(of fields: [MilterField]) -> [UInt32] {
        var counts: [String: UInt32] = [:]
        return fields.map { field in
            counts[field.key, default: 0] += 1
            return counts[field.key] ?? 1
        }
    }
}

extension MilterField {
    /// The name in lower case, for comparison; names are ASCII.
    var key: String { name.lowercased() }
}

/// The reason that a verdict cannot be carried out. The session then waits for another verdict.
package enum MilterEditError: Error, Hashable, Sendable {
    /// The mail server does not allow an action that the change needs.
    case actionNotOffered(MilterActions)
    /// A field is longer than the data of a reply may be, 65,535 bytes. The name is nil if an address with its parameters is
    /// too long.
    case fieldTooLong(name: String?)
    /// The old header is larger than `MilterLimits.header`, so it was not kept.
    case headerTooLarge
    /// The new header contains a line that is not a field, or a zero byte, which would end a string in this protocol.
    case malformedHeader
    /// More than `MilterSession.maximumEdits` fields must be changed. Postfix searches its queue file for each of them, and
    /// fails if there are several thousand.
    case tooManyEdits
    /// A recipient to be removed does not exist.
    case noSuchRecipient
    /// The mail server may not find the recipient with this address, because of the form in which the client wrote it.
    case recipientNotRemovable(String)
    /// No message waits for a verdict.
    case notWaiting
}

extension MilterEditError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .actionNotOffered(let actions):
            "the mail server does not allow its milter the necessary changes (missing SMFIF flags: \(actions.rawValue))"
        case .fieldTooLong(let name?): "the header field \(name) is too long for a milter"
        case .fieldTooLong(nil): "an address of the envelope is too long for a milter"
        case .headerTooLarge: "the header is too large to be changed by a milter"
        case .malformedHeader: "the new header cannot be sent to the mail server"
        case .noSuchRecipient: "no such recipient"
        case .recipientNotRemovable(let address):
            "the recipients get different messages, and \(address) is not written in the form <name@domain>"
        case .tooManyEdits: "the message has too many fields that must be changed"
        case .notWaiting: "no message waits for a verdict"
        }
    }
}
