import Foundation

/// The steps that check the last run, and those that work on files.
extension TranscriptRunner {
    private struct InvalidStep: Error {}

    /// Performs `step` if it is a check or a file step; returns false if its first word is neither.
    mutating func check(_ step: Transcript.Step, _ verb: String, _ arguments: [String]) throws -> Bool {
        var problem: String?
        do {
            switch verb {
            case "status", "stdout", "stderr", "stdout-is", "json":
                guard let last else { throw InvalidStep() }
                problem = try problemOfOutput(last, isNegated: step.isNegated, verb: verb, arguments: arguments)
            case "cmp", "exists", "mode":
                problem = try problemOfFile(isNegated: step.isNegated, verb: verb, arguments: arguments)
            case "write", "mkdir", "truncate", "corrupt":
                try change(verb, arguments)
            default:
                return false
            }
        } catch is InvalidStep {
            problem = "this makes no sense here"
        } catch {
            problem = "\(error)"
        }
        if let problem { findings.append(Finding(line: step.line, text: problem)) }
        return true
    }

    private mutating func problemOfOutput(
        _ last: CommandResult,
        isNegated: Bool,
        verb: String,
        arguments: [String]
    ) throws -> String? {
        switch (verb, arguments.count) {
        case ("status", 1):
            return "\(last.status)" == arguments[0] ? nil : "status \(last.status)\n\(report(last))"
        case ("stdout", 2) where arguments[0] == ">":
            try Data(last.standardOutput).write(to: path(arguments[1]))
        case ("stderr", 2) where arguments[0] == ">":
            try Data(last.standardError).write(to: path(arguments[1]))
        case ("stdout", 1), ("stderr", 1):
            let output = verb == "stdout" ? last.text : last.errorText
            let isFound = arguments[0] == "." ? !output.isEmpty : output.contains(arguments[0])
            return isFound != isNegated
                ? nil : "\(isNegated ? "unwanted" : "missing"): \(arguments[0])\n\(report(last))"
        case ("stdout-is", 1):
            return difference(from: arguments[0], last)
        case ("json", 1...2):
            let found = try JSONPath(arguments[0]).look(in: last.standardOutput)
            let isRight = arguments.count == 2 ? (found == arguments[1]) != isNegated : (found == nil) == isNegated
            return isRight ? nil : "\(arguments[0]) is \(found ?? "not there")\n\(report(last))"
        default:
            throw InvalidStep()
        }
        return nil
    }

    private func problemOfFile(isNegated: Bool, verb: String, arguments: [String]) throws -> String? {
        var entry = stat()
        switch (verb, arguments.count) {
        case ("cmp", 2):
            let (left, right) = try (Data(contentsOf: path(arguments[0])), Data(contentsOf: path(arguments[1])))
            return (left == right) != isNegated ? nil : isNegated ? "no difference" : difference(of: left, from: right)
        case ("exists", 1):
            // FileManager would follow a symbolic link.
            return (lstat(path(arguments[0]).path, &entry) == 0) != isNegated
                ? nil : isNegated ? "is there" : "is not there"
        case ("mode", 2):
            guard lstat(path(arguments[1]).path, &entry) == 0 else { return "is not there" }
            let mode = String(entry.st_mode & 0o7777, radix: 8)
            return (mode == arguments[0]) != isNegated ? nil : "mode \(mode)"
        default:
            throw InvalidStep()
        }
    }

    private func change(_ verb: String, _ arguments: [String]) throws {
        guard let first = arguments.first, arguments.count == (verb == "mkdir" ? 1 : 2) else { throw InvalidStep() }
        switch verb {
        case "mkdir": try FileManager.default.createDirectory(at: path(first), withIntermediateDirectories: true)
        case "write": try Data((arguments[1] + "\n").utf8).write(to: path(first))
        default:
            guard let number = Int(arguments[1]) else { throw InvalidStep() }
            var bytes = try [UInt8](Data(contentsOf: path(first)))
            if verb == "truncate" {
                bytes = Array(bytes.prefix(max(0, number)))
            } else {
                let offset = number < 0 ? bytes.count + number : number
                guard bytes.indices.contains(offset) else { throw InvalidStep() }
                bytes[offset] ^= 1
            }
            try Data(bytes).write(to: path(first))
        }
    }

    private mutating func difference(from name: String, _ last: CommandResult) -> String? {
        let expected = (try? Data(contentsOf: path(name))) ?? Data()
        guard Data(last.standardOutput) != expected else { return nil }
        guard ProcessInfo.processInfo.environment["RECORD_TRANSCRIPTS"] == "1", transcript.files[name] != nil else {
            return difference(of: Data(last.standardOutput), from: expected)
        }
        recorded[name] = last.text
        return nil
    }

    /// Describes the first difference between two files.
    private func difference(of left: Data, from right: Data) -> String {
        let same = zip(left, right).prefix { $0 == $1 }.count
        let line = left.prefix(same).count { $0 == UInt8(ascii: "\n") } + 1
        func excerpt(_ data: Data) -> String {
            String(decoding: data.dropFirst(max(0, same - 40)).prefix(120), as: UTF8.self)
        }
        return """
            \(left.count) and \(right.count) bytes, which part at byte \(same), line \(line):
            \(excerpt(left))
            ---
            \(excerpt(right))
            """
    }
}
