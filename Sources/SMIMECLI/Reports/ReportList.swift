import ByteStreams
import Foundation
import InternetMessage

/// A report as JSON whose one array is written as it grows, so that it may be of any length.
///
/// An object on one line, as `Report` prints it: the array, then the schema, whose names are in this order.
struct ReportList {
    private let sink = DescriptorSink.standardOutput()
    private let encoder = Report.encoder()
    private var text: String

    /// - Parameter key: the array's name, which sorts before `schema`.
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
