import Foundation
import HeirloomCommands

@main
struct EntryPoint {
  static func main() {
    let interruption = Interruption { _exit($0) }
    let listener = SignalListener(interruption: interruption)
    let code = withExtendedLifetime(listener) {
      HeirloomTool.run(
        arguments: Array(CommandLine.arguments.dropFirst()), console: .ofProcess(interruption: interruption))
    }
    exit(code)
  }
}
