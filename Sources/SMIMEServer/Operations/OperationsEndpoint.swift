import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Answers `/metrics`, `/healthz` and `/readyz` over HTTP.
///
/// The endpoint changes nothing and shows no secrets. It answers loopback addresses, the networks in `--allow`, and
/// clients of a unix socket.
final class OperationsEndpoint {
    /// The functions that provide the answers, called on the event loop.
    struct Answers {
        let metrics: () -> String
        /// The reason that some or all messages cannot be handled; nil if all can be handled.
        let whyNotReady: () -> String?
    }

    /// The number of open connections. Used on the event loop.
    private final class Count {
        var value = 0
    }

    /// The maximum number of connections. Each connection ends after ten seconds at the latest.
    private static let maximum = 64

    /// Opens the listener.
    ///
    /// - Parameters:
    ///   - passed: the sockets that systemd opened.
    ///   - allowed: the networks from which clients may connect, in addition to loopback addresses.
    static func bind(
        _ name: SocketName,
        on loop: any EventLoop,
        passed: [(name: String, descriptor: Int32)],
        allowed: [NetworkRange],
        _ answers: Answers
    ) -> EventLoopFuture<any Channel> {
        let bound = NIOLoopBound(answers, eventLoop: loop)
        let open = NIOLoopBound(Count(), eventLoop: loop)
        return SocketBinder.bind(name, on: loop, mode: nil, passed: passed) { channel in
            channel.eventLoop.makeCompletedFuture {
                guard NetworkRange.isAllowed(channel.remoteAddress?.ipAddress, by: allowed) else {
                    throw SocketError.notAllowed("\(channel.remoteAddress.map { "\($0)" } ?? "unknown")")
                }
                guard open.value.value < maximum else { throw SocketError.system("\(name)", EMFILE) }
                open.value.value += 1
                channel.closeFuture.whenComplete { _ in open.value.value -= 1 }
                try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                try channel.pipeline.syncOperations.addHandler(OperationsHandler(bound.value))
            }
        }
    }
}

private final class OperationsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The maximum duration of a connection. Clients are nearby and send one request, so this is short.
    private static let timeLimit = TimeAmount.seconds(10)

    private let answers: OperationsEndpoint.Answers
    private var head: HTTPRequestHead?
    private var isAnswered = false

    init(_ answers: OperationsEndpoint.Answers) { self.answers = answers }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.timeLimit) { bound.value.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end: answer(context)
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard let head, !isAnswered else { return }
        isAnswered = true
        let path = head.uri.prefix { $0 != "?" }
        var (status, text) = (HTTPResponseStatus.ok, "ok\n")
        switch path {
        case _ where head.method != .GET && head.method != .HEAD: (status, text) = (.methodNotAllowed, "GET or HEAD\n")
        case "/metrics": text = answers.metrics()
        case "/healthz": break
        case "/readyz":
            if let why = answers.whyNotReady() { (status, text) = (.serviceUnavailable, why + "\n") }
        default: (status, text) = (.notFound, "/metrics, /healthz, /readyz\n")
        }
        var headers = HTTPHeaders()
        let isMetrics = path == "/metrics" && status == .ok
        headers.add(name: "Content-Type", value: isMetrics ? "text/plain; version=0.0.4" : "text/plain; charset=utf-8")
        headers.add(name: "Content-Length", value: "\(text.utf8.count)")
        headers.add(name: "Connection", value: "close")
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
            promise: nil
        )
        if head.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in bound.value.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Text in the format that Prometheus reads, version 0.0.4.
struct PrometheusText {
    enum Kind: String {
        case counter, gauge, histogram
    }

    /// The lines written so far.
    private(set) var text = ""
    private var name = ""

    /// Begins a metric. Its values are added next.
    mutating func begin(_ name: String, _ kind: Kind, help: String) {
        self.name = name
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a value of the current metric. Names and values of labels are fixed words, so they are not escaped.
    mutating func add(_ value: Double, _ labels: [(name: String, value: String)] = [], suffix: String = "") {
        let list = labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        text += name + suffix + (list.isEmpty ? "" : "{\(list)}") + " \(number)\n"
    }

    /// Adds a metric with one value.
    mutating func add(_ name: String, _ kind: Kind, help: String, value: Double) {
        begin(name, kind, help: help)
        add(value)
    }
}
