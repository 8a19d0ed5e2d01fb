import ByteStreams
import Foundation
import SMIMEAgent
import SMIMEGateway
import Testing

/// What a supervisor passes to its worker by command line, file and environment.
@Suite struct WorkerRoleTests {
    @Test(arguments: [nil, 4, 11] as [Int32?], [false, true])
    func `a worker role is written and read again`(_ signal: Int32?, _ isAtTerminal: Bool) throws {
        let role = WorkerRole(
            supervisor: 4711,
            progress: 7,
            arguments: 5,
            isAtTerminal: isAtTerminal,
            rescuedFrom: signal
        )
        #expect(WorkerRole(role.words) == role)
        #expect(role.words[...1] == ["smime-delivery", signal == nil ? "worker" : "rescue"])
    }

    @Test(arguments: [
        "", "smime-delivery", "smime-delivery worker", "smime-delivery worker 1 3 4", "smime worker 1 3 4 log",
        "smime-delivery rescue 1 3 4 log", "smime-delivery worker 1 3 4 log 11", "smime-delivery worker 1 3 4 x",
        "smime-delivery worker 1 3 x log", "smime-delivery worker 1 3 +4 log",
        "smime-delivery worker 1 3 99999999999 log",
        "smime-delivery worker 1 3 4 log filter", "smime-delivery rescue 1 3 4 log 11 4",
        "smime-delivery rescue 1 3 x log 4 5", "smime-delivery filter outgoing --stdout -- a@b.test",
    ])
    func `other words are no worker role`(_ line: String) {
        #expect(WorkerRole(line.split(separator: " ").map(String.init)) == nil)
    }

    @Test func `decoding restores the encoded arguments, including empty and non-UTF-8 ones`() {
        let many = (0..<100_000).map { Array("recipient-\($0)@example.com".utf8) }
        for arguments in [[], [[]], [[], []], [[1], [], [0xFF, 0xC3]], many] as [[[UInt8]]] {
            #expect(FilterWorker.decode(FilterWorker.encode(arguments)) == arguments)
        }
    }

    @Test func `a command line alone does not make another program a worker`() throws {
        try FilterWorker.begin(["smime", "filter", "outgoing"])
        for words in [["smime-delivery"], ["smime-delivery", "worker", "\(getppid())", "1000", "1001", "log"]] {
            #expect(throws: TransportError.self) { try FilterWorker.begin(words) }
        }
        #expect(FilterWorker.current == nil)
        // Without a worker, this does nothing.
        try FilterWorker.detach()
        FilterWorker.noteSending()
    }

    @Test func `a child program gets descriptors by number and additional variables`() throws {
        let (output, words) = (try SpooledFile { _ in }, try SpooledFile { _ in })
        let input = try SpooledFile { try $0.write("handed over") }
        lseek(input.descriptor, 0, SEEK_SET)
        let script = "cat /dev/fd/\(input.descriptor); echo $ONE $TWO; echo oops >&2"
        var program = ChildProgram(path: "/bin/sh", words: ["sh", "-c", script], standardOutput: output.descriptor)
        program.standardError = words.descriptor
        program.inherited = [input.descriptor]
        program.secrets = ["ONE=1 and", "TWO=2"].map { SecretVariable(entry: (Array($0.utf8) + [0]).octets) }
        #expect(try program.run() == .exited(0))
        let said = try output.rewound()
        #expect(String(decoding: try said.bytes(in: 0..<said.count), as: UTF8.self) == "handed over1 and 2\n")
        let complaint = try words.rewound()
        #expect(String(decoding: try complaint.bytes(in: 0..<complaint.count), as: UTF8.self) == "oops\n")
        #expect(getenv("ONE") == nil)
        #expect(fcntl(input.descriptor, F_GETFD) == FD_CLOEXEC)
    }
}
