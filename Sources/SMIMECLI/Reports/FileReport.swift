import PKIX
import SMIME

/// The JSON for one of the files of a command.
enum FileReport<Output: Encodable>: Encodable {
    /// The whole report.
    case read(Output)
    /// The file cannot be read.
    case unreadable(UnreadableFile)

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .read(let output): try output.encode(to: encoder)
        case .unreadable(let file): try file.encode(to: encoder)
        }
    }

    /// Prints one object: the report of a single file, or those of several in `files`, in their order. A report is nil where
    /// nothing is known but why it failed.
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
    /// The reason, in the form that a failed command reports it.
    let error: FailureReport.Cause?
    /// The reason as one problem.
    let problems: [ProblemReport]

    init(file: String, _ failure: FileFailure?) {
        self.file = file
        error = failure?.cause
        problems = [failure?.problem].compactMap(\.self).map(ProblemReport.init)
    }

    private enum CodingKeys: CodingKey { case error, file, status, problems }
}

/// The JSON for a file that was not signed or encrypted, whether the file is the reason or, say, an account that is missing.
struct FailedFile: Encodable {
    let file: String
    let status = "failed"
    /// The reason, in the form that a failed command reports it.
    let error: FailureReport.Cause?
    /// The reason as one problem; empty if no problem code describes it.
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
    /// The problem whose code describes the failure; nil if there is none.
    let knownProblem: Problem?
    let cause: FailureReport.Cause

    /// The problem of a file that cannot be read; its text is the failure's if no other code describes it.
    var problem: Problem { knownProblem ?? Problem(.unreadable, cause.text) }

    /// - Parameters:
    ///   - error: the error of the library.
    ///   - failure: how the command reported it.
    init(_ error: any Error, _ failure: Failure) {
        knownProblem = try? Problem(tellingOf: error)
        cause = FailureReport(failure).error
    }
}
