import PKIX
import SMIME

/// What is said in JSON of one of the files of a command.
enum FileReport<Output: Encodable>: Encodable {
    /// All that there is to say of it.
    case read(Output)
    /// Nothing is known of it, and why.
    case unreadable(UnreadableFile)

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .read(let output): try output.encode(to: encoder)
        case .unreadable(let file): try file.encode(to: encoder)
        }
    }

    /// Prints one object: the report of a single file, or those of several in `files`, in their order. A report is nil where
    /// nothing is known but the problem.
    static func print(_ reports: [(file: String, report: Output?, problem: Problem?)]) throws {
        let files = reports.map { file, report, problem in
            report.map(Self.read) ?? .unreadable(UnreadableFile(file: file, problem))
        }
        if let file = files.first, files.count == 1 { return try Report.print(file) }
        try Report.print(["files": files])
    }
}

/// What is said in JSON of a file of which nothing is known.
struct UnreadableFile: Encodable {
    let file: String
    let status = "unreadable"
    /// Why: one problem.
    let problems: [ProblemReport]

    init(file: String, _ problem: Problem?) {
        self.file = file
        problems = [problem].compactMap(\.self).map(ProblemReport.init)
    }

    private enum CodingKeys: CodingKey { case file, status, problems }
}

extension Problem {
    /// What keeps a file from being read, by `error`; the text is `failure`'s where no code of its own says it.
    init(_ error: any Error, _ failure: Failure) {
        let known = try? Problem(tellingOf: error)
        self = known ?? Problem(.unreadable, failure.message)
    }
}
