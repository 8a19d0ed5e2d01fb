import ByteStreams
import Foundation
import InternetMessage

/// A report as JSON with one array of any length: the array is written element by element.
///
/// The report is an object on one line, like the reports that `Report` prints. Its two keys are sorted: first the array, then
/// `schema`.
struct ReportList {
    private let sink = DescriptorSink.standardOutput()
    private let encoder = Report.encoder()
    private var text: String

    /// - Parameter key: the array's name, which must precede `schema` alphabetically.
    init(_ key: String) { text = "{\"\(key)\":[" }

    /// Adds one element.
    mutating func add(_ element: some Encodable) throws {
        text += String(decoding: try encoder.encode(element), as: UTF8.self).escapedForJSON
        try write(text)
        text = ","
    }

    /// Closes the array and the object.
    func finish() throws {
        try write((text == "," ? "" : text) + "],\"schema\":\(Report.schema)}\n")
        do { try sink.flush() } catch StreamError.writeFailed(let code) { throw Self.failure(code) }
    }

    private func write(_ text: String) throws {
        Report.begin()
        do { try sink.write(text) } catch StreamError.writeFailed(let code) { throw Self.failure(code) }
    }

    private static func failure(_ code: Int32) -> Failure {
        Failure(.inputOutput, "standard output: cannot write: \(String(cString: strerror(code)))")
    }
}
