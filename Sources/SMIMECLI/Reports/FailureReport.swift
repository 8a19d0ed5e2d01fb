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
