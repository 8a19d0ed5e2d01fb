import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import SMIME

/// Options that name the messages to read.
protocol InputFiles {
    /// The files on the command line.
    var files: [String] { get }
    /// Whether a message is written to the terminal while the input is read.
    var writesToTerminal: Bool { get }
}

extension InputFiles {
    /// The inputs; standard input if the command line names none.
    var paths: [String] { files.isEmpty ? ["-"] : files }

    func checkStandardInput() throws {
        guard paths.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("standard input can be read only once")
        }
    }
}

extension ArgumentHelp {
    fileprivate static let files = ArgumentHelp(
        "The file; standard input if it is - or left out.",
        valueName: "file"
    )
}

/// Options for verbs that read messages and write none.
struct InputOptions: ParsableArguments, InputFiles {
    @Argument(help: .files, completion: .file())
    var files: [String] = []

    var writesToTerminal: Bool { false }

    func validate() throws { try checkStandardInput() }
}

/// Options for verbs that read messages and write messages: the inputs, the outputs, and the form of the outputs.
struct FileOptions: ParsableArguments, InputFiles {
    @Argument(help: .files, completion: .file())
    var files: [String] = []
    @Option(
        name: .letter(.output),
        help: ArgumentHelp("Write to this file, which appears only when complete.", valueName: "file"),
        completion: .file()
    )
    var output: String?
    @Option(
        name: .letter(.outputDirectory),
        help: ArgumentHelp("Write one output for each input to this directory, under the same name.", valueName: "dir"),
        completion: .directory
    )
    var outputDir: String?
    @Option(
        help: ArgumentHelp("With -O: process this many files at once. (default: one for each core)", valueName: "n")
    )
    var jobs: Int?
    @Flag(help: "End each line of the output with CRLF.") var crlf = false
    @Flag(help: "End each line of the output with LF.") var lf = false

    /// The line ends that the user asked for; nil keeps the line ends of the input.
    var lineEnd: LineEnd? { crlf ? .crlf : lf ? .lf : nil }
    var writesToTerminal: Bool { paths.contains { target(for: $0) == nil } && isatty(STDOUT_FILENO) == 1 }

    func validate() throws {
        try checkStandardInput()
        if crlf, lf { throw ValidationError("--crlf and --lf exclude each other") }
        if output != nil, outputDir != nil { throw ValidationError("--output and --output-dir exclude each other") }
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 256") }
    }

    /// Checks that the options can be combined.
    ///
    /// - Parameter json: whether a report is written to standard output.
    func check(json: Bool = false) throws {
        if paths.count > 1, outputDir == nil {
            throw ValidationError("several files need --output-dir")
        }
        if json, outputDir == nil, output.map(Output.isStandard) ?? true {
            throw ValidationError("--json needs --output or --output-dir for the message")
        }
        if outputDir != nil {
            guard !paths.contains("-") else { throw ValidationError("--output-dir needs files, not standard input") }
            let names = paths.map { URL(filePath: $0).lastPathComponent }
            guard Set(names).count == names.count else {
                throw ValidationError("two of the files have the same name, and would overwrite each other")
            }
        }
    }

    /// The target of the output for the input at `path`; nil means standard output.
    func target(for path: String) -> String? {
        let target = outputDir.map { "\($0)/\(URL(filePath: path).lastPathComponent)" } ?? output
        return target == "-" ? nil : target
    }
}

extension InputFiles {
    /// `source` with a progress bar if it is large and the only input, standard error is a terminal, and nothing else is written
    /// to the terminal; otherwise `source` itself.
    ///
    /// - Parameter passes: how many times the command reads the whole input.
    func measured(_ source: any ByteSource, passes: @autoclosure () -> Int) -> any ByteSource {
        guard paths.count == 1, source.count >= MeasuredSource.least, ProgressBar.isPossible, !Console.isQuiet,
            !writesToTerminal
        else { return source }
        return MeasuredSource(source, passes: passes())
    }

    /// The same for a message whose structure was already read.
    func measured(_ message: LocatedEntity, passes: @autoclosure () -> Int) -> LocatedEntity {
        LocatedEntity(entity: message.entity, source: measured(message.source, passes: passes()))
    }
}
