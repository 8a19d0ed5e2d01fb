/// What is said in JSON of one of the files of a command.
enum FileReport<Output: Encodable>: Encodable {
    /// All that there is to say of it.
    case read(Output)
    /// Nothing is known of it; why is said on standard error.
    case unreadable(file: String)

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .read(let output): try output.encode(to: encoder)
        case .unreadable(let file): try ["file": file, "status": "unreadable"].encode(to: encoder)
        }
    }

    /// Prints one object: the report of a single file, or those of several in `files`, in their order. A report is nil where
    /// nothing is known.
    static func print(_ reports: [(file: String, report: Output?)]) throws {
        let files = reports.map { file, report in report.map(Self.read) ?? .unreadable(file: file) }
        if let file = files.first, files.count == 1 { return try Report.print(file) }
        try Report.print(["files": files])
    }
}
