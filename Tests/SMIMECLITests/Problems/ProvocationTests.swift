import PKIX
import TestSupport
import Testing

/// Every code of the table can be met, and what is met has the level that the table gives.
@Suite struct ProvocationTests {
    typealias Recipe = @Sendable () async throws -> [Problem]

    /// One way to each problem. A code without one fails the test.
    private static let recipes: [[ProblemCode: Recipe]] = [
        SignatureProvocations.recipes, ChainProvocations.recipes, MessageProvocations.recipes, FileProvocations.recipes,
        CommandProvocations.recipes, OpeningProvocations.recipes,
    ]

    @Test(arguments: ProblemCode.allCases)
    func `every problem code occurs in some report`(code: ProblemCode) async throws {
        let recipe = try #require(Self.recipes.compactMap { $0[code] }.first, "nothing provokes \(code)")
        let problems = try await recipe()
        let met = try #require(problems.first { $0.kind == code }, "\(problems.map(\.code))")
        #expect(met.level == code.level || met.level == .warning)
        #expect(!met.text.isEmpty && !met.text.hasSuffix("."))
    }
}
