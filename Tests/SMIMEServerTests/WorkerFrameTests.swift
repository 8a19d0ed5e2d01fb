import Foundation
import LibCrypto
import NIOCore
import SMIMEGateway
import SMIMEServer
import SMIMEStore
import Testing

/// The frames between the service and its workers.
@Suite struct WorkerFrameTests {
    private static let entry = DeliveryJournal.Entry(
        queueID: "mx/4XyZ",
        digest: Array(0...31),
        recordsSince: Date(timeIntervalSinceReferenceDate: 1 / 3)
    )

    private static let requests: [WorkerRequest] = [
        .handle(
            WorkerJob(
                number: .max,
                role: .outgoing,
                sender: "",
                recipients: ["bob@example.com", "jürgen@例え.jp"],
                queueName: "mx/4XyZ",
                slot: 3,
                rescuedFrom: 11,
                changeCount: .max,
                content: .spooled(0..<1 << 40)
            )
        ),
        .handle(
            WorkerJob(
                number: 0,
                role: .incoming,
                sender: "a@b.c",
                recipients: [],
                queueName: nil,
                slot: 0,
                rescuedFrom: nil,
                content: .bytes(ByteBuffer(bytes: [0, 255]))
            )
        ),
        .settle(WorkerSettlement(number: 1, entry: entry, served: ["a@b.c"], learns: true)), .countExpiring, .check,
        .settle(WorkerSettlement(number: 2, entry: nil, forgets: true)),
    ]

    private static let cryptoTime: CryptoTime = {
        var time = CryptoTime()
        (time[.sign], time[.digest]) = (1, .max)
        return time
    }()

    private static let answers: [WorkerAnswer] = [
        .ready(locksKeys: false), .unusable(WorkerFailure("gone", isLasting: true, hints: ["a", "b"])), .expiring(7),
        .handled(number: 1, .served, WorkerLog(fields: [LogField("k", ["a", "b"])], warnings: ["w"], cacheHits: 5)),
        .handled(
            number: 2,
            .refused(
                WorkerRefusal(code: 550, enhancedCode: "5.7.1", sentence: "no\nmore", detail: "d")
            ),
            WorkerLog(details: [LogField("k", [])], cacheMisses: 9, changeCount: 1 << 60, cryptoTime: cryptoTime)
        ),
        .handled(
            number: 3,
            .copies(
                [
                    WorkerMessageCopy(
                        sender: "",
                        recipients: ["x@y.z"],
                        isEightBit: true,
                        content: .bytes(ByteBuffer())
                    ),
                    WorkerMessageCopy(sender: "s@y.z", recipients: [], isEightBit: false, content: .spooled(5..<5)),
                ],
                entry: entry,
                learns: true
            ),
            WorkerLog()
        ),
        .settled(number: 4, isRecorded: true, WorkerLog()), .settled(number: 5, isRecorded: false, WorkerLog()),
        .checked(nil), .checked(WorkerObstacle("gone", isOfKeys: true)),
    ]

    private func payload(_ frame: ByteBuffer) throws -> ByteBuffer {
        var frame = frame
        let payload = try #require(try WorkerFrame.next(in: &frame))
        #expect(frame.readableBytes == 0)
        return payload
    }

    @Test(arguments: requests.indices) func `a request arrives as it was sent`(_ index: Int) throws {
        #expect(try WorkerRequest(payload(Self.requests[index].frame)) == Self.requests[index])
    }

    @Test(arguments: answers.indices) func `an answer arrives as it was sent`(_ index: Int) throws {
        #expect(try WorkerAnswer(payload(Self.answers[index].frame)) == Self.answers[index])
    }

    @Test func `a frame that is cut short is an error, and one that is not there yet is waited for`() throws {
        for frame in Self.requests.map(\.frame) + Self.answers.map(\.frame) {
            let whole = try payload(frame)
            for count in 0..<whole.readableBytes {
                var part = try #require(frame.getSlice(at: frame.readerIndex, length: 4 + count))
                #expect(try WorkerFrame.next(in: &part) == nil)
                let cut = try #require(whole.getSlice(at: whole.readerIndex, length: count))
                // The beginning of a frame may be another valid frame, but not the same one, and parsing it does not crash.
                let request = try? WorkerRequest(cut)
                let answer = try? WorkerAnswer(cut)
                #expect(request.map { $0.frame != frame } ?? true)
                #expect(answer.map { $0.frame != frame } ?? true)
            }
        }
    }

    @Test func `a length that no frame has is an error`() {
        var frame = ByteBuffer(integer: UInt32.max)
        #expect(throws: WorkerFrameError.self) { try WorkerFrame.next(in: &frame) }
    }

    @Test func `numbers of values that cannot be there are errors`() {
        // A request with a message whose list of recipients claims four billion entries.
        var frame = ByteBuffer(bytes: [0] + [UInt8](repeating: 0, count: 8))
        frame.writeInteger(UInt32(8))
        frame.writeString("outgoing")
        frame.writeInteger(UInt32(0))
        frame.writeInteger(UInt32.max)
        #expect(throws: WorkerFrameError.self) { try WorkerRequest(frame) }
    }
}
