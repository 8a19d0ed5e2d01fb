import LibCrypto
import Synchronization
import Testing

/// How many times the object at each address was freed.
private let freed = Mutex<[Int: Int]>([:])

private enum Counted: LibcryptoObject {
    static func free(_ pointer: OpaquePointer) {
        let address = Int(bitPattern: pointer)
        freed.withLock { $0[address, default: 0] += 1 }
    }
}

/// Owners are tried with pointers that are never dereferenced.
@Suite struct OwnershipTests {
    private struct Refused: Error {}

    /// A pointer that no other test has.
    private func pointer(_ number: Int) throws -> OpaquePointer { try #require(OpaquePointer(bitPattern: number << 4)) }

    private func frees(of pointer: OpaquePointer) -> Int {
        let address = Int(bitPattern: pointer)
        return freed.withLock { $0[address] ?? 0 }
    }

    @Test func `an owner frees its object once, at the end`() throws {
        let pointer = try pointer(1)
        do {
            let owner = try Owned<Counted>(pointer, "made")
            #expect(owner.withPointer { $0 == pointer && frees(of: $0) == 0 })
        }
        #expect(frees(of: pointer) == 1)
    }

    @Test func `an owner frees its object when an error passes`() throws {
        let pointer = try pointer(2)
        #expect(throws: Refused.self) {
            let owner = try Owned<Counted>(pointer, "made")
            try owner.withPointer { _ in throw Refused() }
        }
        #expect(frees(of: pointer) == 1)
    }

    @Test func `what was released is freed by who took it`() throws {
        let pointer = try pointer(3)
        let taken = try Owned<Counted>(pointer, "made").release()
        #expect(taken == pointer && frees(of: pointer) == 0)
    }

    @Test func `no owner is made of a null pointer`() {
        let error = #expect(throws: OpenSSLError.self) { _ = try Owned<Counted>(nil, "made") }
        #expect(error?.operation == "made")
        let isNone = Owned<Counted>(adopting: nil) == nil
        #expect(isNone)
    }

    @Test func `copies of a handle share an object, which is freed with the last`() throws {
        let pointer = try pointer(4)
        var handles = [Handle(try Owned<Counted>(pointer, "made"))]
        handles.append(handles[0])
        handles.removeFirst()
        #expect(frees(of: pointer) == 0)
        handles.removeFirst()
        #expect(frees(of: pointer) == 1)
    }
}
