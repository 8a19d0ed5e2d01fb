import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// The JSON for one input file of a command.
enum FileReport<Output: Encodable>: Encodable {
    /// The complete report on the file.
    case read(Output)
    /// The file cannot be read.
    case unreadable(UnreadableFile)

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .read(let output): try output.encode(to: encoder)
        case .unreadable(let file): try file.encode(to: encoder)
        }
    }

    /// Prints one JSON object: the report on a single file, or the reports on several files in `files`, in their order. A
    /// report is nil if only the reason of the failure is known.
    static func print(_ reports: [(file: String, report: Output?, failure: FileFailure?)]) throws {
        let files = reports.map { file, report, failure in
            report.map(Self.read) ?? .unreadable(UnreadableFile(file: file, failure))
        }
        if let file = files.first, files.count == 1 { return try Report.print(file) }
        try Report.print(["files": files])
    }
}

/// The JSON for a file that cannot be read.
struct UnreadableFile: Encodable {
    let file: String
    let status = "unreadable"
    /// The reason, in the form in which a failed command reports its error.
    let error: FailureReport.Cause?
    /// The reason as a list of one problem.
    let problems: [ProblemReport]

    init(file: String, _ failure: FileFailure?) {
        self.file = file
        error = failure?.cause
        problems = [failure?.problem].compactMap(\.self).map(ProblemReport.init)
    }

    private enum CodingKeys: CodingKey { case error, file, status, problems }
}

/// The JSON for a file that was not signed or encrypted. The reason may be the file itself or, for example, a missing
/// account.
struct FailedFile: Encodable {
    let file: String
    let status = "failed"
    /// The reason, in the form in which a failed command reports its error.
    let error: FailureReport.Cause?
    /// The reason as a list of one problem; empty if no problem code describes the reason.
    let problems: [ProblemReport]

    init(file: String, _ failure: FileFailure?) {
        self.file = file
        error = failure?.cause
        problems = [failure?.knownProblem].compactMap(\.self).map(ProblemReport.init)
    }

    private enum CodingKeys: CodingKey { case error, file, status, problems }
}

/// Why an input could not be processed.
struct FileFailure: Sendable {
    /// The problem whose code describes the failure; nil if no code does.
    let knownProblem: Problem?
    let cause: FailureReport.Cause

    /// The problem of a file that cannot be read: the known problem, or else one with the code `unreadable` and the text of the
    /// failure.
    var problem: Problem { knownProblem ?? Problem(.unreadable, cause.text) }

    /// - Parameters:
    ///   - error: the error of the library.
    ///   - failure: the failure as the command reported it.
    init(_ error: any Error, _ failure: Failure) {
        knownProblem = try? Problem(describing: error)
        cause = FailureReport(failure).error
    }
}

/// The JSON of a command that failed before it could print its report.
struct FailureReport: Encodable {
    struct Cause: Encodable, Sendable {
        let code: String
        let exitStatus: Int32
        let hints: [String]
        let text: String
    }

    let error: Cause

    init(_ failure: Failure) {
        error = Cause(
            code: failure.code,
            exitStatus: failure.status.rawValue,
            hints: failure.hints.map(Console.namingHome),
            text: failure.message
        )
    }
}

/// A learned certificate in the form that reports show.
struct LearnedReport: Encodable {
    let address: String
    let fingerprint: Fingerprint
    let notAfter: Date
    let change: String
    let held: Bool
    let previous: Fingerprint?
    let messageId: String?

    init(_ entry: LearningReport.Entry) { self.init(HarvestSummary.Learned(entry)) }

    init(_ learned: HarvestSummary.Learned) {
        address = learned.address.text
        fingerprint = learned.fingerprint
        notAfter = learned.notAfter
        change = learned.kind.rawValue
        held = learned.isHeld
        previous = learned.previous
        messageId = learned.messageID
    }
}
