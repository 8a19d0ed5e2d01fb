import ArgumentParser
import Foundation
import PKIX
import SMIME

extension SMIMECommand {
    struct Explain: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Explain a problem, and what to do about it.",
            discussion: """
                Reports on mail and certificates name each problem by a code. The meaning of a code never changes. Without a code, lists all \
                codes.

                  smime explain
                  smime explain chain-no-anchor
                  smime explain --json
                """
        )

        @Argument(
            help: ArgumentHelp("The code in a report on mail or certificates.", valueName: "code"),
            completion: CompletedWords.codes.completion
        )
        var code: String?
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() throws {
            guard let code else {
                return try report.print(["problems": ProblemCode.allCases.map(Explanation.init)]) {
                    var table = TextTable()
                    table.wrapsLast = true
                    for code in ProblemCode.allCases { table.add(code.rawValue, code.levelText, code.meaning) }
                    return table.text
                }
            }
            guard let known = ProblemCode(rawValue: code) else {
                let meant = Suggestion.closest(to: code, among: ProblemCode.allCases.map(\.rawValue))
                let isFile = FileManager.default.fileExists(atPath: code)
                let hint =
                    isFile
                    ? "the codes of a mail: smime verify --verbose \(VerdictStep.argument(code))"
                    : meant.map { "did you mean \($0)?" } ?? "all codes: smime explain"
                if VerificationReport.Status(rawValue: code) != nil {
                    let step = "see the codes: smime verify --verbose FILE"
                    throw Failure(.usage, "'\(code)' is a status; the codes of the problems say why", hints: [step])
                }
                throw Failure(.usage, "unknown code '\(code)'", hints: [hint])
            }
            try report.print(Explanation(known)) { Explanation(known).text }
        }
    }
}

/// The report on a problem code.
private struct Explanation: Encodable {
    let code: String
    let level: String
    let meaning: String
    let advice: String
    let levels: [String]

    private enum CodingKeys: String, CodingKey {
        case code, level, levels, meaning, advice
    }

    init(_ code: ProblemCode) {
        self.code = code.rawValue
        level = code.level.rawValue
        meaning = code.meaning
        advice = code.commandAdvice
        levels = code.levels.map(\.rawValue)
    }

    var text: String {
        let title = "\(code) (\(levels.joined(separator: " or "))): \(meaning)"
        return [title, advice].map { WrappedText.text($0, on: STDOUT_FILENO) + "\n" }.joined()
    }
}

extension ProblemCode {
    fileprivate var levelText: String { levels.map(\.rawValue).joined(separator: " or ") }
}
