/// The options that a mail server offers in the negotiation, or that the milter accepts (`SMFIC_OPTNEG`).
package struct MilterOptions: Hashable, Sendable {
    /// The protocol's version. This program supports 2 to 6; a mail server may offer a higher one.
    package var version: UInt32
    package var actions: MilterActions
    package var steps: MilterSteps
    /// For each stage the names of the requested macros, separated by blanks. They are only used in the milter's answer, and
    /// only with `MilterActions.chooseMacros`.
    package var macros: [MilterMacroStage: String]

    package init(
        version: UInt32,
        actions: MilterActions,
        steps: MilterSteps,
        macros: [MilterMacroStage: String] = [:]
    ) {
        self.version = version
        self.actions = actions
        self.steps = steps
        self.macros = macros
    }
}

/// What a milter may do to a message (`SMFIF_…` of Sendmail's mfapi.h).
package struct MilterActions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let addHeaders = Self(rawValue: 1)
    package static let changeBody = Self(rawValue: 1 << 1)
    package static let addRecipients = Self(rawValue: 1 << 2)
    package static let deleteRecipients = Self(rawValue: 1 << 3)
    package static let changeHeaders = Self(rawValue: 1 << 4)
    package static let quarantine = Self(rawValue: 1 << 5)
    package static let changeSender = Self(rawValue: 1 << 6)
    package static let addRecipientsWithParameters = Self(rawValue: 1 << 7)
    /// The milter chooses the macros to receive.
    package static let chooseMacros = Self(rawValue: 1 << 8)
}

/// The protocol steps that are omitted or changed (`SMFIP_…` of Sendmail's mfdef.h).
package struct MilterSteps: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let noConnect = Self(rawValue: 1)
    package static let noHelo = Self(rawValue: 1 << 1)
    package static let noMail = Self(rawValue: 1 << 2)
    package static let noRecipients = Self(rawValue: 1 << 3)
    package static let noBody = Self(rawValue: 1 << 4)
    package static let noHeaders = Self(rawValue: 1 << 5)
    package static let noEndOfHeader = Self(rawValue: 1 << 6)
    package static let noReplyToHeaders = Self(rawValue: 1 << 7)
    package static let noUnknown = Self(rawValue: 1 << 8)
    package static let noData = Self(rawValue: 1 << 9)
    /// The mail server accepts the reply `MilterReply.skip`.
    package static let skip = Self(rawValue: 1 << 10)
    /// The mail server also sends recipients that it rejects.
    package static let rejectedRecipients = Self(rawValue: 1 << 11)
    package static let noReplyToConnect = Self(rawValue: 1 << 12)
    package static let noReplyToHelo = Self(rawValue: 1 << 13)
    package static let noReplyToMail = Self(rawValue: 1 << 14)
    package static let noReplyToRecipients = Self(rawValue: 1 << 15)
    package static let noReplyToData = Self(rawValue: 1 << 16)
    package static let noReplyToUnknown = Self(rawValue: 1 << 17)
    package static let noReplyToEndOfHeader = Self(rawValue: 1 << 18)
    package static let noReplyToBody = Self(rawValue: 1 << 19)
    /// Header values include the blank after the colon; otherwise the mail server removes and adds one space.
    package static let leadingSpace = Self(rawValue: 1 << 20)

    /// Only the end of a message needs a reply.
    package static let noReplies: Self = [
        .noReplyToHeaders, .noReplyToConnect, .noReplyToHelo, .noReplyToMail, .noReplyToRecipients, .noReplyToData,
        .noReplyToUnknown, .noReplyToEndOfHeader, .noReplyToBody,
    ]
}

/// The stage to which a list of macros belongs (`SMFIM_…` of Sendmail's mfapi.h).
package enum MilterMacroStage: UInt32, CaseIterable, Sendable {
    case connect
    case helo
    case mail
    case recipient
    case data
    case endOfMessage
    case endOfHeader
}

/// The limits of a milter connection. The connection is closed if a limit other than `header` and `headerFields` is
/// exceeded.
package struct MilterLimits: Hashable, Sendable {
    /// The maximum length of a packet's command byte and data, in bytes. Sendmail and Postfix send body chunks of up to
    /// 65,535 bytes.
    package var packet = 65_536
    /// The maximum length of a packet with a header field. Postfix sends up to `header_size_limit` (102,400) bytes.
    package var headerPacket = 262_144
    /// The maximum size of the header of one message, in bytes. A larger header cannot be changed:
    /// `MilterEditError.headerTooLarge`.
    package var header = 1_048_576
    /// The maximum number of header fields in one message. With more fields the header cannot be changed, either.
    package var headerFields = 20_000
    /// The maximum number of recipients of one message.
    package var recipients = 20_000
    /// The maximum size of the sender's and the recipients' arguments of one message, in bytes.
    package var envelope = 4_194_304
    /// The maximum number of commands since the last complete message that transfer no part of a message, such as macros,
    /// HELO, MAIL and aborts. Each command that transfers a part reduces the number by one.
    package var idleCommands = 20_000

    package init() {}
}
