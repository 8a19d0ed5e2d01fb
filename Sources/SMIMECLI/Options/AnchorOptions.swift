import ArgumentParser
import Foundation
import SMIMEStore

/// Options for verbs that judge certificates.
struct AnchorOptions: ParsableArguments {
    @Flag(name: .customLong("no-system-anchors"), help: .noSystemAnchors) var noSystemAnchors = false

    var systemAnchors: Bool { !noSystemAnchors }
}
