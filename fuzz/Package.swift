// swift-tools-version: 6.2
import PackageDescription

// Apart from the package itself, because everything in it, dependencies included, is built for libFuzzer.
// scripts/fuzz builds and runs it.
let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "smime", path: "..")],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: ["CMS", "MIME", "MailFilter", "SMIME", "Streams"].map {
                .product(name: $0, package: "smime")
            },
            // libFuzzer brings the main function.
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]
        )
    ],
    swiftLanguageModes: [.v6]
)
