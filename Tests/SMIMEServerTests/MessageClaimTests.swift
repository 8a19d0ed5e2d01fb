import SMIMEServer
import Testing

@Suite struct MessageClaimTests {
    private let claims = MessageClaims()

    /// Requests claims on `name` for `numbers`, one after the other. Returns the numbers whose claims were granted.
    private func beginners(_ numbers: [UInt64], name: String = "a", then act: () -> Void = {}) -> [UInt64] {
        var begun: [UInt64] = []
        for number in numbers { claims.acquire(name, for: number) { begun.append(number) } }
        act()
        return begun
    }

    @Test func `a second attempt begins when the first has ended, and a third after it`() {
        #expect(beginners([1, 2, 3]) == [1])
        #expect(beginners([4], name: "b") == [4])
        claims.release("a")
        claims.release("b")
        #expect(beginners([5], name: "b") == [5])
    }

    @Test func `attempts begin in the order in which they came`() {
        let begun = beginners([1, 2, 3]) {
            claims.release("a")
            claims.release("a")
            claims.release("a")
        }
        #expect(begun == [1, 2, 3])
        #expect(beginners([4]) == [4])
    }

    @Test func `an attempt that has given up does not begin`() {
        let begun = beginners([1, 2, 3]) {
            claims.withdraw("a", for: 2)
            claims.release("a")
        }
        #expect(begun == [1, 3])
    }

    @Test func `an end without a claim changes nothing`() {
        claims.release("a")
        claims.withdraw("a", for: 1)
        #expect(beginners([1]) == [1])
    }

    @Test func `the first message learns once that another one waits, now or later`() {
        var calls = 0
        _ = beginners([1])
        claims.whenAwaited("a") { calls += 1 }
        #expect(calls == 0)
        _ = beginners([2, 3])
        #expect(calls == 1)
        claims.whenAwaited("a") { calls += 1 }
        #expect(calls == 2)
    }

    @Test func `a message is not told of those that wait for the next claim`() {
        var calls = 0
        _ = beginners([1])
        claims.whenAwaited("a") { calls += 1 }
        claims.release("a")
        _ = beginners([2, 3])
        #expect(calls == 0)
    }
}
