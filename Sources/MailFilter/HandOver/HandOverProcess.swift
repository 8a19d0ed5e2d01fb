import Foundation
public import Keystore
import Streams

/// A process of its own for handing messages over, which goes on when the filter is ended half-way.
///
/// Between a message that the MTA has taken and the record of it nothing may be lost, whatever happens to the filter: a
/// mail server ends it after a time, an administrator by mistake. So the filter does all the work, and then starts its
/// own program once more, in a session of its own, for the few steps that have to be made together.
public enum HandOverProcess {
    /// The name that makes the program a process of this kind, its word zero.
    public static let name = "smime-hand-over"

    private struct Order: Codable {
        struct Message: Codable {
            let descriptor: Int32
            let recipients: [String]
        }

        let home: String?
        let entry: HandOverJournal.Entry
        let transport: SendmailTransport
        let sender: String
        let messages: [Message]
    }

    /// Hands `handOver` over, in another process.
    ///
    /// - Parameter home: the store's home as it was given on the command line.
    /// - Throws: `TransportError`; a second attempt sends what is missing.
    public static func run(
        _ handOver: HandOver,
        through transport: SendmailTransport,
        home: String?,
        as entry: HandOverJournal.Entry
    ) throws {
        let order = Order(
            home: home,
            entry: entry,
            transport: transport,
            sender: handOver.sender,
            messages: handOver.messages.map {
                Order.Message(descriptor: $0.file.descriptor, recipients: $0.recipients)
            }
        )
        let input = try SpooledFile { try $0.write(Array(JSONEncoder().encode(order))) }
        let output = try SpooledFile { _ in }
        _ = try input.rewound()
        handOver.messages.forEach { $0.file.setInherited(true) }
        let child = ChildProgram(
            path: program,
            words: [name],
            standardInput: input.descriptor,
            standardOutput: output.descriptor,
            hasOwnSession: true
        )
        guard try child.run() != .exited(0) else { return }
        let source = try output.rewound()
        let said = String(decoding: try source.bytes(in: 0..<min(source.count, 2000)), as: UTF8.self)
        throw TransportError(said.isEmpty ? "the hand-over was ended" : said)
    }

    /// Does what the order on standard input says; the status to end with. Why it failed is told on standard output.
    ///
    /// - Parameter describe: says what an error means.
    public static func main(describe: @Sendable (any Error) -> String) async -> Int32 {
        do {
            let source = try Input.standardInput()
            let order = try JSONDecoder().decode(Order.self, from: Data(source.bytes(in: 0..<source.count)))
            let messages = order.messages.map {
                HandOver.Message(SpooledFile(adopting: $0.descriptor), to: $0.recipients)
            }
            messages.forEach { $0.file.setInherited(false) }
            let location = StoreLocation(home: order.home, environment: ProcessInfo.processInfo.environment)
            // Opened before anything is sent: a journal that cannot be written must not be found out afterwards.
            let store = try await Store.open(location, mode: .readWrite)
            try await HandOver(from: order.sender, messages)
                .run(through: order.transport, rememberingIn: store, as: order.entry, at: .now)
            return 0
        } catch {
            FileHandle.standardOutput.write(Data(describe(error).utf8))
            return 1
        }
    }

    #if os(Linux)
    /// This very program, even if another version took its place meanwhile.
    private static let program = "/proc/self/exe"
    #else
    private static let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
    #endif
}
